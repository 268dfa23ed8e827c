"""Base of all configuration types, and how YAML becomes them.

A configuration is read once into frozen pydantic models. Unknown keys are refused with
the nearest known one, and every error carries its path in the file:
``features[3].buckets: must be >= 2, got 1``.
"""

import re
from pathlib import Path
from typing import Any, TypeVar, get_args

import pydantic
import yaml

from data.errors import ConfigError, suggest


class Settings(pydantic.BaseModel):
    """A frozen group of settings that refuses unknown keys."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=False)


SettingsT = TypeVar("SettingsT", bound=Settings)


class _Loader(yaml.SafeLoader):
    """Safe YAML loader; refuses repeated keys, and reads only true and false as bool.

    YAML 1.1 also takes ``on``, ``off``, ``yes`` and ``no`` for booleans, so that a key
    named ``on`` or a label ``yes`` would turn into one; YAML 1.2 dropped that.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        """Builds the mapping after a look for repeated keys."""
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, (str, int, float, bool)) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key '{key}' given twice", key_node.start_mark
                )
            if isinstance(key, (str, int, float, bool)):
                seen.add(key)
        return super().construct_mapping(node, deep)


_BOOL = "tag:yaml.org,2002:bool"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != _BOOL]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_BOOL, re.compile("^(?:true|false)$", re.I), list("tTfF"))


def read_yaml(path: Path) -> dict[str, Any]:
    """Reads one YAML mapping.

    Args:
        path: the file.

    Returns:
        The mapping at the top of the file.

    Raises:
        ConfigError: the file is absent, not UTF-8, not YAML, or no mapping.
    """
    try:
        content = yaml.load(path.read_text("utf-8"), _Loader)  # noqa: S506
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such configuration file; pass --config FILE or --preset NAME"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(f"{path}{place}: not valid YAML: {problem}") from None
    if not isinstance(content, dict):
        found = "nothing" if content is None else type(content).__name__
        raise ConfigError(f"{path}: must hold a mapping at the top, found {found}")
    return content


def parse(model: type[SettingsT], content: dict[str, Any], source: str) -> SettingsT:
    """Turns a mapping into typed settings.

    Args:
        model: the settings type.
        content: what the file holds.
        source: name of the file, for the error text.

    Returns:
        The frozen settings.

    Raises:
        ConfigError: one line per fault, each with its path in the file.
    """
    try:
        return model.model_validate(content)
    except pydantic.ValidationError as error:
        faults = error.errors()
        # A list whose items are all faulty also counts as too short.
        inner = [f["loc"] for f in faults]
        own = [
            fault
            for fault in faults
            if not any(len(loc) > len(fault["loc"]) and loc[: len(fault["loc"])] == fault["loc"] for loc in inner)
        ]
        lines = [_line(model, fault) for fault in own]
        raise ConfigError("\n".join(f"{source}: {line}" for line in lines)) from None


def _line(model: type[Settings], fault: Any) -> str:
    """One fault as ``path: rule, got value``."""
    location = _strip_tags(fault["loc"])
    where = _path(location)
    if fault["type"] == "extra_forbidden":
        known = _known_keys(model, fault["loc"][:-1])
        name = str(location[-1])
        hint = suggest(name, known) or (f" Known: {', '.join(known)}." if known else "")
        return f"{where}: unknown key '{name}'.{hint}"
    if fault["type"] == "union_tag_not_found":
        return f"{where}: needs the key {fault['ctx']['discriminator']}"
    if fault["type"] == "union_tag_invalid":
        context = fault["ctx"]
        known = [tag.strip().strip("'") for tag in context["expected_tags"].split(",")]
        return (
            f"{where}.{context['discriminator'].strip(chr(39))}: must be one of "
            f"{', '.join(known)}, got '{context['tag']}'.{suggest(context['tag'], known)}"
        )
    if fault["type"] == "missing":
        return f"{where}: required, but absent"
    message = fault["msg"]
    for prefix in ("Value error, ", "Assertion failed, "):
        message = message.removeprefix(prefix)
    for text in ("Input should be ", "Value should be "):
        message = message.replace(text, "must be ")
    message = message.replace("greater than or equal to", ">=")
    message = message.replace("less than or equal to", "<=")
    message = message.replace("greater than", ">").replace("less than", "<")
    value = fault.get("input")
    is_scalar = value is None or isinstance(value, (str, int, float, bool))
    if fault["type"] in {"value_error", "assertion_error"} or not is_scalar:
        return f"{where}: {message}" if where else message
    if isinstance(value, str) and fault["type"] in {"literal_error", "enum"}:
        expected = str(fault.get("ctx", {}).get("expected", "")).replace("'", "")
        known = [word.strip() for word in expected.replace(" or ", ",").split(",")]
        return f"{where}: {message}, got '{value}'.{suggest(value, known)}"
    return f"{where}: {message}, got {value!r}"


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


def _known_keys(model: type[Settings], location: tuple[Any, ...]) -> list[str]:
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
    return sorted({name for c in candidates for name in c.model_fields})


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
