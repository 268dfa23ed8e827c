"""What the replay finds out about sound and faulty models, in this process."""

import json
import math
import subprocess
import sys

import pytest

from components.serving_check import timing
from components.serving_check.replay import ROWS_FILE, Replay
from data.records import frame_all
from tests.components.serving_check.conftest import ROWS, probability


@pytest.fixture
def facts(saved, rows, tmp_path, monkeypatch):
    """Replays a model with the given faults."""
    monkeypatch.setattr(timing, "CALLS", 3)
    (tmp_path / ROWS_FILE).write_bytes(frame_all(rows))

    def run(**faults):
        return Replay(saved(**faults), tmp_path, 1e-6).run()

    return run


def faults_in(found):
    """Column, case and fault of the odd requests that went wrong."""
    requests = found["requests"]
    return {
        (one["column"], one["case"], one["fault"]) for one in requests if one["fault"]
    }


def test_a_sound_model_answers_or_refuses_everything(facts):
    found = facts()
    assert set(found["signatures"]) == {"serving_default", "named_tensors"}
    for one in found["signatures"].values():
        assert one["predictions"] == pytest.approx([probability(row) for row in ROWS])
        assert max(one["batches"].values()) <= 1e-6
        assert one["again"] == 0
        assert faults_in(one) == set()
        for latency in one["latency"].values():
            assert 0 < latency["p50_ms"] <= latency["p95_ms"] <= latency["p99_ms"]
            assert latency["calls"] == 3
    outcomes = {
        (one["column"], one["case"]): one
        for one in found["signatures"]["serving_default"]["requests"]
    }
    assert outcomes[None, "no tf.Example"]["outcome"] == "refused"
    assert outcomes[None, "random bytes"]["outcome"] == "refused"
    assert outcomes["price", "wrong type"]["outcome"] == "refused"
    # Item unseen, price 1, slot 2 known, two values of history.
    expected = 1 / (1 + math.exp(-(0 + 1.0 + 0.5 + 0.2)))
    assert outcomes["item", "unseen"]["prediction"] == pytest.approx(expected)


def test_a_number_that_is_none_for_an_unseen_value_is_a_fault(facts):
    found = facts(nan_for_unseen=True)
    for one in found["signatures"].values():
        faults = faults_in(one)
        assert ("item", "unseen", "not finite") in faults
        assert ("item", "1 MiB of text", "not finite") in faults
        assert {column for column, *_ in faults} <= {"item", None}


def test_infinity_that_reaches_the_prediction_is_a_fault(facts):
    for one in facts(infinity_passes=True)["signatures"].values():
        assert faults_in(one) == {
            ("price", "infinity", "not finite"),
            ("price", "-infinity", "not finite"),
        }


def test_rows_that_influence_each_other_are_seen(facts):
    found = facts(neighbours=1.0)["signatures"]["serving_default"]
    # Each logit moves by the sum of all prices of its batch.
    logits = [math.log(p / (1 - p)) for p in map(probability, ROWS)]
    prices = [sum(row["price"]) for row in ROWS]

    def shifted(logit, shift):
        return 1 / (1 + math.exp(-(logit + shift)))

    together = [shifted(logit, sum(prices)) for logit in logits]
    alone = [shifted(*pair) for pair in zip(logits, prices, strict=True)]
    assert found["predictions"] == pytest.approx(together)
    difference = max(abs(a - b) for a, b in zip(together, alone, strict=True))
    assert found["batches"][1] == pytest.approx(difference, rel=1e-4)
    assert any("moved its neighbours" in fault for *_, fault in faults_in(found))


def test_a_nan_in_a_small_batch_alone_is_as_far_off_as_can_be(facts):
    found = facts(nan_alone=True)
    for one in found["signatures"].values():
        assert one["batches"][1] == 1.0
        assert one["batches"][7] <= 1e-6
    # The file of the artifact is strict JSON.
    json.dumps(found, allow_nan=False)


def test_a_required_column_may_be_refused_when_every_row_has_it(facts):
    found = facts(item_required=True)["signatures"]["serving_default"]
    outcomes = {(one["column"], one["case"]): one for one in found["requests"]}
    assert outcomes["item", "missing"]["outcome"] == "refused"
    assert faults_in(found) == set()


def test_a_signature_without_a_prediction_is_passed_over(tmp_path, rows):
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="examples")])
    def embed(examples):
        return {"a": tf.strings.length(examples), "b": tf.strings.length(examples)}

    folder = str(tmp_path / "model")
    tf.saved_model.save(tf.Module(), folder, signatures={"embed": embed})
    (tmp_path / ROWS_FILE).write_bytes(frame_all(rows))
    found = Replay(folder, tmp_path, 1e-6).run()["signatures"]["embed"]
    assert found == {"skipped": "none of its outputs is a prediction"}


def test_a_model_that_cannot_be_read_is_an_error(tmp_path, rows):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(b"no graph")
    (tmp_path / ROWS_FILE).write_bytes(frame_all(rows))
    (name, text), *more = Replay(str(folder), tmp_path, 1e-6).run().items()
    assert (name, more) == ("error", [])
    assert "saved_model.pb" in text
    assert "\n" not in text


@pytest.mark.slow
def test_the_process_imports_nothing_of_what_trained_the_model():
    code = (
        "import sys, components.serving_check.replay\n"
        "names = ('tfx', 'apache_beam', 'tensorflow_model_analysis', 'pydantic',\n"
        "         'tensorflow_transform', 'models', 'pipeline')\n"
        "found = [name for name in names if name in sys.modules]\n"
        "print(found + [name for name in sys.modules if name.startswith('data.')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    # How columns are named as inputs, which clients have to know, too.
    assert done.stdout.strip() == "['data.tensor_names']"
