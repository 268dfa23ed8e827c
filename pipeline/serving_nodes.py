"""What stands between the gate and the Pusher: can the model be served?"""

from tfx.components import InfraValidator
from tfx.dsl.components.base.base_node import BaseNode
from tfx.proto import infra_validator_pb2 as pb
from tfx.types.channel import Channel

from components.evaluation import SIGNATURE
from components.serving_check.component import ServingCheck
from components.serving_check.config import InfraValidatorConfig
from pipeline.config import PipelineConfig


def serving_nodes(
    config: PipelineConfig, examples: Channel, model: Channel
) -> list[BaseNode]:
    """The serving check, behind TFX's InfraValidator where one is configured.

    Args:
        config: the configuration.
        examples: raw rows.
        model: the candidate.

    Returns:
        Nodes in order, the one with the blessing for the Pusher last; none where the
        check is switched off.
    """
    if not config.serving_check.enabled:
        return []
    settings = config.serving_check.model_dump_json()
    if config.serving_check.infra_validator is None:
        return [ServingCheck(examples=examples, model=model, settings=settings)]
    validator = _infra_validator(config.serving_check.infra_validator, examples, model)
    # The Pusher takes one blessing, so the check passes on both.
    check = ServingCheck(
        examples=examples,
        model=model,
        settings=settings,
        infra_blessing=validator.outputs["blessing"],
    )
    return [validator, check]


def _infra_validator(
    config: InfraValidatorConfig, examples: Channel, model: Channel
) -> InfraValidator:
    """TFX's component: loads the model in TensorFlow Serving and queries it."""
    return InfraValidator(
        model=model,
        examples=examples,
        serving_spec=pb.ServingSpec(
            tensorflow_serving=pb.TensorFlowServing(
                image_name=config.image, tags=config.tags
            ),
            local_docker=pb.LocalDockerConfig(),
        ),
        validation_spec=pb.ValidationSpec(
            max_loading_time_seconds=config.max_loading_seconds
        ),
        request_spec=pb.RequestSpec(
            tensorflow_serving=pb.TensorFlowServingRequestSpec(
                signature_names=[SIGNATURE]
            ),
            split_name="eval",
            num_examples=config.rows,
        ),
    )
