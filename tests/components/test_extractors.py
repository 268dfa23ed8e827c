"""TFMA on columns: exact slices, one model or two, every form of input."""

import dataclasses
import json

import apache_beam as beam
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_model_analysis as tfma
from google.protobuf import text_format
from sklearn.metrics import roc_auc_score
from tensorflow_metadata.proto.v0 import schema_pb2
from tensorflow_model_analysis.metrics import metric_types, metric_util
from tensorflow_model_analysis.proto import config_pb2
from tfx_bsl.tfxio import tf_example_record

from components.column_stage import DealUsers, code_users, slice_totals
from components.evaluation import eval_config, read_results
from components.extract_settings import read_settings
from components.extractors import custom_extractors
from components.metrics.columns import check_columns, encode_users
from components.slices import SliceSpec, slice_feature
from components.table_evaluation import evaluate_table
from data.errors import ConfigError


def example(**features):
    """A tf.Example; None and empty lists leave a feature out."""
    message = tf.train.Example()
    for name, value in features.items():
        values = value if isinstance(value, list) else [value]
        for one in values:
            if isinstance(one, bytes):
                message.features.feature[name].bytes_list.value.append(one)
            elif isinstance(one, float):
                message.features.feature[name].float_list.value.append(one)
            elif one is not None:
                message.features.feature[name].int64_list.value.append(int(one))
    return message.SerializeToString()


def loop_gauc(users, labels, scores):
    """Plain GAUC by impressions, one user after the other."""
    total = rows = 0.0
    for user in sorted({user for user in users if user is not None}):
        mine = np.array([one == user for one in users])
        if 0 < labels[mine].sum() < mine.sum():
            auc = roc_auc_score(labels[mine], scores[mine])
            total, rows = total + auc * mine.sum(), rows + mine.sum()
    return total / rows if rows else None


def make_log(count=400, seed=0):
    """Rows whose device varies inside users; some lack device or user."""
    rng = np.random.default_rng(seed)
    users = [
        None if rng.random() < 0.05 else b"u%d" % (rng.zipf(1.5) % 20)
        for _ in range(count)
    ]
    devices = [rng.choice(["ios", "web", None]) for _ in range(count)]
    scores = np.round(rng.random(count), 1).astype(np.float32).astype(float)
    labels = (rng.random(count) < 0.2 + 0.4 * scores).astype(int)
    hours = rng.integers(0, 3, count)
    return users, devices, hours, labels, scores


def evaluate(records, config, output, extractors=None):
    """Runs TFMA without a model, on predictions among the features."""
    config.model_specs[0].prediction_key = "prediction"
    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        source = tf_example_record.TFExampleBeamRecord(
            physical_format="inmem", raw_record_column_name=tfma.ARROW_INPUT_COLUMN
        )
        _ = (
            pipeline
            | beam.Create(records)
            | source.BeamSource()
            | tfma.ExtractEvaluateAndWriteResults(
                eval_config=config,
                extractors=extractors or custom_extractors(eval_config=config),
                output_path=str(output),
            )
        )


def by_slice(results):
    return {tuple(result.slice.items()): result for result in results}


@pytest.mark.engine
@pytest.mark.slow
def test_slices_inside_users_equal_a_loop_over_users(tmp_path):
    users, devices, hours, labels, scores = make_log()
    records = [
        example(
            user=user,
            device=device and device.encode(),
            hour=hour,
            label=label,
            prediction=float(score),
        )
        for user, device, hour, label, score in zip(
            users, devices, hours, labels, scores, strict=True
        )
    ]
    config = eval_config(
        label_key="label",
        user_key="user",
        slices=[["device"], ["hour", "device"]],
        buckets=5,
    )
    evaluate(records, config, tmp_path)
    results = read_results(tmp_path)
    assert results[0].slice == {}
    assert len(results) == 1 + 3 + 9
    for result in results:
        mask = np.ones(len(labels), bool)
        if "device" in result.slice:
            wanted = result.slice["device"]
            mask &= np.array([(one or "(missing)") == wanted for one in devices])
        if "hour" in result.slice:
            mask &= hours == result.slice["hour"]
        mine = [user for user, kept in zip(users, mask, strict=True) if kept]
        expected = loop_gauc(mine, labels[mask], scores[mask])
        assert result.counts.rows == mask.sum()
        assert result.counts.rows_without_user == mine.count(None)
        assert result.metrics["gauc"].value == pytest.approx(expected, abs=1e-9)
        pooled = roc_auc_score(labels[mask], scores[mask])
        assert result.metrics["auc"].value == pytest.approx(pooled, abs=1e-9)
        pcop = scores[mask].sum() / labels[mask].sum()
        assert result.metrics["pcop"].value == pytest.approx(pcop, abs=1e-9)


def table_of(users, features, labels, scores, specs):
    """The same rows through the table that `ctr evaluate` computes."""
    columns, _ = check_columns(encode_users(users), labels, scores)
    rows = np.arange(len(labels))
    coded = {
        name: slice_feature(list(values), rows, len(rows))
        for name, values in features.items()
    }
    return evaluate_table(columns, coded, specs, "impressions")


def as_json(results):
    """Results as text; curves are kept for all rows only."""
    return [
        json.dumps(
            dataclasses.replace(one, curves=None if one.slice else one.curves).to_json()
        )
        for one in results
    ]


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize("buckets", [1, 7])
def test_tfma_writes_what_the_table_computes_byte_for_byte(tmp_path, buckets):
    users, devices, hours, labels, scores = make_log(seed=3)
    items = np.random.default_rng(1).zipf(1.4, len(labels)) % 50
    columns = (users, devices, hours, items, labels, scores)
    rows = list(zip(*columns, strict=True))
    order = np.random.default_rng(buckets).permutation(len(rows))
    records = [
        example(
            user=user,
            device=device and device.encode(),
            hour=hour,
            item=item,
            label=label,
            prediction=float(score),
        )
        for user, device, hour, item, label, score in (rows[at] for at in order)
    ]
    config = eval_config(
        label_key="label",
        user_key="user",
        slices=[["device"], ["device", "hour"]],
        top_slices=[(["item"], 3)],
        buckets=buckets,
    )
    evaluate(records, config, tmp_path)
    expected = table_of(
        users,
        {"device": devices, "hour": hours.tolist(), "item": items.tolist()},
        labels,
        scores,
        [
            SliceSpec(("device",)),
            SliceSpec(("device", "hour")),
            SliceSpec(("item",), top=3),
        ],
    )
    assert as_json(read_results(tmp_path)) == as_json(expected)
    largest = sorted(-np.bincount(items))[:3]
    tops = [-one.counts.rows for one in expected if "item" in one.slice]
    assert sorted(tops) == largest


@pytest.mark.engine
@pytest.mark.slow
def test_small_slices_are_not_reported_and_plots_are(tmp_path):
    users, _, hours, labels, scores = make_log(300)
    records = [
        example(user=u, hour=int(h == 0) * k, label=y, prediction=float(p))
        for k, (u, h, y, p) in enumerate(zip(users, hours, labels, scores, strict=True))
    ]
    config = eval_config(
        label_key="label", user_key="user", slices=[["hour"]], min_slice_rows=2
    )
    evaluate(records, config, tmp_path)
    overall, only = read_results(tmp_path)
    assert only.slice == {"hour": 0}
    assert overall.field_calibration_error is None  # small values are left out
    plots = list(tfma.load_plots(str(tmp_path)))
    assert len(plots) == 2
    for of_slice in plots:
        result = only if of_slice.slice_key.single_slice_keys else overall
        (plot,) = of_slice.plot_keys_and_values
        buckets = plot.value.calibration_histogram_buckets.buckets
        weight = sum(one.num_weighted_examples.value for one in buckets)
        clicks = sum(one.total_weighted_label.value for one in buckets)
        assert weight == pytest.approx(result.counts.rows)
        assert clicks == pytest.approx(result.counts.clicks)


class QueryGauc(tfma.metrics.Metric):
    """GAUC as one would write it for TFMA's own grouping by query key."""

    def __init__(self, name="query_gauc"):
        super().__init__(metric_util.merge_per_key_computations(_query_gauc), name=name)


def _query_gauc(name="query_gauc", eval_config=None, model_name="", query_key=""):
    key = metric_types.MetricKey(name=name, model_name=model_name)
    return [
        metric_types.MetricComputation(
            keys=[key], preprocessors=None, combiner=_QueryGaucFn(key)
        )
    ]


class _QueryGaucFn(beam.CombineFn):
    def __init__(self, key):
        self._key = key

    def create_accumulator(self):
        return np.zeros(2)

    def add_input(self, accumulator, group):
        rows = [
            next(
                metric_util.to_label_prediction_example_weight(
                    one, flatten=False, require_single_example_weight=True
                )
            )
            for one in (group if isinstance(group, list) else [group])
        ]
        labels = np.concatenate([row[0].ravel() for row in rows])
        scores = np.concatenate([row[1].ravel() for row in rows])
        if 0 < labels.sum() < len(labels):
            auc = roc_auc_score(labels, scores)
            accumulator = accumulator + np.array([len(labels) * auc, len(labels)])
        return accumulator

    def merge_accumulators(self, accumulators):
        return sum(accumulators, np.zeros(2))

    def extract_output(self, accumulator):
        return {self._key: float(accumulator[0] / accumulator[1])}


@pytest.mark.engine
@pytest.mark.slow
def test_trap_of_query_key_and_its_cure(tmp_path):
    # One user: on ios the click (.9) is above the other (.1): AUC 1. On web it is
    # below: AUC 0. Over both, clicks .9 .2, others .1 .8: 3 of 4 pairs in order.
    rows = [("ios", 1, 0.9), ("ios", 0, 0.1), ("web", 1, 0.2), ("web", 0, 0.8)]
    records = [
        example(user=b"u", device=d.encode(), label=y, prediction=p) for d, y, p in rows
    ]
    metric_types.register_metric(QueryGauc)
    trap = text_format.Parse(
        """
        model_specs { label_key: "label" }
        slicing_specs { feature_keys: "device" }
        metrics_specs { metrics { class_name: "QueryGauc" } query_key: "user" }
        options { include_default_metrics { value: false } }
        """,
        config_pb2.EvalConfig(),
    )
    trap.model_specs[0].prediction_key = "prediction"
    evaluate(
        records, trap, tmp_path / "trap", tfma.default_extractors(eval_config=trap)
    )
    trapped = {
        key: metrics[""][""]["query_gauc"]["doubleValue"]
        for key, metrics in tfma.load_eval_result(
            str(tmp_path / "trap")
        ).slicing_metrics
    }
    assert trapped == {(("device", "ios"),): 0.75, (("device", "web"),): 0.75}
    config = eval_config(label_key="label", user_key="user", slices=[["device"]])
    evaluate(records, config, tmp_path / "cure")
    cured = by_slice(read_results(tmp_path / "cure"))
    assert cured[("device", "ios"),].metrics["gauc"].value == 1.0
    assert cured[("device", "web"),].metrics["gauc"].value == 0.0
    assert cured[()].metrics["gauc"].value == 0.75


def save_model(folder, slope):
    """A model of float64 probabilities: 0.5 + slope * x, of serialized examples."""

    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def serve(self, serialized):
            spec = {"x": tf.io.FixedLenFeature([], tf.float32)}
            x = tf.cast(tf.io.parse_example(serialized, spec)["x"], tf.float64)
            return {"prediction": (0.5 + slope * x)[:, None]}

    model = Model()
    tf.saved_model.save(model, str(folder), signatures={"serving_default": model.serve})


SCHEMA = """
  feature { name: "label" type: INT presence { min_fraction: 1.0 }
            shape { dim { size: 1 } } }
  feature { name: "x" type: FLOAT presence { min_fraction: 1.0 }
            shape { dim { size: 1 } } }
  feature { name: "user" type: BYTES }
  feature { name: "weight" type: FLOAT presence { min_fraction: 1.0 }
            shape { dim { size: 1 } } }
  feature { name: "tags" type: BYTES }
"""


def run_evaluator(tmp_path, records, config, with_baseline):
    """Runs the executor of TFX's Evaluator on files, as a pipeline would."""
    from tfx.components.evaluator.executor import Executor
    from tfx.types import standard_artifacts
    from tfx.utils import proto_utils

    (tmp_path / "examples/Split-eval").mkdir(parents=True)
    (tmp_path / "schema").mkdir()
    shard = tmp_path / "examples/Split-eval/data.gz"
    with tf.io.TFRecordWriter(str(shard), options="GZIP") as writer:
        for record in records:
            writer.write(record)
    text = text_format.MessageToString(text_format.Parse(SCHEMA, schema_pb2.Schema()))
    (tmp_path / "schema/schema.pbtxt").write_text(text)

    def artifact(kind, name):
        made = kind()
        made.uri = str(tmp_path / name)
        return made

    examples = artifact(standard_artifacts.Examples, "examples")
    examples.split_names = '["eval"]'
    inputs = {
        "examples": [examples],
        "schema": [artifact(standard_artifacts.Schema, "schema")],
        "model": [artifact(standard_artifacts.Model, "candidate")],
    }
    save_model(tmp_path / "candidate/Format-Serving", 0.4)
    if with_baseline:
        save_model(tmp_path / "baseline/Format-Serving", -0.2)
        inputs["baseline_model"] = [artifact(standard_artifacts.Model, "baseline")]
    outputs = {
        "evaluation": [artifact(standard_artifacts.ModelEvaluation, "evaluation")],
        "blessing": [artifact(standard_artifacts.ModelBlessing, "blessing")],
    }
    Executor(Executor.Context(beam_pipeline_args=["--runner=FnApiRunner"])).Do(
        inputs,
        outputs,
        {
            "eval_config": proto_utils.proto_to_json(config),
            "module_path": "components.extractors",
            "example_splits": json.dumps(None),
        },
    )
    return read_results(tmp_path / "evaluation")


# Two users; x of float32 whose predictions differ only beyond float32.
ROWS = [
    # user, label, x, weight, tags
    (b"a", 1, 0.5, 1.0, [b"new", b"hot"]),
    (b"a", 0, 0.25, 2.0, [b"hot"]),
    (b"a", 1, 0.125, 3.0, []),
    (b"b", 1, 1e-8, 1.0, [b"hot", b"hot"]),
    (b"b", 0, 0.0, 1.0, [b"new"]),
    (None, 1, 0.5, 1.0, [b"new"]),
]


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize("with_baseline", [True, False])
def test_tfx_evaluator_with_models(tmp_path, with_baseline):
    records = [
        example(user=u, label=y, x=x, weight=w, tags=t) for u, y, x, w, t in ROWS
    ]
    config = eval_config(
        label_key="label",
        user_key="user",
        weight_key="weight",
        slices=[["tags"]],
        baseline=True,
    )
    results = by_slice(run_evaluator(tmp_path, records, config, with_baseline))
    assert {key: result.counts.rows for key, result in results.items()} == {
        (): 6,
        (("tags", "(missing)"),): 1,
        (("tags", "hot"),): 3,
        (("tags", "new"),): 3,
    }
    overall = results[()]
    # User a: click x=.5 (w 1) above, click x=.125 (w 3) below the other (w 2):
    # 1*2 / (4*2). User b: 1e-8 above 0 in float64, a tie in float32.
    gauc = (6 * 0.25 + 2 * 1.0) / 8
    assert overall.metrics["gauc"].value == pytest.approx(gauc, abs=1e-12)
    weights = np.array([row[3] for row in ROWS])
    x = np.array([np.float32(row[2]) for row in ROWS], np.float64)
    clicks = (weights * [row[1] for row in ROWS]).sum()
    pcop = (weights * (0.5 + 0.4 * x)).sum() / clicks
    assert overall.metrics["pcop"].value == pytest.approx(pcop, abs=1e-12)
    if not with_baseline:
        assert overall.delta is None
        return
    # The baseline ranks the other way round.
    base_gauc = (6 * 0.75 + 2 * 0.0) / 8
    base_pcop = (weights * (0.5 - 0.2 * x)).sum() / clicks
    assert overall.baseline["gauc"].value == pytest.approx(base_gauc, abs=1e-12)
    assert overall.delta["gauc"].value == pytest.approx(gauc - base_gauc, abs=1e-12)
    assert overall.delta["pcop"].value == pytest.approx(pcop - base_pcop, abs=1e-12)
    assert overall.delta["abs_log_pcop"].reason == "sign unresolved"


@pytest.mark.engine
@pytest.mark.slow
def test_without_user_key_gauc_says_so(tmp_path):
    records = [example(label=i % 2, prediction=0.1 * i) for i in range(4)]
    evaluate(records, eval_config(label_key="label"), tmp_path)
    (result,) = read_results(tmp_path)
    assert result.metrics["gauc"].value is None
    assert result.metrics["gauc"].reason == "no user id declared"
    assert result.metrics["auc"].value == pytest.approx(3 / 4)
    assert result.counts.users == 0


def batch_of(**features):
    return {
        tfma.FEATURES_KEY: {"label": np.array([1, 0, 0]), **features},
        tfma.PREDICTIONS_KEY: np.array([0.9, 0.1, 0.5]),
    }


def dealt(extracts, settings):
    """Buckets and chunks that a batch is dealt to, without Beam."""
    deal = DealUsers(settings)
    deal.start_bundle()
    whole = [*deal.process(extracts)]
    return whole + [one.value for one in deal.finish_bundle()]


def slices_of(extracts, settings):
    """Slice keys and rows out of the two halves of the stage, without Beam."""
    found = {}
    for _, chunk in dealt(extracts, settings):
        for key, totals in slice_totals(code_users([chunk]), settings, {}):
            found[key] = found.get(key, 0) + totals.counts.rows
    return found


@pytest.mark.parametrize(
    "users",
    [
        np.array([2**62, 2**62 + 1, 2**62]),
        np.array([[2**62], [2**62 + 1], [2**62]]),
        np.array([2**62, 2**62 + 1, 2**62], object),
    ],
)
def test_a_user_is_in_one_bucket_whatever_the_tensor(users):
    config = eval_config(label_key="label", user_key="user", buckets=1000)
    settings = read_settings(config)
    reference = batch_of(user=np.array([2**62, 2**62 + 1, 2**62]))
    expected = [bucket for bucket, _ in dealt(reference, settings)]
    chunks = dealt(batch_of(user=users), settings)
    assert [bucket for bucket, _ in chunks] == expected
    assert sorted(len(chunk.ids) for _, chunk in chunks) == [1, 2]


def test_cross_slices_have_sorted_names_whatever_their_order():
    features = {"b": np.array([b"x", b"y", b"x"]), "a": np.array([1, 1, 2])}
    expected = {
        (): 3,
        (("a", 1), ("b", "x")): 1,
        (("a", 1), ("b", "y")): 1,
        (("a", 2), ("b", "x")): 1,
    }
    for names in (["a", "b"], ["b", "a"]):
        config = eval_config(label_key="label", slices=[names])
        assert slices_of(batch_of(**features), read_settings(config)) == expected


def test_a_feature_absent_from_the_batch_is_missing_everywhere():
    config = eval_config(label_key="label", slices=[["device"]])
    found = slices_of(batch_of(), read_settings(config))
    assert found == {(): 3, (("device", "(missing)"),): 3}


def test_settings_survive_serialisation():
    config = eval_config(label_key="label", user_key="uid", buckets=7)
    restored = config_pb2.EvalConfig.FromString(config.SerializeToString())
    settings = read_settings(restored)
    assert (settings.user_key, settings.buckets) == ("uid", 7)


def test_an_evaluation_without_our_metric_is_refused():
    with pytest.raises(ConfigError, match="no metric RankingMetrics"):
        read_settings(
            config_pb2.EvalConfig(model_specs=[config_pb2.ModelSpec(label_key="y")])
        )


def test_batches_of_rows_do_not_depend_on_how_long_they_take():
    from tfx_bsl.coders import batch_util

    from components.row_batches import batch_by_size

    batch_by_size()
    settings = batch_util.GetBatchElementsKwargs(None)
    assert settings["min_batch_size"] == settings["max_batch_size"]
    assert "target_batch_duration_secs" not in settings
