"""Keeps ML Metadata's blessings in step with what a roll-back withdrew.

The next run compares its candidate with the latest blessed model. A model that was
withdrawn from serving must not be that baseline, so its blessing is taken back; it is
given again when a later roll-back returns to the model.
"""

from collections.abc import Set
from pathlib import Path

from ml_metadata.proto import metadata_store_pb2 as pb
from tfx.utils import path_utils

from components.withdrawals import tree_digest
from pipeline.metadata_store import open_store

# Custom properties: TFX's own, and ours, which tells why there is no blessing.
_BLESSED = "blessed"
_WITHDRAWN = "withdrawn"


def follow_withdrawals(database: Path, withdrawn: Set[str]) -> int:
    """Takes blessings back from withdrawn models, and returns those of others.

    A run does this before it looks for its baseline, so a roll-back needs the serving
    folder only, and never waits for a run. Models are told by their bytes: a push that
    was killed at its very end is served, but not recorded.

    Args:
        database: SQLite file of ML Metadata; nothing is done where there is none.
        withdrawn: digests of the models that are withdrawn now.

    Returns:
        How many blessings changed.

    Raises:
        DataError: the file is no database of ML Metadata, or damaged.
    """
    if not database.exists():
        return 0
    store = open_store(database)
    changed = [
        blessing
        for blessing in store.get_artifacts_by_type("ModelBlessing")
        if _was_blessed(blessing)
        # Without withdrawn models none has to be read.
        and _follow(
            blessing, bool(withdrawn) and tree_digest(_model(blessing)) in withdrawn
        )
    ]
    store.put_artifacts(changed)
    return len(changed)


def latest_blessed(database: Path) -> str | None:
    """The model that the next candidate is compared with, as TFX's resolver finds it.

    Args:
        database: SQLite file of ML Metadata.

    Returns:
        SavedModel directory; None if no model is blessed.

    Raises:
        DataError: the file is no database of ML Metadata, or damaged.
    """
    if not database.exists():
        return None
    models = {
        one.custom_properties["current_model_id"].int_value: _model(one)
        for one in open_store(database).get_artifacts_by_type("ModelBlessing")
        if one.custom_properties[_BLESSED].int_value == 1
    }
    return models[max(models)] if models else None


def _was_blessed(blessing: pb.Artifact) -> bool:
    """True for the blessing of a model that passed its gates."""
    return any(
        blessing.custom_properties[name].int_value == 1
        for name in (_BLESSED, _WITHDRAWN)
    )


def _model(blessing: pb.Artifact) -> str:
    """SavedModel directory of the model that was judged."""
    uri = blessing.custom_properties["current_model"].string_value
    return str(path_utils.serving_model_path(uri))


def _follow(blessing: pb.Artifact, is_withdrawn: bool) -> bool:
    """Sets the blessing; true if that changed it."""
    was_withdrawn = blessing.custom_properties[_WITHDRAWN].int_value == 1
    if was_withdrawn == is_withdrawn:
        return False
    blessing.custom_properties[_BLESSED].int_value = int(not is_withdrawn)
    blessing.custom_properties[_WITHDRAWN].int_value = int(is_withdrawn)
    return True
