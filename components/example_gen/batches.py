"""Reading one file of a log into typed batches, each with its place and bad rows."""

from collections.abc import Iterator
from dataclasses import dataclass

from data.arrays import Values
from data.convert.rows import RowConverter, TypedBatch
from data.dataset import Dataset
from data.errors import DataError
from data.layout import Layout
from data.readers.batch import BadRow, RawBatch
from data.readers.files import LogFile
from data.readers.log import read_log_file, wanted_columns


@dataclass(frozen=True, kw_only=True)
class PlacedBatch:
    """A typed batch and where it comes from.

    Attributes:
        file: index of the file in the log.
        number: of the batch in its file.
        rows_read: rows found, the bad ones included.
        typed: good rows, and the bad ones with their reasons.
    """

    file: int
    number: int
    rows_read: int
    typed: TypedBatch

    @property
    def rows(self) -> int:
        """Good rows."""
        return int(self.typed.columns.num_rows)

    def values(self, column: str) -> Values:
        """A column without nulls as numpy."""
        columns = self.typed.columns
        array = columns.column(columns.schema.get_field_index(column))
        values: Values = array.to_numpy(zero_copy_only=False)
        return values


def read_batches(
    file: LogFile, layout: Layout, dataset: Dataset
) -> Iterator[PlacedBatch]:
    """Reads one file.

    Args:
        file: the file.
        layout: how it is written.
        dataset: the declaration.

    Yields:
        Batches in the order of the file.

    Raises:
        DataError: the file is damaged, or has a bad row and these are refused.
    """
    converter = RowConverter(dataset)
    batches = read_log_file(file, layout, wanted_columns(dataset))
    for number, raw in enumerate(batches):
        typed = converter.convert(raw)
        if typed.bad and dataset.on_bad_row == "refuse":
            raise DataError(_refusal(raw, typed.bad))
        yield PlacedBatch(
            file=file.index, number=number, rows_read=raw.rows, typed=typed
        )


def _refusal(raw: RawBatch, bad: tuple[BadRow, ...]) -> str:
    """Why a file is refused: its first bad row, how many more, and the way on."""
    first = bad[0]
    more = (
        f" ({len(bad)} bad rows among {raw.rows} read so far)" if len(bad) > 1 else ""
    )
    reasons = sorted({row.reason for row in bad if row.column == first.column})
    also = [reason for reason in reasons if reason != first.reason][:4]
    others = f"; also: {'; '.join(also)}" if also else ""
    return (
        f"{first}{others}{more}. Mend the log, or set on_bad_row: quarantine to put "
        "such rows aside"
    )
