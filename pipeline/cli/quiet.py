"""Keeps the start-up noise of the libraries off the terminal."""

import contextlib
import importlib.abc
import importlib.util
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


def silence() -> None:
    """Must run before TensorFlow, TFX or Beam are imported.

    Children (Beam workers) inherit the environment variables.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    warnings.filterwarnings("ignore")
    # Also errors: the libraries log each one with its traceback before they raise it,
    # and the command prints what was raised as one line.
    logging.disable(logging.CRITICAL)
    if "tensorflow" not in sys.modules:
        sys.meta_path.insert(0, _QuietImport())


class _QuietImport(importlib.abc.MetaPathFinder):
    """Drops what TensorFlow writes on stderr while it is imported.

    Its newer versions write notices then, whatever the level of logging is.
    """

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Finds TensorFlow, once, and leaves all else to others."""
        del path, target
        if fullname != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def quietly(module: ModuleType) -> None:
                with _dropped_stderr():
                    execute(module)

            spec.loader.exec_module = quietly  # type: ignore[method-assign]
        return spec


@contextlib.contextmanager
def _dropped_stderr() -> Iterator[None]:
    """Sends the process's stderr nowhere: C++ does not write through ``sys.stderr``."""
    held, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(held, 2)
        os.close(held)
        os.close(nowhere)
