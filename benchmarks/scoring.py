"""Runs a configuration and scores its evaluation rows with the model that it trained."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.config import PipelineConfig
from pipeline.observer import Silent

BATCH = 4096


def run_and_score(
    config: PipelineConfig, input_base: str, columns: list[str], splits: list[str]
) -> tuple[dict[str, Any], dict[str, dict[str, NDArray[Any]]]]:
    """Runs the DAG in a root of its own.

    Args:
        config: the configuration.
        input_base: folder of the log.
        columns: columns of the shards to return, one value a row.
        splits: splits to return; the one named eval gets the model's ``score``.

    Returns:
        Summary of the run, and columns by split.
    """
    from pipeline.run import run

    with tempfile.TemporaryDirectory() as root:
        summary = run(config, input_base, Path(root), Silent())
        artifacts = Path(root) / config.name / "artifacts"
        shards = next((artifacts / "ClickLogExampleGen" / "examples").iterdir())
        rows = {split: _read(shards / f"Split-{split}", columns) for split in splits}
        model = Path(summary["model"]) / "Format-Serving"
        rows["eval"]["score"] = _score(shards / "Split-eval", model)
    return summary, rows


def _records(folder: Path) -> list[bytes]:
    """All records of a split, in the order of its files."""
    import tensorflow as tf

    files = sorted(str(path) for path in folder.iterdir())
    rows = tf.data.TFRecordDataset(files, compression_type="GZIP").batch(BATCH)
    return [record for batch in rows for record in batch.numpy().tolist()]


def _read(folder: Path, columns: list[str]) -> dict[str, NDArray[Any]]:
    """Columns of a split; text is decoded."""
    import tensorflow as tf

    found: dict[str, list[Any]] = {name: [] for name in columns}
    for record in _records(folder):
        feature = tf.train.Example.FromString(record).features.feature
        for name in columns:
            value = feature[name]
            kind = value.WhichOneof("kind")
            first = getattr(value, kind).value[0]
            found[name].append(first.decode() if kind == "bytes_list" else first)
    return {name: np.array(values) for name, values in found.items()}


def _score(folder: Path, model: Path) -> NDArray[np.float64]:
    """Click probabilities of a split's rows by the exported signature."""
    import tensorflow as tf

    signature = tf.saved_model.load(str(model)).signatures["serving_default"]
    records = _records(folder)
    parts = [
        signature(examples=tf.constant(records[start : start + BATCH]))["prediction"]
        for start in range(0, len(records), BATCH)
    ]
    return np.concatenate([part.numpy() for part in parts]).astype(np.float64)
