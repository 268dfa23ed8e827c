"""A container imports what its component needs; the rest stays whole for who needs it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.engine

EVALUATOR = "tfx.components.evaluator.executor.Executor"
LIGHT = "components.pusher.Executor"
START = """
import sys
from pipeline.kubeflow.light_imports import tfx_entry_point
entry = tfx_entry_point({path!r})
assert callable(entry.main)
"""


def python(code, path):
    """What a new process prints."""
    return subprocess.run(
        [sys.executable, "-c", START.format(path=path) + code],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


def test_a_pusher_is_spared_the_evaluators_libraries():
    names = ("tensorflow_model_analysis", "tensorflow_transform", "kfp.client")
    code = f"print(*[name for name in {names} if name in sys.modules])"
    assert python(code, LIGHT) == []


def test_the_library_of_the_evaluator_is_whole_when_it_is_wanted():
    code = """
import tensorflow_model_analysis as tfma
from tensorflow_model_analysis.proto import config_pb2
from tfx.types import standard_component_specs as specs
print(specs.tfma.EvalConfig is config_pb2.EvalConfig, callable(tfma.run_model_analysis))
"""
    assert python(code, LIGHT) == ["True", "True"]


def test_the_evaluator_gets_its_own():
    code = """
import tensorflow_model_analysis as tfma
from tfx.components.evaluator.executor import Executor
print(entry.evaluator_executor.Executor is Executor, callable(tfma.EvalConfig))
"""
    assert python(code, EVALUATOR) == ["True", "True"]
