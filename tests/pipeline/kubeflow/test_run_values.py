"""Values of a run from the command line, judged before the server is asked."""

import pytest

from data.errors import ConfigError, UsageError
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.run_parameters import run_parameters
from pipeline.kubeflow.run_values import run_values


def declared(keys=None, **types):
    """A spec with parameters, which one component calls by other names, if any."""
    definitions = {name: {"parameterType": kind} for name, kind in types.items()}
    inputs = {
        (keys or {}).get(name, name): {"componentInputParameter": name}
        for name in definitions
    }
    task = {"inputs": {"parameters": inputs}}
    return Document(
        {
            "root": {
                "inputDefinitions": {"parameters": definitions},
                "dag": {"tasks": {"Component": task}},
            }
        }
    )


def test_parameters_get_the_types_that_the_spec_declares():
    document = declared(
        epochs="NUMBER_INTEGER",
        rate="NUMBER_DOUBLE",
        dry="BOOLEAN",
        span="STRING",
        names="LIST",
    )
    given = {"epochs": "5", "rate": "-1.5e3", "dry": "true", "span": "12"}
    assert run_values(document, given | {"names": '["a"]'}) == {
        "epochs": 5,
        "rate": -1500.0,
        "dry": True,
        "span": "12",
        "names": ["a"],
    }


def test_an_unknown_parameter_names_the_nearest():
    with pytest.raises(UsageError, match=r"--parameter epoch: .*[Dd]id you mean"):
        run_values(declared(epochs="NUMBER_INTEGER"), {"epoch": "5"})


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(("NUMBER_INTEGER", one) for one in ("x", "", "1_000", "\u0663", "1.0", " 1")),
        # A double of JSON is exact up to 2^53 = 9,007,199,254,740,992.
        ("NUMBER_INTEGER", "9007199254740993"),
        pytest.param("NUMBER_INTEGER", "9" * 5_000, id="many-digits"),
        *(("NUMBER_DOUBLE", one) for one in ("nan", "inf", "1e999", "1_0", "\u0663")),
        ("BOOLEAN", "1"),
        ("LIST", "{}"),
        ("LIST", "[NaN]"),
        pytest.param("STRUCT", "[" * 100_000, id="deep"),
    ],
)
def test_a_text_of_another_type_is_refused(kind, text):
    with pytest.raises(ConfigError, match=f"--parameter p: must be of type {kind}"):
        run_values(declared(p=kind), {"p": text})


@pytest.mark.parametrize("text", ["0", "-5"])
def test_epochs_have_the_bounds_of_the_configuration(text):
    with pytest.raises(
        ConfigError, match=f"epochs: must be .* from 1 to .*, got '{text}'"
    ):
        run_values(declared(epochs="NUMBER_INTEGER"), {"epochs": text})


def test_the_default_of_a_run_has_these_bounds_too():
    assert run_parameters(2**53, "log")["epochs"].default == 2**53
    with pytest.raises(
        ConfigError, match=r"train\.epochs: must be .* got 9007199254740993"
    ):
        run_parameters(2**53 + 1, "log")


@pytest.mark.parametrize("text", ["", "monday", "-1", "1_0", "\u0663"])
def test_a_span_is_the_latest_or_a_number(text):
    with pytest.raises(ConfigError, match="span: must be latest or a whole number"):
        run_values(declared(span="STRING"), {"span": text})
    assert run_values(declared(span="STRING"), {"span": "latest"})["span"] == "latest"


def test_a_constant_that_is_called_like_another_parameter_keeps_no_rule_of_it():
    document = declared({"span": "module_file"}, span="STRING")
    assert run_values(document, {"span": "monday"}) == {"span": "monday"}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "must be a folder, file or pattern"),
        ("s3://b/log\n", "must be a folder, file or pattern"),
        ("http://h/log", "must have no scheme or one of gs://"),
        ("s3:///log", "must have a bucket"),
        ("s3://b/../log", "must not hold '.' or '..'"),
        ("s3://b/{{$}}", "Kubeflow and Argo replace what follows"),
    ],
)
def test_the_log_is_held_to_the_rules_of_the_option(text, rule):
    document = declared({"log": "input_base"}, log="STRING")
    with pytest.raises(ConfigError, match=f"--parameter log: {rule}"):
        run_values(document, {"log": text})
    good = "s3://b/day={SPAN}/*"
    assert run_values(document, {"log": good}) == {"log": good}


def test_a_key_in_the_place_of_the_log_is_not_shown():
    document = declared(input_base="STRING")
    with pytest.raises(ConfigError, match="holds a key") as caught:
        run_values(document, {"input_base": "s3://KEY:hush@bucket/log"})
    assert "hush" not in str(caught.value)


def test_no_text_holds_a_placeholder():
    with pytest.raises(ConfigError, match="--parameter p: Kubeflow and Argo replace"):
        run_values(declared(p="STRUCT"), {"p": '{"a": "{{workflow.name}}"}'})
