"""Base of all configuration types, and how YAML becomes them.

A configuration is read once into frozen pydantic models. Unknown keys are refused with
the nearest known one, and every error carries its path in the file:
``features[3].buckets: must be >= 2, got 1``.
"""

import re
from pathlib import Path
from typing import Any, TypeVar

import pydantic
import yaml

from data.errors import ConfigError
from data.faults import fault_lines


class Settings(pydantic.BaseModel):
    """A frozen group of settings that refuses unknown keys."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=False)


SettingsT = TypeVar("SettingsT", bound=Settings)


class _Loader(yaml.SafeLoader):
    """Safe YAML loader; refuses repeated keys, and reads only true and false as bool.

    YAML 1.1 also takes ``on``, ``off``, ``yes`` and ``no`` for booleans, so that a key
    named ``on`` or a label ``yes`` would turn into one, and has merge keys (``<<``),
    which repeat keys; YAML 1.2 dropped both.
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


_BOOL = "tag:yaml.org,2002:bool"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != _BOOL]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_BOOL, re.compile("^(?:true|false)$", re.I), list("tTfF"))


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
