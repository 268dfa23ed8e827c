"""Times of impression as unix seconds, UTC."""

import datetime
import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data.convert.faults import Converted, Fault, UnfitColumnError, faults_of, mask
from data.convert.numbers import to_float64
from data.convert.text import is_text, to_text

# Seconds above this lie after the year 5138: a number may well hold milliseconds.
_LATEST = 100_000_000_000
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
# UTC+14 is the largest offset in use.
_MAX_ZONE_HOURS = 14
_ISO = re.compile(
    rb"(\d{4})-(\d\d)-(\d\d)"
    rb"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?)?"
    rb"\s*(?:(Z|UTC)|([+-])(\d\d):?(\d\d)?)?"
)
_NUMBER = r"^[+-]?[0-9]+(\.[0-9]*)?$"
_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()


def to_seconds(values: pa.Array, column: str, form: str) -> Converted:
    """Times as int64 unix seconds; fractions of a second are cut off.

    Args:
        values: text, numbers, or Arrow times.
        column: its name, for errors.
        form: ``auto``, ``unix``, ``unix_ms``, ``iso``, or a strptime pattern.

    Returns:
        The seconds, and faults for what is no time or stands before 1970 or after
        5138.

    Raises:
        UnfitColumnError: the column's type is no time.
    """
    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _from_times(values)
    if (
        pa.types.is_time(kind)
        or pa.types.is_duration(kind)
        or pa.types.is_boolean(kind)
    ):
        raise UnfitColumnError(f"column '{column}' has the type {kind}; no date in it")
    if form in {"unix", "unix_ms"} or (form == "auto" and not is_text(kind)):
        return _from_numbers(values, column, 1000 if form == "unix_ms" else 1)
    text = to_text(values, column)
    if form == "auto":
        numeric = pc.match_substring_regex(text, pattern=_NUMBER)
        if pc.all(numeric).as_py():
            return _from_numbers(text, column, 1)
    parse = {"auto": _number_or_iso, "iso": _iso}.get(form) or _by_pattern(form)
    coded = text.dictionary_encode()
    distinct = [parse(value) for value in coded.dictionary.to_pylist()]
    seconds = pa.array(distinct, pa.float64()).take(coded.indices)
    wrong = mask(text.is_valid()) & ~mask(seconds.is_valid())
    shape = "ISO 8601" if form in {"auto", "iso"} else form
    reason = f"must be a time ({shape})"
    return _checked(
        seconds, text, faults_of(Fault(rows=wrong, reason=reason, values=text))
    )


def _from_times(values: pa.Array) -> Converted:
    """Arrow times of any unit; integers throughout, so that none overflows."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("ms"))
    units = values.cast(pa.int64()).fill_null(0).to_numpy()
    seconds = units // _PER_SECOND[values.type.unit]
    return _checked(pa.array(seconds, mask=~mask(values.is_valid())), None, ())


def _from_numbers(values: pa.Array, column: str, per_second: int) -> Converted:
    """Numbers counted from 1970 in a unit of a second."""
    numbers = to_float64(values, column)
    seconds = pc.floor(pc.divide(numbers.values, float(per_second)))
    shown = to_text(values, column) if is_text(values.type) else None
    return _checked(seconds, shown, numbers.faults)


def _checked(
    seconds: pa.Array, shown: pa.Array | None, faults: tuple[Fault, ...] | object
) -> Converted:
    """Seconds within the plausible range."""
    numbers = seconds.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    present = mask(seconds.is_valid())
    with np.errstate(invalid="ignore"):
        early = present & (numbers < 0)
        late = present & (numbers > _LATEST)
    out = early | late
    whole = np.where(present & ~out, np.nan_to_num(numbers), 0).astype(np.int64)
    more = faults_of(
        Fault(rows=early, reason="must not lie before 1970", values=shown),
        Fault(
            rows=late,
            reason="must not lie after the year 5138; if it holds milliseconds, "
            "declare format: unix_ms",
            values=shown,
        ),
    )
    assert isinstance(faults, tuple)
    return Converted(pa.array(whole, pa.int64(), mask=~present | out), (*faults, *more))


def _number_or_iso(value: bytes | None) -> float | None:
    """Unix seconds written as a number or as an ISO 8601 time."""
    if value is not None and re.match(_NUMBER.encode(), value):
        # Of a float: a number of 400 digits is infinite, and no integer.
        return float(np.floor(float(value)))
    return _iso(value)


def _iso(value: bytes | None) -> int | None:
    """Unix seconds of an ISO 8601 time; without a zone it is UTC."""
    match = value and _ISO.fullmatch(value)
    if not match:
        return None
    year, month, day, hour, minute, second, _, sign, ahead, ahead_minutes = (
        match.groups()
    )
    try:
        days = datetime.date(int(year), int(month), int(day)).toordinal() - _EPOCH_DAY
    except ValueError:
        return None
    clock = (int(hour or 0), int(minute or 0), int(second or 0))
    # A leap second is written as 60.
    if clock[0] > 23 or clock[1] > 59 or clock[2] > 60:
        return None
    seconds = days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
    if sign:
        if int(ahead) > _MAX_ZONE_HOURS or int(ahead_minutes or 0) > 59:
            return None
        shift = int(ahead) * 3600 + int(ahead_minutes or 0) * 60
        seconds += shift if sign == b"-" else -shift
    return seconds


def _by_pattern(pattern: str) -> Callable[[bytes | None], int | None]:
    """A parser for a strptime pattern."""

    def parse(value: bytes | None) -> int | None:
        try:
            time = datetime.datetime.strptime((value or b"").decode(), pattern)
        except ValueError:
            return None
        if time.tzinfo is None:
            time = time.replace(tzinfo=datetime.timezone.utc)
        return int(time.timestamp() // 1)

    return parse
