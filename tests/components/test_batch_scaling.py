import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.batch_scaling import batch_scaling, part_of
from components.config import TrainConfig


@given(rows=st.integers(0, 5000), replicas=st.integers(1, 64))
def test_parts_cover_a_batch_without_overlap_and_differ_by_one_row(rows, replicas):
    borders = [part_of(rows, replica, replicas) for replica in range(replicas)]

    assert [row for first, last in borders for row in range(first, last)] == list(
        range(rows)
    )
    sizes = {last - first for first, last in borders}
    assert max(sizes) - min(sizes) <= 1


def test_the_rate_follows_the_batch_size_and_not_the_replicas():
    config = TrainConfig(batch_size=4096, base_batch_size=1024, learning_rate=0.01)

    for replicas in (1, 8):
        scaling = batch_scaling(config, replicas)
        assert scaling.peak_rate == pytest.approx(0.04)  # four times the batch
        assert scaling.replica_rows == (4096 // replicas,) * replicas
    assert batch_scaling(TrainConfig(batch_size=4096), 1).peak_rate == 0.001


def test_the_rate_rises_in_the_warm_up_and_decays_after_each_epoch():
    config = TrainConfig(learning_rate=0.8, warmup_steps=4, learning_rate_decay=0.5)
    scaling = batch_scaling(config, 1)

    rates = [scaling.rate(step, 0) for step in range(6)]
    assert rates == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8, 0.8])
    assert scaling.rate(6, 1) == pytest.approx(0.4)
    # An epoch that ends inside the warm-up: both factors hold.
    assert scaling.rate(1, 2) == pytest.approx(0.4 * 0.25)
    assert batch_scaling(TrainConfig(), 1).rate(0, 0) == 0.001


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"optimizer": "sgd", "weight_decay": 0.1}, "weight_decay: sgd has none"),
        ({"staleness": 2}, "staleness: default updates in step"),
        ({"profile_steps": (5, 2)}, r"profile_steps: \[5, 2\] is no range"),
        ({"profile_steps": (0, 2)}, r"profile_steps: \[0, 2\] is no range"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings, rule):
    with pytest.raises(ValueError, match=rule):
        TrainConfig(**settings)
