"""``ctr evaluate`` on files of every format."""

import json
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from data.errors import CtrError
from data.examples import encode
from data.records import frame_all
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
    # Both users lie 0.5 off the mean of 0.5; of rows 2 each: e = 2 (+-0.5) / 4, twice,
    # and with n = 2 effective users the sum of squares is doubled: 2 * 2 / 16.
    gauc = first["metrics"]["gauc"]
    assert (gauc["value"], gauc["ci95"], gauc["reason"]) == (0.5, None, None)
    assert gauc["standard_error"] == pytest.approx(0.5)
    assert gauc["effective_users"] == pytest.approx(2)
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


@pytest.mark.parametrize("role", ["label", "weight", "baseline", "reference"])
def test_ids_of_users_are_never_read_as_numbers(tmp_path, role):
    path = text_file(tmp_path / "p.csv", [("id-17", *ROWS[0][1:])])
    columns = {"label": "label", "prediction": "p", "user": "user", role: "user"}
    given = [part for name in columns for part in (f"--{name}", columns[name])]
    gates = tmp_path / "gates.yaml"
    gates.write_text("reference:\n  auc: {min_change: 0}\n")
    given += ["--gates", gates] if role == "reference" else []
    assert refusal(path, *map(str, given)) == (
        f"--user, --{role}: both name the column 'user'; name another"
    )


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


def vector_file(path, vector):
    """A vector's rows as CSV (numbers in full), Parquet or TFRecord by suffix."""
    columns = {
        "user": [str(one) for one in vector["users"]],
        "label": vector["labels"],
        "p": [float(one) for one in vector["preds"]],
        "w": [float(one) for one in vector["weights"] or [1.0] * len(vector["users"])],
    }
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
        return path
    lines = [",".join(columns)]
    for row in zip(*columns.values(), strict=True):
        lines.append(
            ",".join(one if isinstance(one, str) else repr(one) for one in row)
        )
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_shared_vectors_through_the_command(tmp_path, shared_dir, suffix):
    text = (shared_dir / "vectors/gauc_vectors.json").read_text("utf-8")
    for vector in json.loads(text)["vectors"]:
        path = vector_file(tmp_path / f"{vector['id']}.{suffix}", vector)
        weight = ("--weight", "w") if vector["weights"] else ()
        expected = vector["expected"]
        if expected["policy"] == "refuse":
            assert "data row" in refusal(path, *COLUMNS, *weight)
            continue
        wanted = {
            "impressions": "gauc_by_rows",
            "clicks": "gauc_by_clicks",
            "users": "gauc_by_users",
        }
        for user_weight, name in wanted.items():
            if suffix == "csv" and user_weight != "impressions":
                continue  # reading is what differs by format
            (overall,) = run_json(path, "--user-weight", user_weight)["slices"]
            check(overall["metrics"]["gauc"], expected[name], vector["id"])
        check(overall["metrics"]["auc"], expected["auc_pooled"], vector["id"])
        check(overall["metrics"]["pcop"], expected["pcop_unweighted"], vector["id"])
        (weighted,) = run_json(path, "--weight", "w")["slices"]
        value = expected["gauc_weighted_auc_by_weight_sum"]
        check(weighted["metrics"]["gauc"], value, vector["id"])
        check(weighted["metrics"]["pcop"], expected["pcop_weighted"], vector["id"])


def check(metric, expected, place):
    """The value to 1e-9, or null with a reason."""
    if expected is None:
        assert metric["value"] is None, place
        assert metric["reason"], place
    else:
        assert metric["value"] == pytest.approx(expected, rel=1e-9, abs=1e-12), place


def test_the_same_rows_in_any_order_give_the_same_bytes(tmp_path):
    rng = np.random.default_rng(5)
    rows = [
        (
            f"u{rng.zipf(1.5) % 40}",
            int(rng.random() < 0.3),
            repr(float(rng.choice([0.1, 0.25, rng.random()]))),
            repr(float(rng.random())),
            repr(float(rng.exponential())),
            rng.choice(["ios", "web", ""]),
            rng.integers(0, 3),
        )
        for _ in range(400)
    ]
    outputs = set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(rows))
        path = text_file(tmp_path / f"{seed}.csv", [rows[at] for at in order])
        arguments = ["--baseline", "base", "--weight", "w", "--slice", "device,hour"]
        outputs.add(call(path, *COLUMNS, *arguments, "--json").stdout)
    assert len(outputs) == 1


def test_top_slices_show_the_largest_and_small_slices_are_left_out(tmp_path):
    rows = [("u", at % 2, 0.5, 0.5, 1, item, 1) for at, item in enumerate("aaabbbcd")]
    path = text_file(tmp_path / "p.csv", rows)
    tops = run_json(path, "--top-slices", "device:2")["slices"]
    assert [one["slice"] for one in tops] == [{}, {"device": "a"}, {"device": "b"}]
    large = run_json(path, "--slice", "device", "--min-slice-rows", "3")["slices"]
    assert [one["slice"] for one in large] == [{}, {"device": "a"}, {"device": "b"}]
    message = refusal(path, *COLUMNS, "--top-slices", "device")
    assert "must be a column and a count" in message


def parquet_of(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def plain_columns(count):
    return {"label": [1, 0] * (count // 2), "p": [0.5, 0.25] * (count // 2)}


def test_a_user_id_or_slice_value_that_is_no_number_is_missing(tmp_path):
    nan = float("nan")
    path = parquet_of(
        tmp_path / "p.parquet", user=[1.0, 1.0, nan, nan], **plain_columns(4)
    )
    slices = run_json(path, "--slice", "user")["slices"]
    overall = slices[0]
    assert (overall["users"], overall["rows_without_user"]) == (1, 2)
    assert [one["slice"]["user"] for one in slices[1:]] == [1.0, "(missing)"]


@pytest.mark.parametrize(
    ("values", "kind", "shown"),
    [
        ([0, 1], pa.date32(), ["1970-01-01", "1970-01-02"]),
        ([True, False], pa.bool_(), ["false", "true"]),
        (["1.50", "2.25"], pa.decimal128(5, 2), ["1.50", "2.25"]),
    ],
)
def test_dates_decimals_and_booleans_slice_as_text(tmp_path, values, kind, shown):
    from decimal import Decimal

    if pa.types.is_decimal(kind):
        values = [Decimal(one) for one in values]
    device = pa.array(values, kind)
    path = parquet_of(
        tmp_path / "p.parquet", user=["a", "a"], device=device, **plain_columns(2)
    )
    slices = run_json(path, "--slice", "device")["slices"][1:]
    assert [one["slice"]["device"] for one in slices] == shown


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--slice", [{"a": 1}, {"a": 2}], "'x' has the type struct.* need text"),
        ("--weight", [[[1]], [[2]]], "'x' has the type list.*; must be numbers"),
    ],
)
def test_columns_of_other_types_are_refused(tmp_path, option, value, message):
    path = parquet_of(
        tmp_path / "p.parquet", user=["a", "a"], x=value, **plain_columns(2)
    )
    assert re.search(message, refusal(path, *COLUMNS, option, "x"))


def test_a_value_that_reads_as_missing_stays_apart_from_no_value(tmp_path):
    rows = [
        ("u", at % 2, 0.5, 0.5, 1, one, 1) for at, one in enumerate(["(missing)", ""])
    ]
    path = text_file(tmp_path / "p.csv", rows)
    slices = run_json(path, "--slice", "device")["slices"][1:]
    assert {one["slice"]["device"]: one["rows"] for one in slices} == {
        '"(missing)"': 1,
        "(missing)": 1,
    }


def test_the_row_of_a_bad_reference_is_counted_with_rows_of_weight_zero(tmp_path):
    rows = [("u", 1, 0.5, 0.5, 0, "a", 1), ("u", 0, 0.5, "nan", 1, "a", 1)]
    path = text_file(tmp_path / "p.csv", rows)
    gates = tmp_path / "gates.yaml"
    gates.write_text("{reference: {gauc: {non_inferior: 0.1}}}")
    arguments = ["--weight", "w", "--reference", "base", "--gates", str(gates)]
    message = refusal(path, *COLUMNS, *arguments)
    assert message.startswith("data row 2: reference prediction must be a finite")


def test_all_weights_zero_leave_one_slice_without_values(tmp_path):
    rows = [("u", at % 2, 0.5, 0.5, 0, "a", 1) for at in range(2)]
    path = text_file(tmp_path / "p.csv", rows)
    (only,) = run_json(path, "--weight", "w", "--slice", "device")["slices"]
    assert only["metrics"]["pcop"]["reason"] == "no rows of positive weight"


@pytest.mark.parametrize(
    ("gates", "arguments", "message"),
    [
        (
            "slices: [{slice: [device], metrics: {pcop: {min: 0.5}}}]",
            ["--top-slices", "device:1"],
            r"slices\[0\].slice: \['device'\] is not measured; add --slice device",
        ),
        ("reference: {gauc: {non_inferior: 0.1}}", [], "there are no --reference"),
        (
            "overall: {gauc: {min: 0.1}}",
            ["--reference", "base"],
            "there are no reference gates",
        ),
    ],
)
def test_gates_that_could_not_be_judged_are_refused(
    tmp_path, gates, arguments, message
):
    path = text_file(tmp_path / "p.csv")
    file = tmp_path / "gates.yaml"
    file.write_text(gates)
    found = refusal(path, *COLUMNS, "--gates", str(file), *arguments)
    assert re.search(message, found)


def test_slices_too_small_to_show_are_judged_all_the_same(tmp_path):
    rows = [(f"u{at}", at % 2, 0.9, 0.5, 1, "a" if at else "b", 1) for at in range(9)]
    path = text_file(tmp_path / "p.csv", rows)
    file = tmp_path / "gates.yaml"
    file.write_text(
        "slices: [{slice: [device], metrics: {ece: {max: 0.5}}, min_clicks: 0}]"
    )
    arguments = [*COLUMNS, "--slice", "device", "--min-slice-rows", "5", "--json"]
    outcome = CliRunner().invoke(
        evaluate, ["--predictions", str(path), *arguments, "--gates", str(file)]
    )
    content = json.loads(outcome.stdout)
    assert [one["slice"] for one in content["slices"]] == [{}, {"device": "a"}]
    judged = [one["slice"] for one in content["verdict"]["checks"]]
    assert judged == [{"device": "a"}, {"device": "b"}]


def test_a_feature_that_a_tfrecord_file_lacks_is_refused_with_the_nearest(tmp_path):
    path = tmp_path / "p.tfrecord"
    columns = {"user": ["a", "b"], **plain_columns(2)}
    path.write_bytes(frame_all(encode(pa.RecordBatch.from_pydict(columns))))
    assert "Did you mean 'user'?" in refusal(path, *COLUMNS[:-1], "usr")


def test_remote_files_are_refused(tmp_path):
    assert "must be a local file" in refusal("gs://bucket/p.csv")
