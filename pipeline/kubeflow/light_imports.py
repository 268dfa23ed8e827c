"""TFX's container entry point without the libraries of other components.

``import tfx`` is cheap; its packages are not. ``tfx.components`` imports every component
that there is, the types and the entry point import TensorFlow Model Analysis for one
name each, and ``kfp`` brings its client. A container runs one component, so this puts
small stand-ins in their places while the entry point is imported.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

_ENTRY_POINT = "tfx.orchestration.kubeflow.v2.container.kubeflow_v2_run_executor"
_EVALUATOR = "tfx.components.evaluator.executor"
_TFMA = "tensorflow_model_analysis"


def tfx_entry_point(executor_class_path: str) -> Any:
    """Imports TFX's entry point for one component.

    Args:
        executor_class_path: the component's executor.

    Returns:
        The module ``kubeflow_v2_run_executor``.
    """
    # kfp's own switch for code in containers: no client, no compiler.
    os.environ.setdefault("_KFP_RUNTIME", "true")
    if executor_class_path.startswith(f"{_EVALUATOR}."):
        # Also needs what TFX adds to TFMA when it imports all of its components.
        return importlib.import_module(_ENTRY_POINT)
    _install(_package("tfx.components"))
    # The entry point only asks whether an executor is an Evaluator's.
    evaluator: Any = ModuleType(_EVALUATOR)
    evaluator.Executor = type("NoExecutor", (), {})
    _install(evaluator)
    with _without_tfma():
        return importlib.import_module(_ENTRY_POINT)


@contextmanager
def _without_tfma() -> Iterator[None]:
    """Lets TFX's types find ``EvalConfig`` in TFMA without importing the rest."""
    if _TFMA in sys.modules:
        yield
        return
    package: Any = _package(_TFMA)
    _install(package)
    # The proto refers to it and relies on others to import it.
    importlib.import_module("google.protobuf.wrappers_pb2")
    package.sdk = ModuleType(f"{_TFMA}.sdk")
    package.sdk.EvalConfig = importlib.import_module(
        f"{_TFMA}.proto.config_pb2"
    ).EvalConfig
    _install(package.sdk)
    try:
        yield
    finally:
        # Who needs TFMA gets all of it. Its protos stay: a file of protos can be
        # registered once.
        del sys.modules[f"{_TFMA}.sdk"], sys.modules[_TFMA]


def _package(name: str) -> ModuleType:
    """A package whose modules can be imported while its own code does not run."""
    top, _, below = name.partition(".")
    spec = importlib.util.find_spec(top)
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent.joinpath(*below.split(".") if below else ())
    package = ModuleType(name)
    package.__path__ = [str(folder)]
    return package


def _install(module: ModuleType) -> None:
    """Makes a module the one of its name, unless that is imported already."""
    sys.modules.setdefault(module.__name__, module)
