"""Running an ingest and judging its result."""

import contextlib
import dataclasses
import logging
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam

from components.example_gen.ingest import build
from components.example_gen.outputs import Job
from components.example_gen.streaming import MAX_SHARDS, ingest_here
from data import errors, paths
from data.dataset import Dataset
from data.disk_faults import disk_error
from data.errors import CtrError, DataError
from data.layout import TimeSplit
from data.manifest import Manifest, read_manifest
from data.mixing import shard_counts
from data.readers.files import Log, find_log
from data.readers.undeclared import undeclared

# Beam's default DirectRunner looks for another runner on the network first.
LOCAL_RUNNER = "--runner=FnApiRunner"
_WRITING = "_writing"
# Undeclared columns that a notice names.
_NAMES = 20
_RAISED = re.compile(
    r"^(?:RuntimeError: )*data\.[\w.]*?(\w+Error): (.*?)(?: \[while running.*)?$",
    re.MULTILINE,
)


def ingest(
    inputs: Sequence[str],
    dataset: Dataset,
    output: str,
    *,
    name: str = "",
    pipeline: beam.Pipeline | None = None,
) -> Manifest:
    """Turns a log into verified shards and a manifest.

    Args:
        inputs: folders, files or patterns of the log.
        dataset: the declaration.
        output: folder that receives ``Split-*`` and the manifest.
        name: of the configuration.
        pipeline: an empty Beam pipeline, which is run; None reads in this process,
            which on one machine needs neither Beam nor memory for a shuffle.

    Returns:
        The manifest.

    Raises:
        DataError: the log breaks a rule of the data contract, too many rows were
            quarantined, or a split is empty.
    """
    log = find_log(inputs, dataset)
    if log.layout.split is not None:
        dataset = dataset.model_copy(update={"split": log.layout.split})
    job = Job(
        dataset=dataset,
        log=_with_news(log, dataset),
        shards=shard_counts(dataset.shards, log.bytes, dataset.split_names),
        output=output,
        name=name,
    )
    try:
        with _without_tracebacks():
            if pipeline is None and sum(job.shards.values()) <= MAX_SHARDS:
                ingest_here(job)
            else:
                with pipeline or local_pipeline() as running:
                    build(running, job)
    except Exception as error:
        cause = user_error(error) or disk_error(error, output)
        if cause is None:
            raise
        raise cause from None
    finally:
        paths.remove_tree(f"{output.rstrip('/')}/{_WRITING}")
    manifest = read_manifest(output)
    _judge(manifest, dataset, inputs)
    return manifest


def _with_news(log: Log, dataset: Dataset) -> Log:
    """The log with a notice of columns that no declaration knows."""
    names = undeclared(log, dataset)
    if not names:
        return log
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    notice = (
        f"columns that no feature declares: {', '.join(names[:_NAMES])}{more} (in "
        f"{posixpath.basename(log.files[0].path)}); declare them, or list them under "
        "data.ignored"
    )
    return dataclasses.replace(log, notices=(*log.notices, notice))


def local_pipeline() -> beam.Pipeline:
    """A Beam pipeline that runs in this process and downloads nothing."""
    return beam.Pipeline(argv=[LOCAL_RUNNER])


def user_error(error: BaseException) -> CtrError | None:
    """The project's own error behind one that Beam raised.

    Beam wraps the errors of its workers, some only as the text of a traceback.

    Args:
        error: what Beam raised.

    Returns:
        The error for the user's eyes, or None if there is no such error.
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, CtrError):
            return _plain(seen)
        seen = seen.__cause__ or seen.__context__
    found = _RAISED.findall(str(error))
    if not found:
        return None
    kind, text = found[-1]
    known = getattr(errors, kind, DataError)
    assert issubclass(known, CtrError)
    return known(text)


@contextlib.contextmanager
def _without_tracebacks() -> Iterator[None]:
    """Keeps Beam from logging a traceback for an error that the user is told anyway."""
    logger = logging.getLogger("apache_beam.runners.common")

    def is_news(record: logging.LogRecord) -> bool:
        raised = record.exc_info[1] if record.exc_info else None
        return not isinstance(raised, CtrError)

    logger.addFilter(is_news)
    try:
        yield
    finally:
        logger.removeFilter(is_news)


def _plain(error: CtrError) -> CtrError:
    """The error without the step that Beam appends to its message."""
    text = str(error).split(" [while running")[0]
    kind = type(error) if type(error).__module__ == errors.__name__ else DataError
    return kind(*text.splitlines())


def _judge(manifest: Manifest, dataset: Dataset, inputs: Sequence[str]) -> None:
    """Refuses a result that lost rows, quarantined too many, or has an empty split."""
    where = ", ".join(inputs)
    kept = manifest.rows_written + manifest.rows_quarantined
    if kept != manifest.rows_read:
        raise DataError(
            f"{where}: {manifest.rows_read} rows read, but {manifest.rows_written} "
            f"written and {manifest.rows_quarantined} quarantined; the output is not "
            "complete"
        )
    if manifest.rows_read == 0:
        notices = f" ({'; '.join(manifest.notices)})" if manifest.notices else ""
        raise DataError(f"{where}: no rows{notices}")
    share = manifest.rows_quarantined / manifest.rows_read
    if share > dataset.max_bad_fraction:
        worst = max(manifest.quarantined, key=lambda rule: manifest.quarantined[rule])
        raise DataError(
            f"{where}: {manifest.rows_quarantined} of {manifest.rows_read} rows are bad "
            f"({share:.2%}; max_bad_fraction is {dataset.max_bad_fraction:.2%}). Most "
            f"often: {worst} ({manifest.quarantined[worst]} rows)"
        )
    for name, split in manifest.splits.items():
        if split.rows == 0:
            remedy = "split by another key, salt or fraction"
            if isinstance(dataset.split, TimeSplit):
                remedy = (
                    "the log spans too few days; set eval_fraction or split by hash"
                )
            raise DataError(
                f"{where}: the {name} split has none of {manifest.rows_written} rows; "
                f"{remedy}"
            )


def describe(manifest: Manifest) -> dict[str, Any]:
    """The manifest's totals as plain values.

    Args:
        manifest: what an ingest wrote.

    Returns:
        Rows read, written and quarantined, and by split rows, clicks, shards, bytes.
    """
    return {
        "rows_read": manifest.rows_read,
        "rows_written": manifest.rows_written,
        "rows_quarantined": manifest.rows_quarantined,
        "quarantined": manifest.quarantined,
        "layout": manifest.layout,
        "notices": list(manifest.notices),
        "splits": {
            name: {
                "rows": split.rows,
                "clicks": split.clicks,
                "shards": len(split.shards),
                "bytes": sum(shard.bytes for shard in split.shards),
            }
            for name, split in manifest.splits.items()
        },
    }
