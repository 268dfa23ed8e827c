"""When runs start: the cron of Kubeflow Pipelines, whose first field is the second.

The server parses it with https://github.com/robfig/cron: names of months and days, ``?``
as ``*``, ``5/15`` as ``5-MOST/15``, and Sunday as 0 only.
"""

import re

_MONTHS = [
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
# Name, least and most of each field, and words for its numbers.
_FIELDS: tuple[tuple[str, int, int, list[str]], ...] = (
    ("second", 0, 59, []),
    ("minute", 0, 59, []),
    ("hour", 0, 23, []),
    ("day of month", 1, 31, []),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 6, _DAYS),
)
_PART = re.compile(r"(?:[*?]|([a-z0-9]+)(?:-([a-z0-9]+))?)(?:/([0-9]{1,9}))?")


def cron_rule(text: str) -> str | None:
    """The rule that a schedule breaks, or None.

    Args:
        text: six fields, parted by single blanks.

    Returns:
        The rule, with the field that breaks it.
    """
    fields = text.split(" ")
    if len(fields) != len(_FIELDS):
        return "must be six fields, seconds first: '0 0 4 * * *' is each day at 4"
    for field, (name, least, most, words) in zip(fields, _FIELDS, strict=True):
        if not all(_fits(part, least, most, words) for part in field.split(",")):
            known = f", or {words[0]} to {words[-1]}" if words else ""
            return (
                f"{name} {field!r}: must be numbers from {least} to {most}{known}, "
                "ranges 1-5, steps */5, or lists of them"
            )
    return None


def _fits(part: str, least: int, most: int, words: list[str]) -> bool:
    """Whether a number, a range or a step lies within a field's numbers."""
    found = _PART.fullmatch(part.lower())
    if found is None:
        return False
    first, last, step = found.groups()
    numbers = [_number(one, least, words) for one in (first, last) if one is not None]
    in_bounds = all(least <= one <= most for one in numbers)
    return in_bounds and numbers == sorted(numbers) and (step is None or int(step) > 0)


def _number(text: str, least: int, words: list[str]) -> int:
    """A number or a word for one; -1 if it is neither."""
    if text in words:
        return least + words.index(text)
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else -1
