"""The label: 0 or 1, as it stands or by a declared rule."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data.convert.faults import Converted, Fault, faults_of, mask
from data.convert.numbers import to_float64
from data.convert.text import is_text, to_text
from data.keys import Label


def to_label(values: pa.Array, divisor: pa.Array | None, label: Label) -> Converted:
    """Labels as int64.

    Args:
        values: the label's column.
        divisor: the column of ``divided_by``, if declared.
        label: the rule.

    Returns:
        0 or 1 a row, null where absent or at fault.
    """
    if label.positive is not None:
        return _by_names(to_text(values, label.column), label)
    numbers = to_float64(values, label.column)
    shown = to_text(values, label.column) if is_text(values.type) else None
    if label.at_least is None and label.above is None:
        return _strict(numbers, shown)
    value = numbers.values.to_numpy(zero_copy_only=False)
    present = mask(numbers.values.is_valid())
    faults = numbers.faults
    if divisor is not None:
        under = to_float64(divisor, label.divided_by or "")
        faults = (*faults, *under.faults)
        present &= mask(under.values.is_valid())
        below = under.values.to_numpy(zero_copy_only=False)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(below == 0, -np.inf, value / below)
    with np.errstate(invalid="ignore"):
        if label.at_least is not None:
            positive = value >= label.at_least
        else:
            positive = value > label.above
    return Converted(pa.array(positive.astype(np.int64), mask=~present), faults)


def _strict(numbers: Converted, shown: pa.Array | None) -> Converted:
    """Numbers that must be 0 or 1."""
    value = numbers.values.to_numpy(zero_copy_only=False)
    present = mask(numbers.values.is_valid())
    wrong = present & (value != 0) & (value != 1)
    if shown is None:
        shown = _spelled(numbers.values)
    labels = np.where(present & ~wrong, np.nan_to_num(value), 0).astype(np.int64)
    # Text that is no number breaks the label's rule, so that rule is named.
    faults = tuple(
        Fault(rows=fault.rows, reason="must be 0 or 1", values=shown)
        for fault in numbers.faults
    )
    own = Fault(rows=wrong, reason="must be 0 or 1", values=shown)
    return Converted(
        pa.array(labels, mask=~present | wrong), (*faults, *faults_of(own))
    )


def _by_names(text: pa.Array, label: Label) -> Converted:
    """Texts that stand for 0 and 1."""
    positive = mask(pc.is_in(text, value_set=_names(label.positive or ())))
    negative = mask(pc.is_in(text, value_set=_names(label.negative or ())))
    known = positive | negative
    wrong = mask(text.is_valid()) & ~known
    listed = ", ".join((*(label.positive or ()), *(label.negative or ())))
    fault = Fault(rows=wrong, reason=f"must be one of {listed}", values=text)
    return Converted(pa.array(positive.astype(np.int64), mask=~known), faults_of(fault))


def _names(names: tuple[str, ...]) -> pa.Array:
    return pa.array([name.encode() for name in names], pa.binary())


def _spelled(values: pa.Array) -> pa.Array:
    """Numbers as short text for messages."""
    return pa.array(
        [None if v is None else f"{v:g}".encode() for v in values.to_pylist()],
        pa.binary(),
    )
