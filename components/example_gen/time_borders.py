"""The borders of a split by time, found by one or two passes over the log.

Only counts by second and the rows of the borders' seconds travel; no worker holds a split.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import apache_beam as beam
import numpy as np
import pyarrow.compute as pc

from components.example_gen.batches import PlacedBatch, read_batches
from data.arrays import Ints
from data.convert.lists import single
from data.convert.times import to_seconds
from data.dataset import Dataset
from data.layout import Layout, TimeSplit
from data.readers.files import LogFile
from data.readers.log import read_log_file
from data.splits import (
    CountBorder,
    TieBorder,
    TiedRow,
    count_border,
    day_border,
    share_of,
    tie_border,
)

# Counts that are gathered before they are summed.
_BATCHES_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class _Seconds:
    """Distinct unix seconds, ascending, and the rows of each."""

    seconds: Ints
    counts: Ints


@dataclass(frozen=True)
class TimeBorder:
    """Rows after ``second`` are behind it; those of it are cut by ``ties``."""

    second: int
    ties: TieBorder | None = None


@dataclass(frozen=True)
class TimeBorders:
    """Rows behind ``eval`` are evaluated; others behind ``validate`` validate."""

    eval: TimeBorder
    validate: TimeBorder | None = None


def time_borders(
    files: beam.PCollection, dataset: Dataset, layout: Layout
) -> beam.PCollection:
    """One element: the borders between the splits.

    Args:
        files: the log's ``LogFile``s.
        dataset: a declaration that splits by time.
        layout: how the files are written.

    Returns:
        A collection of one ``TimeBorders``.
    """
    split = dataset.split
    assert isinstance(split, TimeSplit)
    if split.eval_days is not None:
        return (
            files
            | "LatestOfFiles" >> beam.Map(_latest, dataset, layout)
            | "Latest" >> beam.CombineGlobally(max, default=0)
            | "DayBorders" >> beam.Map(_day_borders, split)
        )
    borders = (
        files
        | "CountSeconds" >> beam.FlatMap(_count_seconds, dataset, layout)
        | "SumSeconds" >> beam.CombineGlobally(_merge)
        | "CountBorders" >> beam.Map(_count_borders, split)
    )
    tied = files | "TiedRows" >> beam.FlatMap(
        _tied_rows, beam.pvalue.AsSingleton(borders), dataset, layout
    )
    return borders | "TieBorders" >> beam.Map(_with_ties, beam.pvalue.AsList(tied))


def time_borders_here(
    files: Sequence[LogFile], dataset: Dataset, layout: Layout
) -> TimeBorders:
    """The same in this process.

    Args:
        files: the log.
        dataset: a declaration that splits by time.
        layout: how the files are written.

    Returns:
        The borders between the splits.
    """
    split = dataset.split
    assert isinstance(split, TimeSplit)
    if split.eval_days is not None:
        latest = (_latest(file, dataset, layout) for file in files)
        return _day_borders(max(latest, default=0), split)
    seen = _merge([])
    for file in files:
        parts = _count_seconds(file, dataset, layout)
        while some := list(itertools.islice(parts, _BATCHES_AT_ONCE)):
            seen = _merge([seen, *some])
    borders = _count_borders(seen, split)
    tied = [row for file in files for row in _tied_rows(file, borders, dataset, layout)]
    return _with_ties(borders, tied)


def _latest(file: LogFile, dataset: Dataset, layout: Layout) -> int:
    """Latest time in a file; only its time column is read."""
    timestamp = dataset.keys.timestamp
    assert timestamp
    last = 0
    for batch in read_log_file(file, layout, [timestamp.column]):
        times = single(batch.columns.column(0)).values
        seconds = to_seconds(times, timestamp.column, timestamp.format).values
        last = max(last, pc.max(seconds).as_py() or 0)
    return last


def _count_seconds(
    file: LogFile, dataset: Dataset, layout: Layout
) -> Iterator[_Seconds]:
    """Yields the good rows of each batch by second."""
    assert dataset.keys.timestamp
    for batch in read_batches(file, layout, dataset):
        times = batch.values(dataset.keys.timestamp.column)
        yield _Seconds(*np.unique(times, return_counts=True))


def _tied_rows(
    file: LogFile,
    borders: tuple[CountBorder, ...],
    dataset: Dataset,
    layout: Layout,
) -> Iterator[tuple[int, TiedRow]]:
    """Yields each row of the borders' seconds with its second and what breaks its tie."""
    seconds = {border.second for border in borders}
    for batch in read_batches(file, layout, dataset):
        for second in seconds:
            for _, row in tied_rows(batch, dataset, second):
                yield second, row


def tied_rows(
    batch: PlacedBatch, dataset: Dataset, second: int
) -> Iterator[tuple[int, TiedRow]]:
    """Rows of one second.

    Args:
        batch: where to look.
        dataset: the declaration.
        second: unix seconds.

    Yields:
        Index in the batch, and the row's tie-break values and position.
    """
    assert dataset.keys.timestamp
    at = np.flatnonzero(batch.values(dataset.keys.timestamp.column) == second)
    if not len(at):
        return
    columns = [keys.take(at).to_pylist() for keys in batch.typed.split_keys.values()]
    values = list(zip(*columns, strict=True)) or [()] * len(at)
    for index, value in zip(at.tolist(), values, strict=True):
        yield index, (value, (batch.file, batch.number, index))


def _merge(parts: Iterable[_Seconds]) -> _Seconds:
    """Counts of all parts together."""
    parts = list(parts)
    if not parts:
        return _Seconds(np.empty(0, np.int64), np.empty(0, np.int64))
    seconds, codes = np.unique(
        np.concatenate([part.seconds for part in parts]), return_inverse=True
    )
    counts = np.concatenate([part.counts for part in parts])
    summed = np.zeros(len(seconds), np.int64)
    np.add.at(summed, codes.reshape(-1), counts)
    return _Seconds(seconds, summed)


def _day_borders(last: int, split: TimeSplit) -> TimeBorders:
    """Borders of whole days, each just before its first second."""
    assert split.eval_days
    days = [split.eval_days]
    if split.validate_days:
        days.append(split.eval_days + split.validate_days)
    return TimeBorders(*(TimeBorder(day_border(last, count) - 1) for count in days))


def _count_borders(seen: _Seconds, split: TimeSplit) -> tuple[CountBorder, ...]:
    """Borders by number of rows: that of eval, and that of validate if declared."""
    total = int(seen.counts.sum())
    if not total:
        return (CountBorder(0, 0),)
    assert split.eval_fraction
    wanted = [share_of(total, split.eval_fraction)]
    if split.validate_fraction:
        rest = total - wanted[0]
        wanted.append(wanted[0] + share_of(rest, split.validate_fraction))
    return tuple(
        count_border(seen.seconds, seen.counts, min(rows, total)) for rows in wanted
    )


def _with_ties(
    borders: tuple[CountBorder, ...], tied: list[tuple[int, TiedRow]]
) -> TimeBorders:
    """The borders with the rows of their second cut."""
    return TimeBorders(
        *(
            TimeBorder(
                border.second,
                tie_border(
                    [row for second, row in tied if second == border.second],
                    border.of_this_second,
                ),
            )
            for border in borders
        )
    )
