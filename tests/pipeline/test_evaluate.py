"""``ctr evaluate`` on files of every format."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from data.errors import CtrError
from pipeline.cli.evaluate import evaluate

HEADER = ["user", "label", "p", "base", "w", "device", "hour"]
ROWS = [
    ("7", 1, 0.9, 0.2, 1, "ios", 1),
    ("7", 0, 0.1, 0.1, 2, "ios", 2),
    ("007", 1, 0.2, 0.4, 1, "web", 1),
    ("007", 0, 0.3, 0.3, 1, "", 1),
    ("", 1, 0.5, 0.5, 1, "web", 2),
]
COLUMNS = ["--label", "label", "--prediction", "p", "--user", "user"]


def text_file(path, rows=ROWS, delimiter=",", header=HEADER):
    lines = [delimiter.join(map(str, row)) for row in [header, *rows]]
    path.write_text("\n".join(lines) + "\n")
    return path


def parquet_file(path):
    columns = dict(zip(HEADER, map(list, zip(*ROWS, strict=True)), strict=True))
    columns["user"] = [one or None for one in columns["user"]]
    pq.write_table(pa.table(columns), path)
    return path


def call(path, *arguments):
    outcome = CliRunner().invoke(evaluate, ["--predictions", str(path), *arguments])
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    assert outcome.exit_code == 0, outcome.output
    return outcome


def run_json(path, *arguments):
    return json.loads(call(path, *COLUMNS, *arguments, "--json").stdout)


def refusal(path, *arguments):
    with pytest.raises(CtrError) as caught:
        call(path, *(arguments or COLUMNS))
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_json_has_the_documented_shape(tmp_path):
    content = run_json(text_file(tmp_path / "p.csv"), "--slice", "device")
    first, *others = content["slices"]
    assert first["slice"] == {}
    # "7" and "007" are two users: AUC 1 and 0, two rows each; "" is no user.
    assert (first["rows"], first["clicks"], first["users"]) == (5, 3, 2)
    assert first["users_scored"] == 2
    assert first["metrics"]["gauc"] == {"value": 0.5, "ci95": None, "reason": None}
    assert first["metrics"]["pcop"]["value"] == pytest.approx(2.0 / 3)
    assert set(first["metrics"]) == {
        "gauc",
        "pcop",
        "auc",
        "log_loss",
        "normalized_entropy",
        "ece",
        "pr_auc",
        "abs_log_pcop",
    }
    assert [one["slice"] for one in others] == [
        {"device": "(missing)"},
        {"device": "ios"},
        {"device": "web"},
    ]
    assert others[0]["metrics"]["gauc"] == {
        "value": None,
        "ci95": None,
        "reason": "no clicks",
    }
    assert "delta" not in first


def test_all_formats_give_the_same(tmp_path):
    arguments = ("--weight", "w", "--baseline", "base", "--slice", "device")
    reference = run_json(text_file(tmp_path / "p.csv"), *arguments)
    tsv = text_file(tmp_path / "p.tsv", delimiter="\t")
    assert run_json(tsv, *arguments) == reference
    assert run_json(parquet_file(tmp_path / "p.parquet"), *arguments) == reference


@pytest.mark.engine
@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_tfrecord_of_examples(tmp_path, compression):
    tf = pytest.importorskip("tensorflow")
    path = tmp_path / "p.tfrecord"
    with tf.io.TFRecordWriter(str(path), options=compression) as writer:
        for user, label, p, *_, device, hour in ROWS:
            example = tf.train.Example()
            features = example.features.feature
            if user:
                features["user"].bytes_list.value.append(user.encode())
            features["label"].int64_list.value.append(label)
            features["p"].float_list.value.append(p)
            features["hour"].int64_list.value.append(hour)
            if device:
                features["device"].bytes_list.value.append(device.encode())
            writer.write(example.SerializeToString())
    arguments = ("--slice", "device", "--slice", "hour")
    found = run_json(path, *arguments)
    reference = run_json(parquet_file(tmp_path / "p.parquet"), *arguments)
    for one, other in zip(found["slices"], reference["slices"], strict=True):
        assert one["slice"] == other["slice"]
        for name, metric in one["metrics"].items():
            # tf.Example holds float32.
            expected = other["metrics"][name]
            assert metric["reason"] == expected["reason"]
            assert metric["value"] == pytest.approx(expected["value"], abs=1e-6)


def test_baseline_gives_deltas(tmp_path):
    content = run_json(text_file(tmp_path / "p.csv"), "--baseline", "base")
    first = content["slices"][0]
    # The baseline ranks both users right: 0.5 - 1.
    assert first["delta"]["gauc"]["value"] == -0.5
    assert first["delta"]["pcop"]["value"] == pytest.approx((2.0 - 1.5) / 3)


def test_commas_cross_columns_in_any_order(tmp_path):
    path = text_file(tmp_path / "p.csv")
    one = run_json(path, "--slice", "device,hour")
    assert one == run_json(path, "--slice", "hour,device")
    assert [entry["rows"] for entry in one["slices"]] == [5, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("user_weight", "expected"),
    # User 7 (weights 1, 2): AUC 1; user 007 (1, 1): AUC 0.
    [(None, 3 / 5), ("weight", 3 / 5), ("impressions", 0.5), ("clicks", 0.5)],
)
def test_user_weights(tmp_path, user_weight, expected):
    arguments = ["--weight", "w"]
    arguments += ["--user-weight", user_weight] if user_weight else []
    content = run_json(text_file(tmp_path / "p.csv"), *arguments)
    assert content["slices"][0]["metrics"]["gauc"]["value"] == pytest.approx(expected)


def test_without_user_gauc_is_undefined(tmp_path):
    path = text_file(tmp_path / "p.csv")
    content = json.loads(call(path, *COLUMNS[:4], "--json").stdout)
    gauc = content["slices"][0]["metrics"]["gauc"]
    assert (gauc["value"], gauc["reason"]) == (None, "no user id declared")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("u", 2, 0.5), "data row 6: label must be 0 or 1, got 2.0"),
        (("u", "yes", 0.5), "data row 6: label must be a number, got 'yes'"),
        (("u", 1, "nan"), "data row 6: prediction must be a finite number, got nan"),
        (("u", 1, "-inf"), "data row 6: prediction must be a finite number, got -inf"),
        (("u", 1, ""), "data row 6: prediction must be a number"),
    ],
)
def test_bad_values_are_refused_in_one_line(tmp_path, row, message):
    rows = [one[:3] for one in ROWS] + [row]
    path = text_file(tmp_path / "p.csv", rows, header=HEADER[:3])
    assert message in refusal(path)


def test_bad_weights_are_refused(tmp_path):
    path = text_file(tmp_path / "p.csv", [(*ROWS[0][:4], -1, "ios", 1)])
    message = refusal(path, *COLUMNS, "--weight", "w")
    assert message == "data row 1: weight must be a finite number >= 0, got -1.0"


def test_unknown_columns_name_the_nearest(tmp_path):
    for path in (text_file(tmp_path / "p.csv"), parquet_file(tmp_path / "p.parquet")):
        message = refusal(path, "--label", "lable", "--prediction", "p")
        assert message.startswith("--label: no column 'lable'")
        assert message.endswith("Did you mean 'label'?")


def test_unknown_files_and_formats(tmp_path):
    assert "No such file" in refusal(tmp_path / "absent.csv")
    odd = tmp_path / "p.xyz"
    odd.write_text("user,label,p\n")
    assert "format not recognised" in refusal(odd)


def test_user_weight_weight_needs_weights(tmp_path):
    message = refusal(
        text_file(tmp_path / "p.csv"), *COLUMNS, "--user-weight", "weight"
    )
    assert "--weight" in message


def test_scores_outside_the_unit_interval_are_warned_of(tmp_path):
    path = text_file(
        tmp_path / "p.csv", [("a", 1, 3.2), ("a", 0, -1)], header=HEADER[:3]
    )
    outcome = call(path, *COLUMNS)
    assert "2 predictions lie outside [0, 1]" in outcome.stderr


def test_gates_decide_the_exit_code(tmp_path):
    path = text_file(tmp_path / "p.csv")
    gates = tmp_path / "gates.yaml"
    gates.write_text("overall:\n  gauc: {min: 0.4}\n")
    content = run_json(path, "--gates", str(gates))
    assert content["verdict"]["blessed"] is True
    gates.write_text("overall:\n  gauc: {min: 0.6}\n")
    with pytest.raises(CtrError, match="1 failed") as caught:
        call(path, *COLUMNS, "--json", "--gates", str(gates))
    assert caught.value.exit_code == 1


def test_row_order_does_not_change_a_byte(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        (f"u{rng.integers(0, 9)}", int(rng.random() < 0.3), round(rng.random(), 2))
        for _ in range(300)
    ]
    first = call(
        text_file(tmp_path / "1.csv", rows, header=HEADER[:3]), *COLUMNS, "--json"
    )
    rng.shuffle(rows)
    second = call(
        text_file(tmp_path / "2.csv", rows, header=HEADER[:3]), *COLUMNS, "--json"
    )
    assert first.stdout == second.stdout


def test_csv_and_parquet_import_no_tensorflow(tmp_path):
    path = parquet_file(tmp_path / "p.parquet")
    code = (
        "import sys\n"
        "from pipeline.cli.evaluate import evaluate\n"
        f"evaluate(['--predictions', {str(path)!r}, *{COLUMNS!r}, '--json'],"
        " standalone_mode=False)\n"
        "heavy = {'tensorflow', 'apache_beam', 'tfx'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
