"""The one judge of a model: configured gates on the evaluation's numbers."""

import json

from tfx.dsl.component.experimental.annotations import (
    InputArtifact,
    OutputArtifact,
    Parameter,
)
from tfx.dsl.component.experimental.decorators import component
from tfx.types.standard_artifacts import Model, ModelBlessing, ModelEvaluation

from components.evaluation import read_results
from components.gates import judge
from components.gates_config import GatesConfig
from data import paths

VERDICT_FILE = "verdict.json"


@component
def ModelGate(
    evaluation: InputArtifact[ModelEvaluation],
    model: InputArtifact[Model],
    blessing: OutputArtifact[ModelBlessing],
    gates: Parameter[str],
    reference: InputArtifact[ModelEvaluation] = None,
) -> None:
    """Blesses the model if every gate passes.

    Args:
        evaluation: what the Evaluator measured, with the baseline where there is one.
        model: the candidate.
        blessing: receives ``BLESSED`` or ``NOT_BLESSED`` and ``verdict.json``.
        gates: JSON of ``components.gates_config.GatesConfig``.
        reference: the same candidate beside the pinned reference model.
    """
    verdict = judge(
        read_results(evaluation.uri),
        GatesConfig.model_validate_json(gates),
        None if reference is None else read_results(reference.uri),
    )
    blessing.set_int_custom_property("blessed", int(verdict.blessed))
    blessing.set_string_custom_property("current_model", model.uri)
    blessing.set_int_custom_property("current_model_id", model.id)
    name = "BLESSED" if verdict.blessed else "NOT_BLESSED"
    with paths.open_write(f"{blessing.uri}/{VERDICT_FILE}") as file:
        file.write(json.dumps(verdict.to_json(), indent=1).encode())
    with paths.open_write(f"{blessing.uri}/{name}"):
        pass
