"""Levels and limits as a user writes them."""

import pytest

from components.data_checks.config import DataChecksConfig
from data.errors import ConfigError
from data.settings import parse


def test_a_level_alone_keeps_the_limit_of_its_check():
    config = parse(DataChecksConfig, {"drift": {"level": "fail"}}, "f")
    assert config.drift.level == "fail"
    assert config.drift.limit == DataChecksConfig().drift.limit


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ({"drifft": {}}, "drifft: unknown key 'drifft'. Did you mean 'drift'?"),
        ({"skew": {"levle": "off"}}, "Did you mean 'level'?"),
        (
            {"leakage": {"level": "stop"}},
            "leakage.level: must be one of off, warn, fail",
        ),
        ({"unseen": {"limit": 1.5}}, "unseen.limit: must be <= 1, got 1.5"),
        ({"leakage": {"limit": 0.4}}, "leakage.limit: must be >= 0.5, got 0.4"),
    ],
)
def test_faults_name_their_place_and_the_nearest_key(content, line):
    with pytest.raises(ConfigError) as caught:
        parse(DataChecksConfig, content, "f")
    assert line in str(caught.value)


@pytest.mark.parametrize(
    ("level", "told_apart", "expected"),
    [(None, True, "fail"), (None, False, "warn"), ("warn", True, "warn")],
)
def test_overlap_fails_by_itself_only_where_rows_are_told_apart(
    level, told_apart, expected
):
    config = DataChecksConfig.model_validate({"overlap": {"level": level}})
    assert config.overlap.rule(told_apart).level == expected
