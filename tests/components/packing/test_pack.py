"""Packed shards hold the very values that Transform makes of the rows."""

import gzip
import shutil
import signal
import subprocess
import sys
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


def run(
    dataset: Any,
    folder: Path,
    target: Path,
    *,
    in_beam: bool = False,
    compress: bool = True,
) -> None:
    import tensorflow_transform as tft

    from components.example_gen.run import local_pipeline
    from components.model_inputs import inputs_of
    from components.packing.layout import layout_of
    from components.packing.pack import pack
    from components.packing.shard import PackJob

    transform = str(folder / "transform")
    inputs = inputs_of(dataset, tft.TFTransformOutput(transform))
    job = PackJob(
        source=str(folder / "rows"),
        transform=transform,
        target=str(target),
        layout=layout_of(dataset, inputs),
        compress=compress,
    )
    pack(job, list(SHARDS), local_pipeline() if in_beam else None)


def copy_of(folder: Path, target: Path) -> Path:
    """The shards to damage, beside the same transform."""
    shutil.copytree(folder / "rows", target / "rows")
    (target / "transform").symlink_to(folder / "transform")
    return target


def refusal(dataset: Any, folder: Path, in_beam: bool) -> str:
    """What a user reads when packing fails, which must not look finished."""
    from pipeline.local_runner import reason

    with pytest.raises(Exception, match="rows-0") as raised:
        run(dataset, folder, folder / "packed", in_beam=in_beam)
    left = {path.name for path in (folder / "packed").iterdir()}
    assert not left & {"manifest.json", "_writing"}
    return reason(raised.value)


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


def test_beam_and_one_process_write_the_same_bytes(
    dataset: Any, folder: Path, packed: Path, tmp_path: Path
) -> None:
    run(dataset, folder, tmp_path, in_beam=True)

    names = [path.relative_to(packed) for path in packed.rglob("*") if path.is_file()]
    assert len(names) == 5  # four shards and the manifest
    for name in names:
        assert (tmp_path / name).read_bytes() == (packed / name).read_bytes()


def test_a_split_without_shards_is_listed_as_empty(
    dataset: Any, folder: Path, tmp_path: Path
) -> None:
    from data.manifest import make_split, read_manifest, write_manifest

    source = copy_of(folder, tmp_path)
    rows = read_manifest(str(source / "rows"))
    splits = {**rows.splits, "validate": make_split([], None)}
    # Without the 7 rows of the split that is emptied.
    changes = {"splits": splits, "rows_read": 701, "rows_written": 701}
    write_manifest(str(source / "rows"), rows.model_copy(update=changes))

    run(dataset, source, tmp_path / "packed")

    found = read_manifest(str(tmp_path / "packed"))
    assert found.splits["validate"].shards == ()
    assert found.rows_written == found.splits["train"].rows == 701


@pytest.mark.parametrize("in_beam", [False, True])
def test_a_shard_with_other_rows_than_its_manifest_is_refused(
    dataset: Any, folder: Path, tmp_path: Path, in_beam: bool
) -> None:
    source = copy_of(folder, tmp_path)
    train = source / "rows/Split-train"
    shutil.copyfile(train / "rows-2.gz", train / "rows-0.gz")

    message = refusal(dataset, source, in_beam)

    assert f"{train}/rows-0.gz: 301 rows with" in message
    assert "400 with 134 in the manifest" in message
    assert "DataError" not in message


@pytest.mark.parametrize("in_beam", [False, True])
def test_a_cut_shard_is_named(
    dataset: Any, folder: Path, tmp_path: Path, in_beam: bool
) -> None:
    source = copy_of(folder, tmp_path)
    cut = source / "rows/Split-train/rows-0.gz"
    cut.write_bytes(cut.read_bytes()[:-9])

    message = refusal(dataset, source, in_beam)

    assert message.startswith(f"{cut}: no end marker of the compression")
    assert "the file was cut; copy it again" in message
    assert not (source / "packed/Split-train/rows-0.gz").exists()


def test_a_damaged_record_is_named(dataset: Any, folder: Path, tmp_path: Path) -> None:
    source = copy_of(folder, tmp_path)
    shard = source / "rows/Split-train/rows-0.gz"
    records = bytearray(gzip.decompress(shard.read_bytes()))
    records[20] ^= 1  # in the payload of the first record
    shard.write_bytes(gzip.compress(bytes(records)))

    message = refusal(dataset, source, in_beam=False)

    assert message.startswith(f"{shard}: record 0 (from 0) at offset 0: payload fails")


def test_a_kill_in_the_middle_leaves_no_shard_under_its_name(tmp_path: Path) -> None:
    script = """
import os, signal, sys
import numpy as np
from data.packed import PackedColumn, PackedLayout
from data.packed_shards import write_packed

layout = PackedLayout(columns=(PackedColumn(name="label", dtype="uint8"),))

def batches():
    yield {"label": np.zeros(100_000, np.uint8)}
    os.kill(os.getpid(), signal.SIGKILL)

write_packed(sys.argv[1], "Split-train/rows-0.gz", layout, batches(), "label")
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], cwd=Path.cwd(), check=False
    )

    assert done.returncode == -signal.SIGKILL
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.parent.name for path in files] == ["_writing"]
