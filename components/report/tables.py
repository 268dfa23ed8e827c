"""A table as the page shows it: text to read, values to sort by."""

from collections.abc import Sequence
from dataclasses import dataclass

from components.report.text import ABSENT


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes:
        text: what it shows.
        value: what it sorts by; None sorts last.
        below: a second, smaller line.
        mark: ``pass``, ``fail``, ``undecided`` or ``skipped`` for a status.
    """

    text: str
    value: float | str | None = None
    below: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        title: its caption.
        columns: heads.
        rows: cells by row.
        note: one line on how to read it.
        clicks: index of the column that the least number of clicks filters by; a table
            with it has filters and can be sorted.
        wide: whether it takes the whole width of the page.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    clicks: int | None = None
    wide: bool = False

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers, which stand to the right."""
        return [
            any(isinstance(row[index].value, (int, float)) for row in self.rows)
            for index in range(len(self.columns))
        ]


def words(text: str, below: str = "") -> Cell:
    """A cell of text."""
    return Cell(text, text, below)


def count(value: float | None) -> Cell:
    """A cell of a whole number."""
    return Cell(ABSENT if value is None else f"{value:,.0f}", value)
