"""Which models a roll-back went away from: a list beside the pushed versions.

Models are told by their bytes, so that a copy is the same model wherever it lies. Without
TFX, which a container that only looks for its baseline need not import.
"""

import hashlib
import json
from collections.abc import Iterable

from data import paths
from data.errors import DataError

# With a dot first: model servers look for names that are numbers.
WITHDRAWN_FILE = ".withdrawn.json"
_BLOCK = 8 << 20


def tree_digest(folder: str) -> str:
    """SHA-256 over the names and bytes of all files below a folder."""
    total = hashlib.sha256()
    for name in paths.walk(folder):
        part = hashlib.sha256()
        with paths.open_read(f"{folder}/{name}") as file:
            while block := file.read(_BLOCK):
                part.update(block)
        total.update(f"{part.hexdigest()} {name}\n".encode())
    return total.hexdigest()


def withdrawn_models(base: str) -> set[str]:
    """Digests of the models that roll-backs went away from.

    Args:
        base: the serving folder.

    Returns:
        The digests.

    Raises:
        DataError: the list cannot be read.
    """
    path = f"{base}/{WITHDRAWN_FILE}"
    if not paths.exists(path):
        return set()
    with paths.open_read(path) as file:
        content = file.read()
    try:
        listed = json.loads(content)
    except (ValueError, RecursionError):  # the latter by brackets nested too deep
        listed = None
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise DataError(
            f"{path}: not the list of withdrawn models; remove it to begin anew"
        )
    return set(listed)


def withdraw(base: str, model: str, in_favour_of: str) -> None:
    """Lists a model as withdrawn; the list is written complete or not at all.

    Args:
        base: the serving folder.
        model: digest of the model that is left.
        in_favour_of: digest of the one that is served from now on, which the list does
            not hold any more.

    Raises:
        DataError: the list cannot be read.
    """
    set_withdrawn(base, (withdrawn_models(base) | {model}) - {in_favour_of})


def set_withdrawn(base: str, models: Iterable[str]) -> None:
    """Writes the list, complete or not at all.

    Args:
        base: the serving folder.
        models: digests of all withdrawn models.
    """
    content = json.dumps(sorted(models), indent=1).encode()
    paths.write_whole(f"{base}/{WITHDRAWN_FILE}", content)
