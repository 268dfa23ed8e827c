"""Faults of a configuration as lines that a user can act on.

pydantic tells where and what; these functions turn it into
``features[3].buckets: must be >= 2, got 1`` with the nearest known name.
"""

from typing import Any, get_args

from data.errors import suggest

# Type of the error that `data.settings` raises for it.
WRONG_KIND = "wrong_kind"
# Enough of a value to find it in its file.
_SHOWN = 80

# pydantic's words, and ours.
_WORDS = (
    ("Value error, ", ""),
    ("String should match pattern", "must match"),
    ("String should", "must"),
    ("Keys should be strings", "keys must be text"),
    ("Assertion failed, ", ""),
    ("Input should be ", "must be "),
    ("Value should be ", "must be "),
    ("greater than or equal to", ">="),
    ("less than or equal to", "<="),
    ("greater than", ">"),
    ("less than", "<"),
)


def fault_lines(model: Any, faults: list[Any]) -> list[str]:
    """Describes each fault in one line.

    Args:
        model: the settings type that was read.
        faults: what ``pydantic.ValidationError.errors()`` returned.

    Returns:
        One line a fault, each with its path in the file.
    """
    # A list whose items are all faulty also counts as too short.
    inner = [fault["loc"] for fault in faults]
    own = [
        fault
        for fault in faults
        if not any(
            len(loc) > len(fault["loc"]) and loc[: len(fault["loc"])] == fault["loc"]
            for loc in inner
        )
    ]
    return [_line(model, fault) for fault in own]


def _line(model: Any, fault: Any) -> str:
    """One fault as ``path: rule, got value``."""
    where = _path(_strip_tags(fault["loc"]))
    special = _SPECIAL.get(fault["type"])
    if special is not None:
        place, message = special(model, fault)
        where = f"{where}{place}".lstrip(".")
        return f"{where}: {message}" if where else message
    message = fault["msg"]
    for theirs, ours in _WORDS:
        message = message.replace(theirs, ours)
    value = fault.get("input")
    is_scalar = value is None or isinstance(value, str | int | float | bool)
    if fault["type"] not in {"value_error", "assertion_error"} and is_scalar:
        message = f"{message}, got {short(repr(value))}"
    return f"{where}: {message}" if where else str(message)


def short(value: str) -> str:
    """The beginning of a value: enough to find it in its file."""
    return value if len(value) <= _SHOWN else f"{value[:_SHOWN]}..."


def _unknown_key(model: Any, fault: Any) -> tuple[str, str]:
    """A key that the settings do not have."""
    name = short(str(fault["loc"][-1]))
    known = _known_keys(model, fault["loc"][:-1])
    hint = suggest(name, known) or (f" Known: {', '.join(known)}." if known else "")
    return "", f"unknown key '{name}'.{hint}"


def _unknown_tag(model: Any, fault: Any) -> tuple[str, str]:
    """A ``kind`` or ``by`` that no type has."""
    del model
    context = fault["ctx"]
    known = [tag.strip(" '") for tag in context["expected_tags"].split(",")]
    key = context["discriminator"].strip("'")
    hint = suggest(context["tag"], known)
    return (
        f".{key}",
        f"must be one of {', '.join(known)}, got '{short(context['tag'])}'.{hint}",
    )


def _unknown_choice(model: Any, fault: Any) -> tuple[str, str]:
    """A value that is none of the allowed ones."""
    del model
    text = fault["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
    known = [word.strip() for word in text.split(",")]
    value = str(fault["input"])
    hint = suggest(value, known)
    return "", f"must be one of {text}, got '{short(value)}'.{hint}"


def _absent(model: Any, fault: Any) -> tuple[str, str]:
    """A required key that is not there."""
    del model, fault
    return "", "required, but absent"


def _absent_tag(model: Any, fault: Any) -> tuple[str, str]:
    """An entry without the key that picks its type."""
    del model
    return "", f"needs the key {fault['ctx']['discriminator']}"


def _no_mapping(model: Any, fault: Any) -> tuple[str, str]:
    """A value where a group of settings belongs; pydantic would name a class."""
    del model
    return "", f"must be a mapping, got {short(repr(fault['input']))}"


def _wrong_kind(model: Any, fault: Any) -> tuple[str, str]:
    """A single value of another kind than the setting's."""
    del model
    return f".{fault['ctx']['key']}", fault["msg"]


_SPECIAL = {
    WRONG_KIND: _wrong_kind,
    "model_type": _no_mapping,
    "extra_forbidden": _unknown_key,
    "union_tag_invalid": _unknown_tag,
    "union_tag_not_found": _absent_tag,
    "literal_error": _unknown_choice,
    "missing": _absent,
}

# Keys that pick the type of a union, and what pydantic then puts into the location.
_DISCRIMINATORS = ("kind", "by")
_TAGS = {
    "categorical": "features",
    "numeric": "features",
    "sequence": "features",
    "vector": "features",
    "cross": "features",
    "time": "split",
    "hash": "split",
    "given": "split",
}


def _strip_tags(location: tuple[Any, ...]) -> tuple[Any, ...]:
    """The location without the tags of unions and the names of types."""
    kept: list[Any] = []
    for part in location:
        before = kept[-1] if kept else None
        is_tag = part in _TAGS and (isinstance(before, int) or before == _TAGS[part])
        is_type_name = isinstance(part, str) and part[:1].isupper()
        if not is_tag and not is_type_name:
            kept.append(part)
    return tuple(kept)


def _path(location: tuple[Any, ...]) -> str:
    """``('features', 3, 'buckets')`` as ``features[3].buckets``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _known_keys(model: Any, location: tuple[Any, ...]) -> list[str]:
    """Keys that are allowed at a location, found by walking the types."""
    candidates: list[Any] = [model]
    for part in location:
        if isinstance(part, int):
            continue
        tagged = [c for c in candidates if _has_tag(c, part)]
        candidates = tagged or [
            leaf
            for candidate in candidates
            if part in candidate.model_fields
            for leaf in _leaf_types(candidate.model_fields[part].annotation)
        ]
    return sorted(
        {
            field.alias or name
            for candidate in candidates
            for name, field in candidate.model_fields.items()
        }
    )


def _has_tag(candidate: Any, tag: str) -> bool:
    """True if the settings type is the one that a union picks for this tag."""
    fields = candidate.model_fields
    return any(
        tag in get_args(fields[name].annotation)
        for name in _DISCRIMINATORS
        if name in fields
    )


def _leaf_types(annotation: Any) -> list[Any]:
    """Settings types inside lists, unions and annotations."""
    if hasattr(annotation, "model_fields"):
        return [annotation]
    return [leaf for part in get_args(annotation) for leaf in _leaf_types(part)]
