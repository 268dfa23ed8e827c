"""Which splits the components of the DAG read and write."""

from typing import Any

import pytest

pytestmark = pytest.mark.engine


def nodes(split: dict[str, Any]) -> dict[str, Any]:
    """Properties of each component of a pipeline with that split."""
    from components.example_gen.component import ClickLogExampleGen
    from pipeline.config import PipelineConfig
    from pipeline.pipeline import Locations, create_pipeline

    config = PipelineConfig.model_validate(
        {
            "name": "mine",
            "data": {
                "keys": {"label": "click", "user_id": "user"},
                "split": {"by": "hash", "columns": ["user"], **split},
                "features": [{"name": "item", "kind": "categorical", "buckets": 9}],
            },
            "evaluate": {"user_weight": "clicks"},
        }
    )
    locations = Locations(input_base="/in", pipeline_root="/root", serving="/serving")
    pipeline = create_pipeline(config, locations, [])
    assert isinstance(pipeline.components[0], ClickLogExampleGen)
    return {
        node.id: getattr(node, "exec_properties", {}) for node in pipeline.components
    }


@pytest.mark.parametrize(
    ("split", "written", "packed", "validated"),
    [
        ({}, ["train", "eval"], ["train"], ["train"]),
        (
            {"validate_fraction": 0.1},
            ["train", "validate", "eval"],
            ["train", "validate"],
            ["validate"],
        ),
    ],
)
def test_validation_rows_reach_the_trainer_and_nothing_else(
    split: dict[str, Any],
    written: list[str],
    packed: list[str],
    validated: list[str],
) -> None:
    import json

    found = nodes(split)

    output = json.loads(found["ClickLogExampleGen"]["output_config"])
    assert [s["name"] for s in output["split_config"]["splits"]] == written
    splits = json.loads(found["Transform"]["splits_config"])
    assert splits["analyze"] == ["train"]
    assert json.loads(found["PackExamples"]["splits"]) == packed
    assert json.loads(found["Trainer"]["train_args"])["splits"] == ["train"]
    assert json.loads(found["Trainer"]["eval_args"])["splits"] == validated
    # TFX evaluates the split named eval where none is named.
    assert json.loads(found["Evaluator"]["example_splits"]) is None
    assert json.loads(found["Trainer"]["custom_config"])["user_weight"] == "clicks"
