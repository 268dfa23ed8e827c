"""Finding the files of a log: which layout, which files, what was passed over."""

import fnmatch
import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from data import paths
from data.dataset import Dataset
from data.errors import DataError
from data.layout import Format, GivenSplit, Layout
from data.readers.formats import detect_format


@dataclass(frozen=True, kw_only=True)
class LogFile:
    """One file of the log.

    Attributes:
        path: where it is.
        index: its number in the order in which the log is read.
        format: how it is written; never ``auto``.
        split: the split it belongs to, where the files say it.
    """

    path: str
    index: int
    format: Format
    split: str | None = None

    @property
    def folder(self) -> str:
        """Where side tables are looked for."""
        return posixpath.dirname(self.path)


@dataclass(frozen=True, kw_only=True)
class Log:
    """All files of the log.

    Attributes:
        layout: the first declared layout whose files exist.
        files: in reading order.
        bytes: their total size.
        notices: files that were passed over, and why.
    """

    layout: Layout
    files: tuple[LogFile, ...]
    bytes: int
    notices: tuple[str, ...]


@dataclass(frozen=True)
class _Candidate:
    path: str
    relative: str


def find_log(inputs: Sequence[str], dataset: Dataset) -> Log:
    """Finds the files of a log.

    Files and folders whose names start with ``.`` or ``_`` (``_SUCCESS``,
    ``_temporary``), empty files and files of no known format are passed over with a
    notice.

    Args:
        inputs: folders (searched with all below them), files, or glob patterns.
        dataset: the declaration.

    Returns:
        The files of the first layout that has any.

    Raises:
        DataError: an input does not exist, or no file fits a layout.
        OSError: a folder or file of an input cannot be read.
    """
    notices: list[str] = []
    candidates = _candidates(inputs, notices)
    for layout in dataset.layouts:
        chosen = [c for c in candidates if _belongs(c, layout)]
        if chosen:
            break
    else:
        wanted = "; ".join(
            f"{layout.name}: {', '.join(layout.files)}" for layout in dataset.layouts
        )
        raise DataError(
            f"{', '.join(inputs)}: no file of the data set. Layouts looked for: "
            f"{wanted}. Name the file or set layouts in the configuration"
            + (f" ({'; '.join(notices)})" if notices else "")
        )
    files: list[LogFile] = []
    total = 0
    for candidate in chosen:
        file = _log_file(candidate, layout, dataset, len(files), notices)
        if file:
            files.append(file)
            total += paths.size(candidate.path)
    if not files:
        raise DataError(f"{', '.join(inputs)}: no rows: {'; '.join(notices)}")
    return Log(layout=layout, files=tuple(files), bytes=total, notices=tuple(notices))


def matches(relative: str, pattern: str) -> bool:
    """True if a path below the input fits a pattern.

    A pattern without ``/`` looks at the file's name alone, at any depth.
    """
    name = relative if "/" in pattern else posixpath.basename(relative)
    return fnmatch.fnmatchcase(name, pattern)


def _belongs(candidate: _Candidate, layout: Layout) -> bool:
    """True if the file is part of the log itself, not a side table."""
    return any(matches(candidate.relative, p) for p in layout.files) and not any(
        matches(candidate.relative, join.files) for join in layout.joins
    )


def _candidates(inputs: Iterable[str], notices: list[str]) -> list[_Candidate]:
    """Every visible file of the inputs, each once, in order."""
    found: dict[str, _Candidate] = {}
    hidden: list[str] = []
    for given in inputs:
        for path in _expand(given):
            if not paths.is_dir(path):
                found.setdefault(path, _Candidate(path, posixpath.basename(path)))
                continue
            for relative in paths.walk(path):
                if any(part[0] in "._" for part in relative.split("/")):
                    hidden.append(relative)
                    continue
                below = f"{path.rstrip('/')}/{relative}"
                found.setdefault(below, _Candidate(below, relative))
    if hidden:
        notices.append(
            f"skipped {len(hidden)} hidden or temporary files, such as {hidden[0]}"
        )
    return list(found.values())


def _expand(given: str) -> list[str]:
    """The paths that an input names."""
    if paths.exists(given):
        return [given]
    found = paths.matching(given) if paths.has_wildcard(given) else []
    if found:
        return found
    raise DataError(f"--input {given}: no such file or folder")


def _log_file(
    candidate: _Candidate,
    layout: Layout,
    dataset: Dataset,
    index: int,
    notices: list[str],
) -> LogFile | None:
    """The file with its format and split, or None and a notice."""
    if paths.size(candidate.path) == 0:
        notices.append(f"skipped {candidate.relative}: 0 bytes")
        return None
    kind = layout.format
    if kind == "auto":
        detected = detect_format(candidate.path)
        if detected is None:
            notices.append(
                f"skipped {candidate.relative}: neither its name nor its first bytes "
                "tell a format; declare format in the layout to read it"
            )
            return None
        kind = detected
    split = None
    rule = layout.split or dataset.split
    if isinstance(rule, GivenSplit):
        if matches(candidate.relative, rule.train):
            split = "train"
        elif matches(candidate.relative, rule.eval):
            split = "eval"
        elif rule.validation and matches(candidate.relative, rule.validation):
            split = "validate"
        else:
            notices.append(f"skipped {candidate.relative}: in no given split")
            return None
    return LogFile(path=candidate.path, index=index, format=kind, split=split)
