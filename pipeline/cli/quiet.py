"""Keeps the start-up noise of the libraries off the terminal."""

import logging
import os
import warnings


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
