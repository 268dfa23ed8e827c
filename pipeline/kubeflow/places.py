"""Places that a cluster reads and writes; functions return the broken rule or None.

Rules and errors never repeat a place that may hold a key: ``s3://KEY:SECRET@bucket``.
"""

import re
from collections.abc import Sequence

STORES = ("gs://", "s3://", "minio://")
# What `data.paths` reaches besides; a log on a volume has no scheme.
_SOURCES = (*STORES, "hdfs://", "file://")
_BUCKET = re.compile(r"[a-z0-9]([-_.a-z0-9]*[a-z0-9])?")
# White space, and what a shell, a pattern or a URL's query would take for its own.
_NO_FOLDER = re.compile(r"[\s{}?#*\[\]\\]")
_SCHEME = re.compile(r"[a-z0-9]{1,10}://")
_BRACES = "{{"


def placeholder_rule(text: str) -> str | None:
    """The rule that a text breaks in which the cluster would replace something."""
    if _BRACES in text:
        return f"Kubeflow and Argo replace what follows '{_BRACES}'; write it without"
    return None


def folder_rule(place: str, stores: Sequence[str] = STORES) -> str | None:
    """The rule that a folder in a store breaks.

    Args:
        place: the folder.
        stores: schemes of the stores that may hold it.
    """
    if not place.startswith(tuple(stores)):
        return f"must be {' or '.join(f'{one}BUCKET/FOLDER' for one in stores)}"
    return _store_rule(place) or _path_rule(place.partition("://")[2])


def serving_rule(place: str) -> str | None:
    """The rule that the folder of pushed versions breaks; a volume may hold it."""
    if place.startswith("/"):
        return _path_rule(place)
    if not place.startswith(STORES):
        return f"must be /FOLDER or a folder in {', '.join(STORES)}"
    return folder_rule(place)


def source_rule(place: str) -> str | None:
    """The rule that the place of a log breaks: a folder, a file or a pattern."""
    if not place or not place.isprintable():
        return "must be a folder, file or pattern, in characters that print"
    if "://" in place and not place.startswith(_SOURCES):
        return f"must have no scheme or one of {', '.join(_SOURCES)}"
    if place.startswith(STORES):
        return _store_rule(place) or placeholder_rule(place)
    return placeholder_rule(place)


def shown(place: str) -> str:
    """A place as an error may show it."""
    found = _SCHEME.match(place)
    scheme = found[0] if found else ""
    hides = set(place[len(scheme) :]) & set(":@?")
    return f"{scheme}[...]" if hides else repr(place)


def _store_rule(place: str) -> str | None:
    """The rule that bucket and parents of a place in a store break."""
    bucket, *parts = place.partition("://")[2].split("/")
    if "@" in bucket or ":" in bucket:
        return "holds a key or a port; give keys by kubeflow.secrets"
    if not _BUCKET.fullmatch(bucket):
        return "must have a bucket of lower case letters, digits, '-', '_' and '.'"
    if {".", ".."} & set(parts):
        return "must not hold '.' or '..', which a store takes for names"
    return None


def _path_rule(path: str) -> str | None:
    """The rule that the path of a folder breaks."""
    parts = path.strip("/").split("/")
    if not path.isprintable() or _NO_FOLDER.search(path):
        return "must be printable, without white space and any of {}?#*[]\\"
    if not all(parts) or {".", ".."} & set(parts):
        return "must name each folder: no '//', '.' or '..'"
    return None
