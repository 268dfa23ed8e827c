"""Object stores, and the folders of a pod that stand for them.

Kubeflow's launcher brings input artifacts to a folder of the pod, ``/s3/bucket/...``
for ``s3://bucket/...``, and takes outputs from there. It does not move the click log,
pushed versions and the pointer to the blessed model: those are read and written in the
store itself, by ``data.paths``.
"""

import os
from typing import Any

from data.file_systems.s3 import S3_SCHEMES

# Above the launcher's folders; the root of the disk, but for a launcher in a test.
_BASE = os.environ.get("CTR_LAUNCHER_BASE", "/")
# Where the launcher keeps what lies in a store.
MOUNTS = {
    f"{store}://": os.path.join(_BASE, folder, "")
    for store, folder in (("gs", "gcs"), ("s3", "s3"), ("minio", "minio"))
}


def needs_arrow(uri: str) -> bool:
    """Whether TensorFlow has no file system for a URI."""
    return uri.startswith(S3_SCHEMES)


def to_local(value: Any) -> Any:
    """Replaces stores by folders in every text of a JSON value."""
    return _replaced(value, MOUNTS)


def to_remote(value: Any) -> Any:
    """Replaces folders by stores in every text of a JSON value; undoes ``to_local``."""
    return _replaced(value, {folder: store for store, folder in MOUNTS.items()})


def _replaced(value: Any, prefixes: dict[str, str]) -> Any:
    """The value with the starts of its texts replaced."""
    if isinstance(value, dict):
        return {key: _replaced(item, prefixes) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, prefixes) for item in value]
    if isinstance(value, str):
        for old, new in prefixes.items():
            if value.startswith(old):
                return new + value[len(old) :]
    return value
