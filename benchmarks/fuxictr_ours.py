"""Our side of the FuxiCTR comparison: the real components, from CSV to trained model."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuxictr_log import IDS, LABEL, NUMBERS
from pipeline.config import PipelineConfig

# Evaluation and what follows from it: the other side has none of it.
LEFT_OUT = ("latest_blessed_model", "Evaluator", "ModelGate", "AtomicPusher")


def configuration(settings: dict[str, Any]) -> PipelineConfig:
    """The pipeline of the same fields, network and training.

    Args:
        settings: what both sides read.

    Returns:
        The configuration.
    """
    ids = {"kind": "categorical", "encoding": "vocabulary"}
    content = {
        "name": "clicks",
        "data": {
            "layouts": [
                {"name": "csv", "files": ["train.csv", "test.csv"], "format": "csv"}
            ],
            "keys": {"label": LABEL},
            "split": {"by": "given", "train": "train.csv", "eval": "test.csv"},
            "features": [
                *(
                    {"name": one, "min_count": settings["min_count"], **ids}
                    for one in IDS
                ),
                *({"name": one, "kind": "numeric"} for one in NUMBERS),
            ],
        },
        "model": {
            name: settings[name] for name in ("embedding_dim", "cross_layers", "hidden")
        },
        "train": {
            name: settings[name]
            for name in ("batch_size", "learning_rate", "epochs", "seed")
        },
    }
    return PipelineConfig.model_validate(content)


def run(settings: dict[str, Any]) -> dict[str, Any]:
    """Runs the components up to the Trainer, then scores the test rows.

    Args:
        settings: what both sides read.

    Returns:
        Seconds of the parts, AUC of the test rows and cost by component.
    """
    from pipeline.cli.quiet import silence

    silence()
    from tfx.dsl.compiler.compiler import Compiler

    from pipeline.local_runner import (
        LOCAL_BEAM_ARGS,
        Folders,
        MeasuredDagRunner,
        sqlite_connection,
    )
    from pipeline.observer import Silent
    from pipeline.pipeline import Locations, create_pipeline
    from pipeline.run import Recorder

    folders = Folders(Path(settings["work"]))
    locations = Locations(
        input_base=str(Path(settings["train"]).parent),
        pipeline_root=str(folders.artifacts),
        serving=str(folders.serving),
        metadata=sqlite_connection(folders.metadata),
    )
    whole = create_pipeline(configuration(settings), locations, LOCAL_BEAM_ARGS)
    recorder = Recorder(Silent())
    # TFX refuses a pipeline whose nodes were cut off; the compiled form takes it.
    nodes = Compiler().compile(whole)
    kept = [
        one for one in nodes.nodes if one.pipeline_node.node_info.id not in LEFT_OUT
    ]
    del nodes.nodes[:]
    nodes.nodes.extend(kept)
    MeasuredDagRunner(recorder).run_with_ir(nodes)
    end_to_end = time.time() - settings["started"]
    trained = json.loads(_one(folders.artifacts, "Trainer/model_run/*/training.json"))
    costs = {one["component"]: one for one in recorder.components}
    return {
        "end_to_end_seconds": end_to_end,
        "preprocess_seconds": end_to_end - costs["Trainer"]["wall_seconds"],
        "loop_seconds": trained["seconds"],
        "steady_examples_per_second": float(
            np.median([one["examples_per_second"] for one in trained["points"]])
        ),
        "input_wait_share": trained["input_wait_share"],
        "auc": test_auc(folders.artifacts),
        "components": costs,
    }


def _one(folder: Path, pattern: str) -> str:
    """Text of the only file of a pattern."""
    (path,) = folder.glob(pattern)
    return path.read_text("utf-8")


def test_auc(artifacts: Path) -> float:
    """AUC of the exported model on the rows of the split named eval.

    Args:
        artifacts: folder of all artifacts of one run.

    Returns:
        The pooled AUC.
    """
    import tensorflow as tf
    from sklearn.metrics import roc_auc_score

    files = [
        str(one) for one in artifacts.glob("ClickLogExampleGen/examples/*/Split-eval/*")
    ]
    (model,) = artifacts.glob("Trainer/model/*/Format-Serving")
    score = tf.saved_model.load(str(model)).signatures["serving_default"]
    spec = {LABEL: tf.io.FixedLenFeature([], tf.int64)}
    labels, scores = [], []
    for records in tf.data.TFRecordDataset(files, compression_type="GZIP").batch(4096):
        labels.append(tf.io.parse_example(records, spec)[LABEL].numpy())
        scores.append(score(examples=records)["prediction"].numpy().ravel())
    return float(roc_auc_score(np.concatenate(labels), np.concatenate(scores)))
