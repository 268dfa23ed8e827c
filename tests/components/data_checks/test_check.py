"""The whole check over shards, and the gate that it makes."""

import json
from pathlib import Path

import pytest

from components.data_checks.check import check_data
from components.data_checks.config import DataChecksConfig
from data.errors import DataError

FEATURES = (
    {"name": "item", "kind": "categorical", "buckets": 9},
    {"name": "price", "kind": "numeric"},
)


def rows(first, count):
    return [
        {
            "click": number % 2,
            "item": b"%d" % (number % 3),
            "price": float(number),
            "user": b"secret-%d" % number,
            "rid": b"r-%d" % number,
        }
        for number in range(first, first + count)
    ]


def check(folder, dataset, **settings):
    from tensorflow_metadata.proto.v0 import schema_pb2

    config = DataChecksConfig.model_validate(settings)
    statistics = str(Path(folder, "statistics"))
    return check_data(folder, statistics, schema_pb2.Schema(), dataset, config)


def test_equal_rows_are_found_in_and_between_shards(declare, write_log):
    dataset = declare(*FEATURES, user_id="user", request_id="rid")
    train, evaluated = rows(0, 90) + rows(0, 10), rows(100, 40) + rows(50, 10)
    result = check(write_log(dataset, train=train, eval=evaluated), dataset)
    found = {(one.check, one.place): one for one in result.findings}
    assert result.rows == 150
    assert found["duplicates", "train"].found == 10 / 100
    assert found["duplicates", "eval"].found == 0
    assert found["overlap", "eval and train"].found == 10 / 50
    assert found["request_ids", "train"].found == 10 / 100
    assert not result.passed
    assert "10 of 50 rows (20.00%) equal to a training row" in result.refusal
    assert len(result.refusal.splitlines()) == 1
    text = json.dumps(result.to_json(), allow_nan=False)
    assert "secret" not in text
    assert "r-5" not in text


def test_a_sound_log_passes_all_checks(declare, write_log):
    dataset = declare(*FEATURES, user_id="user", request_id="rid")
    splits = {"train": rows(0, 90), "validate": rows(200, 9), "eval": rows(30, 0)}
    splits["eval"] = [
        row | {"user": b"new", "rid": b"new-%d" % number}
        for number, row in enumerate(rows(0, 60))
    ]
    result = check(write_log(dataset, **splits), dataset)
    assert result.passed
    assert {one.status for one in result.findings} == {"pass", "skipped"}


def test_a_column_of_another_type_is_refused_with_its_shard(declare, write_log):
    written = declare(*FEATURES)
    number = FEATURES[1] | {"kind": "categorical", "encoding": "vocabulary"}
    folder = write_log(written, train=rows(0, 9), eval=rows(9, 9))
    with pytest.raises(DataError) as caught:
        check(folder, declare(FEATURES[0], number))
    assert "Split-train/0.gz: column 'price' holds float, expected binary" in str(
        caught.value
    )


@pytest.mark.engine
def test_the_component_stops_the_run_in_one_line(declare, write_log, tmp_path):
    from tensorflow_metadata.proto.v0 import schema_pb2
    from tfx.types import standard_artifacts

    from components.data_checks.component import DATA_CHECKS_FILE, DataChecks

    dataset = declare(*FEATURES)
    folder = write_log(dataset, train=rows(0, 90), eval=rows(0, 90))
    schema = Path(folder, "schema", "schema.pbtxt")
    schema.parent.mkdir()
    schema.write_text(str(schema_pb2.Schema()))
    artifacts = [
        standard_artifacts.Examples(),
        standard_artifacts.ExampleStatistics(),
        standard_artifacts.Schema(),
        standard_artifacts.ExampleAnomalies(),
    ]
    for name, artifact in zip(
        ("", "statistics", "schema", "checks"), artifacts, strict=True
    ):
        artifact.uri = str(Path(folder, name))

    def run(level):
        settings = {"overlap": {"level": level}}
        config = DataChecksConfig.model_validate(settings).model_dump_json()
        DataChecks.test_call(*artifacts, dataset.model_dump_json(), config)

    run("warn")
    written = json.loads(Path(folder, "checks", DATA_CHECKS_FILE).read_text())
    assert written["passed"]
    assert {"check": "overlap", "found": 1.0, "status": "warn"}.items() <= next(
        one for one in written["findings"] if one["check"] == "overlap"
    ).items()
    with pytest.raises(
        DataError, match=r"change limit or level of data_checks\.overlap$"
    ):
        run("fail")
