"""Object stores, and the folders of a pod that stand for them.

Kubeflow's launcher brings input artifacts to a folder of the pod, ``/s3/bucket/...``
for ``s3://bucket/...``, and takes outputs from there. It does not move the click log,
pushed versions and the pointer to the blessed model. TensorFlow reaches those under
``gs://``; it has no file system for ``s3://`` and ``minio://``, so Arrow takes them.

Credentials and region come from the environment: ``AWS_ACCESS_KEY_ID``,
``AWS_SECRET_ACCESS_KEY``, ``AWS_DEFAULT_REGION``; ``AWS_ENDPOINT_URL`` names the server
where it is not Amazon's.
"""

import os
from typing import Any

from pyarrow import fs
from tfx.dsl.io import fileio

# Where the launcher keeps what lies in a store.
MOUNTS = {"gs://": "/gcs/", "s3://": "/s3/", "minio://": "/minio/"}
# Kubeflow's own MinIO, as its manifests set it up.
_MINIO = "http://minio-service.kubeflow:9000"


def needs_arrow(uri: str) -> bool:
    """Whether TensorFlow has no file system for a URI."""
    return uri.startswith(("s3://", "minio://"))


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


def fetch(uri: str, folder: str) -> None:
    """Copies all below a URI of a store into a local folder."""
    store, path = _store(uri)
    os.makedirs(folder, exist_ok=True)
    fs.copy_files(path, folder, source_filesystem=store)


def put(folder: str, uri: str) -> None:
    """Copies all below a local folder under a URI of a store."""
    store, path = _store(uri)
    fs.copy_files(folder, path, destination_filesystem=store)


def read_text(uri: str) -> str | None:
    """Reads a small file anywhere.

    Args:
        uri: of a store, or what TensorFlow can read.

    Returns:
        Its text, or None if there is no such file.
    """
    if not needs_arrow(uri):
        if not fileio.exists(uri):
            return None
        with fileio.open(uri, "r") as file:
            return str(file.read())
    store, path = _store(uri)
    if store.get_file_info(path).type == fs.FileType.NotFound:
        return None
    with store.open_input_stream(path) as stream:
        return str(stream.read().decode())


def write_text(uri: str, text: str) -> None:
    """Writes a small file anywhere.

    Args:
        uri: of a store, or what TensorFlow can write.
        text: the content; replaces what was there.
    """
    if not needs_arrow(uri):
        fileio.makedirs(os.path.dirname(uri))
        with fileio.open(uri, "w") as file:
            file.write(text)
        return
    store, path = _store(uri)
    with store.open_output_stream(path) as stream:
        stream.write(text.encode())


def _store(uri: str) -> tuple[Any, str]:
    """Arrow's file system for a URI, and the path in it."""
    scheme, _, path = uri.partition("://")
    endpoint = os.environ.get("AWS_ENDPOINT_URL") or (
        _MINIO if scheme == "minio" else ""
    )
    if not endpoint:
        return fs.S3FileSystem(), path
    protocol, _, host = endpoint.rpartition("://")
    return fs.S3FileSystem(endpoint_override=host, scheme=protocol or "https"), path
