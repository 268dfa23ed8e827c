"""A baseline that the rows no longer fit is named, with the columns and the way on."""

from pathlib import Path

import pytest

from data.errors import DataError

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A SavedModel that takes ``device`` as text and ``unit-price`` as a number."""
    import tensorflow as tf

    folder = tmp_path_factory.mktemp("model")
    specs = {
        "device": tf.TensorSpec([None], tf.string, name="device"),
        "unit_price": tf.TensorSpec([None], tf.float32, name="unit_price"),
    }
    module = tf.Module()
    module.predict = tf.function(
        lambda tensors: {"prediction": tensors["unit_price"]}, input_signature=[specs]
    )
    tf.saved_model.save(module, str(folder), {"named_tensors": module.predict})
    return str(folder)


def test_rows_with_all_columns_and_more_fit(model: str) -> None:
    from components.baseline_columns import check_baseline

    check_baseline(model, {"device": "bytes", "unit-price": "float", "new": "int64"})


def test_a_column_of_that_very_name_goes_before_a_changed_one(model: str) -> None:
    from components.baseline_columns import check_baseline

    others = {"unit_price": "float", "unit-price": "bytes"}
    check_baseline(model, {"device": "bytes"} | others)


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"unit-price": "float"}, r"another type: device \(bytes\); "),
        (
            {"device": "bytes", "unit-price": "bytes"},
            r"another type: unit_price \(float\); ",
        ),
        ({}, r"another type: device \(bytes\), unit_price \(float\); "),
    ],
)
def test_absent_and_changed_columns_are_named(
    model: str, columns: dict[str, str], named: str
) -> None:
    from components.baseline_columns import check_baseline

    with pytest.raises(DataError, match=named) as raised:
        check_baseline(model, columns)
    assert str(raised.value).startswith(f"baseline {model}: ")
    assert "ctr run --without-baseline" in str(raised.value)


def test_a_baseline_whose_folder_is_gone_is_named(tmp_path: Path) -> None:
    from components.baseline_columns import check_baseline

    with pytest.raises(DataError, match="no SavedModel here any more; leave it out"):
        check_baseline(str(tmp_path / "gone"), {})


def test_the_evaluator_refuses_a_baseline_for_the_rows_it_gets(model: str) -> None:
    import pyarrow as pa
    import tensorflow_model_analysis as tfma
    from tfx_bsl.tfxio import tensor_adapter

    from components.evaluation import eval_config
    from components.extractors import custom_extractors

    config = eval_config(label_key="click", baseline=True)
    models = [
        tfma.default_eval_shared_model(model, eval_config=config, model_name=name)
        for name in ("candidate", "baseline")
    ]
    text, numbers = pa.large_list(pa.large_binary()), pa.large_list(pa.float32())
    rows = pa.schema([("device", text), ("unit-price", numbers), ("click", numbers)])
    fitting, other = (
        tensor_adapter.TensorAdapterConfig(schema, {})
        for schema in (rows, rows.remove(0))
    )
    custom_extractors(models, config, fitting)
    with pytest.raises(DataError, match=r"device \(bytes\)"):
        custom_extractors(models, config, other)
