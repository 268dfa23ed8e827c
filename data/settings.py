"""Base of all configuration types, and how YAML becomes them.

A configuration is read once into frozen pydantic models. Unknown keys are refused with
the nearest known one, and every error carries its path in the file:
``features[3].buckets: must be >= 2, got 1``.
"""

import re
import types
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import pydantic
import yaml
from pydantic_core import PydanticCustomError

from data.errors import ConfigError
from data.faults import WRONG_KIND, fault_lines, short


class Settings(pydantic.BaseModel):
    """A frozen group of settings that refuses unknown keys, and numbers that are none."""

    # Infinity becomes null in JSON, in which settings travel to the components.
    model_config = pydantic.ConfigDict(
        frozen=True, extra="forbid", strict=False, allow_inf_nan=False
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _of_their_kinds(cls, content: Any) -> Any:
        """Refuses what pydantic would convert: ``true`` to 1, ``"2"`` to 2, 1 to true."""
        for name, value in content.items() if isinstance(content, dict) else ():
            field = cls.model_fields.get(name)
            wanted = _scalars(field.annotation) if field else frozenset()
            if type(value) is int and float in wanted:
                continue
            if wanted and type(value) in _WORDS.keys() - {float} - wanted:
                words = [word for kind, word in _WORDS.items() if kind in wanted]
                raise PydanticCustomError(
                    WRONG_KIND,
                    "must be {wanted}, got {value}",
                    {
                        "key": name,
                        "wanted": " or ".join(words),
                        "value": short(repr(value)),
                    },
                )
        return content


_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def _scalars(annotation: Any) -> frozenset[type]:
    """Kinds of the single values that a field takes; none if it takes others as well."""
    if annotation in (*_WORDS, type(None)):
        return frozenset({annotation})
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return frozenset(map(type, parts))
    if origin is Annotated:
        return _scalars(parts[0])
    if origin in (Union, types.UnionType):
        kinds = [_scalars(part) for part in parts]
        return frozenset().union(*kinds) if all(kinds) else frozenset()
    return frozenset()


SettingsT = TypeVar("SettingsT", bound=Settings)


def _as_list(value: Any) -> Any:
    """A single name as a list of one."""
    return (value,) if isinstance(value, str) else value


# Names of columns; a single one may stand without brackets.
Columns = Annotated[
    tuple[str, ...],
    pydantic.BeforeValidator(_as_list, json_schema_input_type=str | tuple[str, ...]),
]


class _Loader(yaml.SafeLoader):
    """Safe YAML loader; refuses repeated keys, and reads scalars as YAML 1.2 does.

    YAML 1.1 also takes ``on``, ``off``, ``yes`` and ``no`` for booleans, so that a key
    named ``on`` or a label ``yes`` would turn into one; it reads ``010`` as 8, ``1:30``
    as 90 and ``1e-3`` as text; and it has merge keys (``<<``), which repeat keys.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        """Builds the mapping after a look for repeated keys."""
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                raise yaml.constructor.ConstructorError(
                    problem="merge keys (<<) are not read; write the keys out",
                    problem_mark=key_node.start_mark,
                )
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, (str, int, float, bool)) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key '{key}' given twice", key_node.start_mark
                )
            if isinstance(key, (str, int, float, bool)):
                seen.add(key)
        return super().construct_mapping(node, deep)


_SCALARS = {
    "bool": ("^(?:true|false)$", "tTfF"),
    "int": ("^[-+]?(?:0|[1-9][0-9_]*)$", "-+0123456789"),
    "float": (
        r"^[-+]?(?:(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9]+)(?:e[-+]?[0-9]+)?"
        r"|[0-9][0-9_]*e[-+]?[0-9]+|\.inf)$|^\.nan$",
        "-+.0123456789",
    ),
}
_TAG = "tag:yaml.org,2002:"
_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, regexp)
        for tag, regexp in resolvers
        if tag.removeprefix(_TAG) not in _SCALARS
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _kind, (_pattern, _first) in _SCALARS.items():
    _Loader.add_implicit_resolver(
        _TAG + _kind, re.compile(_pattern, re.I), list(_first)
    )


# PyYAML lets the errors of a date, a number and of nesting too deep through.
YAML_ERRORS = (yaml.YAMLError, ValueError, RecursionError)


def not_yaml(error: Exception) -> str:
    """What is wrong with a text that is no YAML, to stand behind the file's name.

    Args:
        error: one of ``YAML_ERRORS``.

    Returns:
        Place, where it is known, and problem, in one line.
    """
    mark = getattr(error, "problem_mark", None)
    place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"{place}: not valid YAML: {problem}"


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
        # The loader is PyYAML's safe one with a stricter rule for keys.
        content = yaml.load(path.read_text("utf-8"), _Loader)  # noqa: S506
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such configuration file; check the path"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    except YAML_ERRORS as error:
        raise ConfigError(f"{path}{not_yaml(error)}") from None
    if not isinstance(content, dict):
        found = "nothing" if content is None else type(content).__name__
        raise ConfigError(f"{path}: must hold a mapping at the top, found {found}")
    return content


class _Dumper(yaml.SafeDumper):
    """Quotes what the loader would take for something else than text."""

    yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers


def to_yaml(content: Any) -> str:
    """Writes YAML that ``read_yaml`` reads back.

    Args:
        content: mappings, lists and single values.

    Returns:
        The text, keys in their order.
    """
    text = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    return str(text)


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
        lines = fault_lines(model, error.errors())
        raise ConfigError(*(f"{source}: {line}" for line in lines)) from None
