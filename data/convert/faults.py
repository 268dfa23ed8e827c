"""What a conversion gives back: values, and which rows broke which rule."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from data.arrays import Bools
from data.errors import DataError

# Enough of a value to recognise it, too little to leak a text.
SHOWN_BYTES = 24


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One rule that some rows of a column broke.

    Attributes:
        rows: [rows] bool, True where the rule is broken.
        reason: the rule.
        values: binary [rows] of the values received, where they may be shown.
    """

    rows: Bools
    reason: str
    values: pa.Array | None = None

    def text(self, row: int) -> str:
        """The reason for one row, with the value received where it may be shown."""
        value = None if self.values is None else self.values[row].as_py()
        if value is None:
            return self.reason
        shown = value[:SHOWN_BYTES].decode("utf-8", "replace")
        dots = "..." if len(value) > SHOWN_BYTES else ""
        return f"{self.reason}, got '{shown}{dots}'"


@dataclass(frozen=True)
class Converted:
    """A converted column.

    Attributes:
        values: [rows] of the target type; null where absent or at fault.
        faults: the rules that were broken.
    """

    values: pa.Array
    faults: Sequence[Fault] = field(default_factory=tuple)


class UnfitColumnError(DataError):
    """A whole column has a type that the declared kind cannot take."""


def mask(condition: pa.Array) -> Bools:
    """A boolean array as numpy, null counted as False."""
    filled: Bools = condition.fill_null(False).to_numpy(zero_copy_only=False)
    return filled.astype(bool)


def faults_of(*candidates: Fault) -> tuple[Fault, ...]:
    """Those faults that any row has."""
    return tuple(fault for fault in candidates if fault.rows.any())
