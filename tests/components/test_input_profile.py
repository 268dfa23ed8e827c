"""What a profile measures, and what it concludes from given numbers."""

import itertools
import json
import types

import numpy as np
import pytest

from components.config import TrainConfig
from components.preprocessing import LABEL
from components.profiling.advice import Change, Tried, best
from components.profiling.candidates import candidates
from components.profiling.profile import profile
from components.profiling.recipe import recipe_batches, write_rows
from components.profiling.sample import first_shards, reread, uncompressed
from components.profiling.stages import STAGES, batches, differences, pipelines
from components.profiling.timing import ROUNDS, Cost, interleaved, timed
from components.profiling.verdict import on_accelerator, on_shared_cores
from components.training_rows import PackedSplit, TrainingRows
from data.dataset import Dataset
from data.errors import DataError
from data.inputs import ModelInput
from data.packed import PackedColumn, PackedLayout
from data.packed_shards import write_packed
from models.config import ModelConfig

INPUTS = (
    ModelInput(name="row", kind="id", table="row", vocabulary_size=3000),
    ModelInput(name="list", kind="ids", length=3, table="row", vocabulary_size=3000),
    ModelInput(name="price", kind="number"),
    ModelInput(name="image", kind="vector", length=2),
)
LAYOUT = PackedLayout(
    columns=(
        PackedColumn(name=LABEL, dtype="uint8"),
        PackedColumn(name="row", dtype="uint16"),
        PackedColumn(name="list", dtype="uint16", width=3, lists=True),
        PackedColumn(name="price", dtype="float32"),
        PackedColumn(name="image", dtype="float32", width=2),
    )
)
DATASET = Dataset.model_validate(
    {
        "keys": {"label": "click"},
        "split": {"by": "hash", "columns": ["row"]},
        "features": [{"name": "row", "kind": "categorical", "buckets": 2999}],
    }
)
# Rows of the shards; one is empty.
SHARDS = (1000, 0, 600, 403)


def columns(first, count):
    number = np.arange(first, first + count)
    lists = np.stack([number, number + 1, number + 2], axis=1)
    # Lengths 0 to 3.
    lists[np.arange(3) >= (number % 4)[:, None]] = 0
    return {
        LABEL: number % 2,
        "row": number,
        "list": lists,
        "price": (number / 2).astype(np.float32),
        # Zeros that are values and no padding.
        "image": np.stack([0 * number, -number], axis=1).astype(np.float32),
    }


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """2,003 numbered rows in packed shards."""
    folder = tmp_path_factory.mktemp("packed")
    starts = itertools.accumulate(SHARDS, initial=0)
    shards = [
        write_packed(str(folder), f"{number}.gz", LAYOUT, [columns(first, n)], LABEL)
        for number, (first, n) in enumerate(zip(starts, SHARDS, strict=False))
    ]
    return TrainingRows(
        dataset=DATASET,
        inputs=INPUTS,
        config=TrainConfig(batch_size=100, shuffle_rows=1000),
        train=PackedSplit(
            files=tuple(str(folder / one.file) for one in shards), shards=tuple(shards)
        ),
        held_out=PackedSplit(),
    )


def test_first_shards_are_as_few_as_hold_the_rows(rows):
    def kept(at_least):
        return [shard.rows for shard in first_shards(rows, at_least).train.shards]

    assert kept(1) == [1000]
    assert kept(1001) == [1000, 600]
    assert kept(10**9) == [1000, 600, 403]


def test_uncompressed_copies_hold_the_same_rows(rows, tmp_path):
    in_order = reread(rows, shuffle_rows=0)
    plain = uncompressed(first_shards(in_order, 10**9), str(tmp_path))

    for ours, theirs in zip(plain.epoch(0), in_order.epoch(0), strict=True):
        np.testing.assert_array_equal(ours[0]["row"], theirs[0]["row"])


def test_every_pipeline_counts_each_row_once_a_pass(rows, tmp_path):
    sample = first_shards(rows, 10**9)
    works = pipelines(sample, uncompressed(sample, str(tmp_path)))

    for name, work in works.items():
        # All pipelines but that of bytes hand over whole passes.
        passed = np.cumsum(list(itertools.islice(work(), 25)))
        assert np.isclose(passed, 2003).any(), name


def test_stages_add_up_to_the_input():
    # Each is a pipeline of the cost that its name says, in wall and processor time.
    costs = {
        "bytes": Cost(1, 10),
        "plain_bytes": Cost(2, 20),
        "plain_records": Cost(5, 50),
        "records": Cost(9, 90),
        "unpacked": Cost(16, 160),
        "shuffled": Cost(18, 180),
        "input": Cost(21, 210),
    }
    found = differences(costs)

    # Frame 5 - 2; decompress 9 - 1 - 3; unpack 16 - 9; and so on.
    expected = {
        "read": 1,
        "decompress": 5,
        "frame": 3,
        "unpack": 7,
        "shuffle": 2,
        "batch": 3,
    }
    assert found == {name: Cost(n, 10 * n) for name, n in expected.items()}
    assert tuple(found) == STAGES
    assert sum(cost.wall_us for cost in found.values()) == 21


def test_a_stage_is_never_below_nothing():
    costs = {
        "bytes": Cost(1, 1),
        "records": Cost(4, 4),
        "unpacked": Cost(6, 3),
        "shuffled": Cost(5, 7),
        "input": Cost(8, 8),
    }
    found = differences(costs)

    # Without compression what is no reading is framing.
    assert (found["decompress"], found["frame"]) == (Cost(0, 0), Cost(3, 3))
    assert (found["unpack"], found["shuffle"]) == (Cost(2, 0), Cost(0, 4))


def test_the_warm_up_is_not_counted(monkeypatch):
    clock = types.SimpleNamespace(now=0.0)
    monkeypatch.setattr(
        "components.profiling.timing.time",
        types.SimpleNamespace(
            perf_counter=lambda: clock.now, process_time=lambda: clock.now / 2
        ),
    )

    def work():
        for rows, seconds in [(1000, 50.0), (10, 1.0), (10, 1.0), (10, 4.0)]:
            clock.now += seconds
            yield rows

    # Two items last 2 s, which are not 2.5 yet; the third ends it: 6 s for 30 rows.
    assert timed(work, 2.5) == Cost(6 / 30 * 1e6, 3 / 30 * 1e6)


def test_works_take_turns():
    order = []

    def work(name):
        while True:
            order.append(name)
            yield 1

    interleaved({"a": lambda: work("a"), "b": lambda: work("b")}, 1e-9)

    turns = [name for name, _ in itertools.groupby(order)]
    assert turns == ["a", "b"] * ROUNDS


def tried(setting, *gains):
    return Tried(Change(setting, 1, 4, "a price"), gains)


def test_advice_is_the_three_largest_gains_that_are_no_noise():
    found = best(
        [
            tried("small", 0.029, 0.029, 0.029),
            tried("least", 0.031, 0.031, 0.031),
            tried("third", 0.05, 0.06, 0.90),
            tried("unsteady", -0.01, 0.40, 0.50),
            tried("first", 0.50, 0.30, 0.40),
            tried("second", 0.10, 0.20, 0.30),
        ]
    )
    assert [one.change.setting for one in found] == ["first", "second", "third"]
    # Medians, not means.
    assert [one.gain for one in found] == [0.40, 0.20, 0.06]
    assert best([tried("small", 0.01, 0.01, 0.01)]) == []


def test_a_line_of_advice_has_setting_gain_and_price():
    one = Tried(Change("train.batch_size", 1024, 4096, "so and so"), (0.38, 0.31, 0.44))
    assert one.line == (
        "train.batch_size 1024 -> 4096: +38 % examples/s (rounds: +31 to +44 %); "
        "so and so"
    )


def test_a_step_that_takes_longer_than_its_input_binds_the_accelerator():
    # 12.6 us a step against 2 us of input; 9 % of the time goes by waiting.
    found = on_accelerator(Cost(2, 4), Cost(12.6, 1), 0.09)
    assert (found.bound, found.sentence) == (
        "compute",
        "compute-bound: the step takes 91 % of the time, input would keep up with a "
        "step 6.3 times as fast",
    )
    found = on_accelerator(Cost(5, 10), Cost(2, 1), 0.6)
    assert (found.bound, found.sentence) == (
        "input",
        "input-bound: waiting for input takes 60 % of the time, the step would keep up "
        "with an input 2.5 times as fast",
    )


def test_on_shared_cores_processor_time_decides():
    # 9 of 10 us of processor time; wall time is of no account.
    found = on_shared_cores(Cost(100, 1), Cost(1, 9), 2)
    assert (found.bound, found.sentence) == (
        "compute",
        "compute-bound: the step takes 90 % of the processor time; input and step share "
        "2 cores, so even a free input would save no more than 10 %",
    )
    found = on_shared_cores(Cost(1, 3), Cost(1, 1), 1)
    assert (found.bound, found.sentence) == (
        "input",
        "input-bound: the input takes 75 % of the processor time; input and step share "
        "1 core, so even a free step would save no more than 25 %",
    )


def changes(rows, plain=None, **settings):
    read = reread(rows, **settings)
    found = candidates(read, plain, None, ModelConfig(), has_accelerator=False)
    return {
        one.change.setting: (one.change.before, one.change.after, one.change.price)
        for one in found
    }


def test_changes_are_those_that_the_rows_allow(rows, tmp_path):
    sample = first_shards(rows, 10**9)
    plain = uncompressed(sample, str(tmp_path))

    found = changes(sample, plain)
    assert {name: values[:2] for name, values in found.items()} == {
        "train.batch_size": (100, 400),
        "packing.compression": ("gzip", "none"),
        "train.shuffle_rows": (1000, 250),
    }
    assert "set train.base_batch_size" in found["train.batch_size"][2]
    # 2,003 rows: a batch of 2,004 does not exist, a window of 2,003 holds all of them.
    assert list(changes(sample, batch_size=501, shuffle_rows=4 * 2003)) == []
    scaled = changes(sample, base_batch_size=100)["train.batch_size"][2]
    assert "follows train.base_batch_size" in scaled


def test_the_recipe_reads_the_same_rows(rows, tmp_path):
    import tensorflow as tf

    sample = first_shards(rows, 10**9)
    files = write_rows(sample, str(tmp_path))

    counts = list(itertools.islice(recipe_batches(sample, files)(), 21))
    assert counts == [100] * 20 + [3]
    spec = {
        LABEL: tf.io.FixedLenFeature([], tf.int64),
        "row": tf.io.FixedLenFeature([], tf.int64),
        "list": tf.io.VarLenFeature(tf.int64),
        "price": tf.io.FixedLenFeature([], tf.float32),
        "image": tf.io.FixedLenFeature([2], tf.float32),
    }
    records = tf.data.TFRecordDataset(files, compression_type="GZIP").batch(5000)
    parsed = tf.io.parse_example(next(iter(records)), spec)
    parsed["list"] = tf.sparse.to_dense(parsed["list"])
    for name, expected in columns(0, 2003).items():
        np.testing.assert_array_equal(parsed[name], expected)


def test_batches_are_those_of_the_training(rows):
    assert list(itertools.islice(batches(rows)(), 21)) == [100] * 20 + [3]


def test_a_split_without_rows_is_refused_in_one_line(rows):
    empty = TrainingRows(
        dataset=DATASET,
        inputs=INPUTS,
        config=rows.config,
        train=PackedSplit(files=rows.train.files[1:2], shards=rows.train.shards[1:2]),
        held_out=PackedSplit(),
    )
    with pytest.raises(DataError, match="no rows in the train split") as error:
        profile(empty, ModelConfig(), seconds=0.1)
    assert "\n" not in str(error.value)


@pytest.mark.slow
# The processor in the part of an accelerator: there is one on every machine.
@pytest.mark.parametrize("device", [None, "/CPU:0"])
def test_a_profile_measures_everything_that_it_names(rows, device, monkeypatch):
    monkeypatch.setattr("components.profiling.profile.accelerator", lambda: device)
    told = []
    model = ModelConfig(name="logistic_regression")
    found = profile(rows, model, seconds=0.03, compare=True, tell=told.append)

    content = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert (content["rows"], content["sample_rows"]) == (2003, 2003)
    assert list(content["stages"]) == list(STAGES)
    assert content["reading"]["cpu_us"] > 0
    assert content["step"]["wall_us"] > 0
    loop = content["loop"]
    assert loop["steps"] >= 10 * ROUNDS
    assert 0 <= loop["wait_share"] <= 1
    assert loop["examples_per_second"] == pytest.approx(1e6 / loop["cost"]["wall_us"])
    settings = [one["setting"] for one in content["tried"]]
    expected = ["train.batch_size", "packing.compression", "train.shuffle_rows"]
    assert settings == [*expected, *(["train.precision"] if device else [])]
    assert (content["accelerator"], content["copy"] is None) == (device, not device)
    # Only cores that are shared can be saved.
    assert ("cores" in content["verdict"]["sentence"]) is not bool(device)
    assert all(len(one["gains"]) == ROUNDS for one in content["tried"])
    recipe = content["recipe"]
    assert recipe["ratio"] == pytest.approx(
        recipe["recipe"]["cpu_us"] / recipe["ours"]["cpu_us"]
    )
    assert told  # What is measured, for a spinner.
