"""The pinned model that candidates are compared with besides the latest blessed one."""

import os

from tfx.dsl.component.experimental.annotations import OutputArtifact, Parameter
from tfx.dsl.component.experimental.decorators import component
from tfx.dsl.io import fileio
from tfx.types.standard_artifacts import Model
from tfx.utils import io_utils, path_constants, path_utils

from data.errors import ConfigError


@component
def ReferenceModel(model: OutputArtifact[Model], source: Parameter[str]) -> None:
    """Takes a model from outside into the run, laid out as the Evaluator wants it.

    A copy, not TFX's Importer: an imported artifact keeps the layout of its folder, and
    the Evaluator finds no model in a pushed version, which is a bare SavedModel.

    Args:
        model: receives the copy.
        source: folder of the model.
    """
    io_utils.copy_dir(
        saved_model_path(source), path_utils.serving_model_path(model.uri)
    )


def saved_model_path(source: str) -> str:
    """Finds the SavedModel in a pushed version or in a Model artifact.

    Args:
        source: local or remote folder.

    Returns:
        The folder with ``saved_model.pb``.

    Raises:
        ConfigError: there is none.
    """
    for folder in (source, os.path.join(source, path_constants.SERVING_MODEL_DIR)):
        if fileio.exists(os.path.join(folder, "saved_model.pb")):
            return folder
    raise ConfigError(
        f"evaluate.reference: {source}: no SavedModel here; name a pushed version, such "
        "as serving/1795980231, or a Model artifact of a run"
    )
