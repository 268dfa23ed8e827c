"""What every reader yields: columns of a block of rows, and where each row stands."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from data.arrays import Ints


@dataclass(frozen=True, kw_only=True)
class BadRow:
    """A row that broke a rule, without its values.

    Attributes:
        file: path of the file.
        number: of the row in the file.
        place: the same in words, such as ``line 12``.
        column: the column at fault; empty if the row as a whole is.
        reason: the rule that it broke.
    """

    file: str
    number: int
    place: str
    column: str
    reason: str

    def __str__(self) -> str:
        column = f"column '{self.column}': " if self.column else ""
        return f"{self.file}: {self.place}: {column}{self.reason}"


@dataclass(frozen=True, kw_only=True)
class RawBatch:
    """Rows of one file as they were written.

    Attributes:
        file: path of the file.
        unit: what ``places`` counts: ``line`` (from 1), ``row`` or ``record`` (from 0).
        columns: one array a column; text formats give binary arrays.
        places: [rows] int64 position of each row.
        bad: rows that could not be split into columns.
    """

    file: str
    unit: str
    columns: pa.RecordBatch
    places: Ints
    bad: Sequence[BadRow] = field(default_factory=tuple)

    def place(self, row: int) -> str:
        """Where a row of the batch stands in its file."""
        return f"{self.unit} {self.places[row]}"

    @property
    def rows(self) -> int:
        """Rows found, the bad ones included."""
        return int(self.columns.num_rows) + len(self.bad)
