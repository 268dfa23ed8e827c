"""Packed shards hold the very values that Transform makes of the rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.engine

FEATURES: list[dict[str, Any]] = [
    {"name": "user", "kind": "categorical", "buckets": 50},
    {"name": "item", "kind": "categorical", "encoding": "vocabulary"},
    {"name": "hist", "kind": "sequence", "vocabulary_of": "item", "max_length": 3},
    {"name": "price", "kind": "numeric"},
    {"name": "image", "kind": "vector", "length": 2},
    {"name": "slot", "kind": "categorical", "encoding": "identity", "buckets": 4},
    {"name": "both", "kind": "cross", "features": ["user", "item"], "buckets": 100_000},
]
ITEMS = [b"x", b"y", b"z", b""]
SHARDS = {"train": [400, 0, 301], "validate": [7]}


def raw_row(number: int) -> dict[str, Any]:
    """A row whose weight is its number; every third value of a kind is absent."""
    return {
        "click": number % 3 == 0,
        "user": b"u%d" % (number % 11),
        "w": float(number),
        "item": [ITEMS[number % 4]] if number % 3 else [],
        "hist": [ITEMS[i % 4] for i in range(number % 5)],
        "price": [number / 7] if number % 2 else [],
        "image": [number / 2, -1.0] if number % 4 else [],
        "slot": [number % 6] if number % 5 else [],
    }


@pytest.fixture(scope="module")
def dataset() -> Any:
    from data.dataset import Dataset

    return Dataset.model_validate(
        {
            "keys": {"label": "click", "user_id": "user", "weight": "w"},
            "split": {"by": "hash", "columns": ["user"], "validate_fraction": 0.1},
            "features": FEATURES,
        }
    )


@pytest.fixture(scope="module")
def folder(dataset: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shards of rows, the transform, and the rows that TFT makes of them."""
    import apache_beam as beam
    import tensorflow_transform.beam as tft_beam
    from tensorflow_metadata.proto.v0 import schema_pb2
    from tensorflow_transform.tf_metadata import dataset_metadata, metadata_io
    from tfx_bsl.public import tfxio

    from components.preprocessing import preprocessing_fn
    from components.schema_gen import declare

    folder = tmp_path_factory.mktemp("packing")
    write_shards(folder / "rows")
    schema = declare(dataset, schema_pb2.Schema())
    metadata = dataset_metadata.DatasetMetadata(schema)
    config = {"dataset": dataset.model_dump_json()}
    source = tfxio.TFExampleRecord(
        str(folder / "rows/Split-train/*"), telemetry_descriptors=["t"], schema=schema
    )
    p = beam.Pipeline("apache_beam.runners.portability.fn_api_runner.FnApiRunner")
    with tft_beam.Context(temp_dir=str(folder / "tmp")):
        rows = (p | source.BeamSource(), source.TensorAdapterConfig())
        (transformed, _), fn = rows | tft_beam.AnalyzeAndTransformDataset(
            lambda inputs: preprocessing_fn(inputs, config), output_record_batches=True
        )
        _ = fn | tft_beam.WriteTransformFn(str(folder / "transform"))
        _ = (
            transformed
            | beam.FlatMapTuple(materialized)
            | beam.io.WriteToTFRecord(str(folder / "transformed"), num_shards=1)
        )
        p.run().wait_until_finish()
    # The Transform component also keeps the schema of the raw rows.
    metadata_io.write_metadata(metadata, str(folder / "transform" / "metadata"))
    return folder


def materialized(batch: Any, _: Any) -> list[bytes]:
    """Transformed rows as the Transform component writes them."""
    from tfx_bsl.coders import example_coder

    return list(example_coder.RecordBatchToExamplesEncoder().encode(batch))


def write_shards(folder: Path) -> None:
    """Rows numbered through the shards, with a manifest."""
    import tensorflow as tf

    from data.manifest import Manifest, make_split, write_manifest
    from data.records import frame_all
    from data.shards import ShardWriter

    number, splits = 0, {}
    for split, counts in SHARDS.items():
        shards = []
        for index, count in enumerate(counts):
            rows = [raw_row(number + i) for i in range(count)]
            number += count
            records = []
            for row in rows:
                example = tf.train.Example()
                for name, value in row.items():
                    values = value if isinstance(value, list) else [value]
                    feature = example.features.feature[name]
                    kind = {float: "float_list", bytes: "bytes_list"}
                    for one in values:
                        getattr(
                            feature, kind.get(type(one), "int64_list")
                        ).value.append(one)
                records.append(example.SerializeToString())
            with ShardWriter(str(folder), f"Split-{split}/rows-{index}.gz") as writer:
                clicks = sum(row["click"] for row in rows)
                writer.write(frame_all(records), count, clicks)
                shards.append(writer.close())
        splits[split] = make_split(shards, None)
    write_manifest(
        str(folder),
        Manifest(
            rows_read=number, rows_written=number, rows_quarantined=0, splits=splits
        ),
    )


@pytest.fixture(scope="module")
def packed(dataset: Any, folder: Path) -> Path:
    """The splits, packed."""
    run(dataset, folder, folder / "packed")
    return folder / "packed"


def run(dataset: Any, folder: Path, target: Path, **options: Any) -> None:
    import tensorflow_transform as tft

    from components.example_gen.run import local_pipeline
    from components.model_inputs import inputs_of
    from components.packing.layout import layout_of
    from components.packing.pack import pack

    transform = str(folder / "transform")
    inputs = inputs_of(dataset, tft.TFTransformOutput(transform))
    pack(
        local_pipeline(),
        str(folder / "rows"),
        transform,
        str(target),
        layout_of(dataset, inputs),
        splits=list(SHARDS),
        **options,
    )


def batch_of(read: Any, files: list[str], dataset: Any, folder: Path) -> Any:
    """All rows of some files in one batch."""
    import tensorflow_transform as tft

    from components.model_inputs import inputs_of
    from components.preprocessing import LABEL, USER, WEIGHT

    inputs = inputs_of(dataset, tft.TFTransformOutput(str(folder / "transform")))
    (batch,) = read(files, inputs, LABEL, WEIGHT, USER, batch_size=10_000)
    return batch


@pytest.mark.parametrize("compress", [True, False])
def test_packed_values_are_those_of_transform(
    dataset: Any, folder: Path, tmp_path: Path, compress: bool
) -> None:
    import tensorflow as tf

    from components import input_fn, packed_input_fn

    run(dataset, folder, tmp_path, compress=compress)
    files = sorted(str(path) for path in (tmp_path / "Split-train").iterdir())
    # An uncompressed file does not carry the ending of a compressed one.
    assert {path.endswith(".gz") for path in files} == {compress}
    ours = batch_of(packed_input_fn.dataset, files, dataset, folder)
    rows = [str(path) for path in folder.glob("transformed-*")]
    theirs = batch_of(input_fn.dataset, rows, dataset, folder)

    # Beam reads files in any order; weights number the rows.
    number = np.argsort(theirs[2].numpy())
    assert len(number) == 701
    tf.nest.map_structure(
        lambda left, right: np.testing.assert_array_equal(left, right.numpy()[number]),
        ours,
        theirs,
    )


def test_rows_keep_their_shard_and_the_manifest_counts_them(packed: Path) -> None:
    from data.manifest import read_manifest
    from data.shards import verify_manifest

    manifest = read_manifest(str(packed))
    assert {
        name: [shard.rows for shard in split.shards]
        for name, split in manifest.splits.items()
    } == SHARDS
    # Rows 0 to 700 are training rows; every third from 0 is a click.
    assert manifest.splits["train"].clicks == 234
    assert {fault for _, fault in verify_manifest(str(packed))} == {None}
    assert sorted(path.name for path in packed.iterdir()) == [
        "Split-train",
        "Split-validate",
        "manifest.json",
    ]


def test_equal_rows_give_equal_bytes(
    dataset: Any, folder: Path, packed: Path, tmp_path: Path
) -> None:
    run(dataset, folder, tmp_path)

    for path in packed.glob("Split-*/*"):
        again = tmp_path / path.relative_to(packed)
        assert again.read_bytes() == path.read_bytes()


def test_a_shard_with_other_rows_than_its_manifest_is_refused(
    dataset: Any, folder: Path, tmp_path: Path
) -> None:
    import shutil

    from data.errors import DataError
    from pipeline.local_runner import reason

    shutil.copytree(folder / "rows", tmp_path / "rows")
    (tmp_path / "transform").symlink_to(folder / "transform")
    shutil.copyfile(
        folder / "rows/Split-train/rows-2.gz", tmp_path / "rows/Split-train/rows-0.gz"
    )

    with pytest.raises(Exception, match="rows-0") as raised:
        run(dataset, tmp_path, tmp_path / "packed")
    assert "301 rows with" in reason(raised.value)
    assert "400 with 134 in the manifest" in reason(raised.value)
    assert DataError.__name__ not in reason(raised.value)
    assert not (tmp_path / "packed/manifest.json").exists()
