"""The component before the Pusher: blesses a model that can be served."""

import dataclasses
import json

from tfx.dsl.component.experimental.annotations import (
    InputArtifact,
    OutputArtifact,
    Parameter,
)
from tfx.dsl.component.experimental.decorators import component
from tfx.types.standard_artifacts import Examples, InfraBlessing, Model
from tfx.utils import path_utils

from components.serving_check.check import check_serving
from components.serving_check.config import ServingCheckConfig
from components.serving_check.rows import first_rows, shard_files
from components.serving_check.verdict import Check
from data import paths

RESULT_FILE = "serving_check.json"
# What TFX's InfraValidator writes, and its Pusher reads.
_BLESSED = "blessed"
_FILES = {True: "INFRA_BLESSED", False: "INFRA_NOT_BLESSED"}


@component
def ServingCheck(
    examples: InputArtifact[Examples],
    model: InputArtifact[Model],
    blessing: OutputArtifact[InfraBlessing],
    settings: Parameter[str],
    infra_blessing: InputArtifact[InfraBlessing] = None,
) -> None:
    """Replays evaluated rows and odd requests through the exported model.

    Args:
        examples: raw rows with a split named eval.
        model: the candidate.
        blessing: receives ``INFRA_BLESSED`` or ``INFRA_NOT_BLESSED``, and
            ``serving_check.json``.
        settings: JSON of ``components.serving_check.config.ServingCheckConfig``.
        infra_blessing: of TFX's InfraValidator, which has to agree.
    """
    config = ServingCheckConfig.model_validate_json(settings)
    rows = first_rows(shard_files(f"{examples.uri}/Split-eval"), config.rows)
    result = check_serving(path_utils.serving_model_path(model.uri), rows, config)
    if infra_blessing is not None:
        check = _infra_validator(infra_blessing)
        result = dataclasses.replace(result, checks=(*result.checks, check))
    blessing.set_int_custom_property(_BLESSED, int(result.passed))
    with paths.open_write(f"{blessing.uri}/{RESULT_FILE}") as file:
        file.write(json.dumps(result.to_json(), indent=1, allow_nan=False).encode())
    with paths.open_write(f"{blessing.uri}/{_FILES[result.passed]}"):
        pass


def _infra_validator(blessing: InfraBlessing) -> Check:
    """What TFX's InfraValidator said, as one more check."""
    if blessing.get_int_custom_property(_BLESSED):
        return Check("InfraValidator", None, "pass", "answered in TensorFlow Serving")
    return Check(
        "InfraValidator", None, "fail", "not blessed; its log names the failed request"
    )
