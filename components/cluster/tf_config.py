"""TF_CONFIG, the cluster as JSON: every fault is named before anything connects.

TensorFlow itself takes most faulty texts without a word and then waits for ever:
https://www.tensorflow.org/guide/distributed_training#setting_up_the_tf_config_environment_variable
"""

import json
from typing import Any

from components.cluster.addresses import address_faults
from components.cluster.tasks import Cluster
from data.errors import ConfigError, suggest

_TYPES = ("chief", "worker", "ps")
# The last ones are notes of Kubeflow's TFJob and of Vertex AI; nothing reads them.
_KEYS = ("cluster", "task", "rpc_layer", "environment", "job")
_TASK_KEYS = ("type", "index", "trial", "cloud")
_EXAMPLE = (
    '{"cluster": {"worker": ["host1:2222", "host2:2222"]}, '
    '"task": {"type": "worker", "index": 0}}'
)
_OTHER_TYPES = {
    "master": "that is TensorFlow 1; name it chief",
    "evaluator": "the chief evaluates; leave it out",
}


def parse_tf_config(text: str) -> Cluster:
    """Reads and checks the text of TF_CONFIG.

    Args:
        text: value of the environment variable.

    Returns:
        The cluster.

    Raises:
        ConfigError: one line with the place in the JSON, the value, the rule and the
            remedy.
    """
    content = _object(_load(text), "", _KEYS, ("cluster", "task"))
    if content.get("rpc_layer") not in (None, "", "grpc"):
        raise _fault("rpc_layer", f"must be grpc, got {_shown(content['rpc_layer'])}")
    addresses = _addresses(content["cluster"])
    _check_roles(addresses)
    fault = address_faults(addresses)
    if fault is not None:
        raise ConfigError(f"TF_CONFIG: {fault}")
    kind, index = _task(content["task"], addresses)
    return Cluster({name: tuple(a) for name, a in addresses.items()}, kind, index)


def _load(text: str) -> Any:
    """The JSON value."""
    try:
        return json.loads(text, object_pairs_hook=_no_repeats)
    except (json.JSONDecodeError, RecursionError) as error:
        quotes = "; JSON takes double quotes" if "'" in text else ""
        problem = str(error).lower()
        raise ConfigError(
            f"TF_CONFIG: not JSON: {problem}{quotes}. Write {_EXAMPLE}"
        ) from None


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of a key given twice, Python would keep the last value only."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError(f"TF_CONFIG: key {twice!r} is given twice; keep one")
    return found


def _object(
    value: Any, place: str, known: tuple[str, ...], needed: tuple[str, ...]
) -> dict[str, Any]:
    """A JSON object with known keys."""
    if not isinstance(value, dict):
        raise _fault(place, f"must be an object, got {_shown(value)}; see {_EXAMPLE}")
    for name in value:
        if name not in known:
            hint = suggest(name, known) or f" Known: {', '.join(known)}."
            raise _fault(place, f"unknown key {name!r}.{hint}")
    for name in needed:
        if name not in value:
            raise _fault(
                place, f"key '{name}' is absent; write {_EXAMPLE}, or unset TF_CONFIG"
            )
    return value


def _addresses(value: Any) -> dict[str, list[str]]:
    """The lists of addresses, by task type."""
    if isinstance(value, dict):
        for name in set(value) & set(_OTHER_TYPES):
            raise _fault(f"cluster.{name}", f"no task type: {_OTHER_TYPES[name]}")
    found = _object(value, "cluster", _TYPES, ())
    if not found:
        raise _fault("cluster", f"names no task; write {_EXAMPLE}, or unset TF_CONFIG")
    for name, members in found.items():
        is_list = isinstance(members, list) and bool(members)
        if not is_list or not all(isinstance(one, str) for one in members):
            raise _fault(
                f"cluster.{name}",
                f'must be a list of addresses such as ["host1:2222"], got '
                f"{_shown(members)}",
            )
    return found


def _check_roles(addresses: dict[str, list[str]]) -> None:
    """Checks that the task types make one of the two forms of a cluster.

    A chief without ps is refused, though TensorFlow takes it: there worker 0 is the
    chief, and a chief that is listed besides and that nobody starts is waited for.
    """
    chiefs = len(addresses.get("chief", ()))
    if chiefs > 1:
        raise _fault("cluster.chief", f"names {chiefs} addresses; keep one")
    if "worker" not in addresses:
        raise _fault("cluster.worker", "is absent; list the workers, which train")
    if "ps" in addresses and not chiefs:
        raise _fault(
            "cluster.chief", "is absent; parameter servers (ps) need a chief, add one"
        )
    if chiefs and "ps" not in addresses:
        raise _fault(
            "cluster.chief",
            f"{addresses['chief'][0]!r} stands beside workers without ps, where worker "
            "0 is the chief; list it as the first worker, or leave it out if nothing "
            "is started there",
        )


def _task(value: Any, addresses: dict[str, list[str]]) -> tuple[str, int]:
    """Type and index of this process."""
    task = _object(value, "task", _TASK_KEYS, ("type", "index"))
    kind, index = task["type"], task["index"]
    if kind not in list(addresses):
        remedy = _OTHER_TYPES.get(kind) if isinstance(kind, str) else None
        raise _fault(
            "task.type",
            f"{_shown(kind)} is not in cluster, which has {', '.join(addresses)}"
            f"{f'; {remedy}' if remedy else '.' + suggest(str(kind), addresses)}",
        )
    last = len(addresses[kind]) - 1
    if isinstance(index, bool) or not isinstance(index, int):
        raise _fault(
            "task.index",
            f"must be a whole number without quotes, got {_shown(index)}; write 0",
        )
    if not 0 <= index <= last:
        raise _fault(
            "task.index",
            f"must be from 0 to {last}, since cluster.{kind} has {last + 1}, "
            f"got {index}; count from 0, or list the missing address",
        )
    return kind, index


def _fault(place: str, text: str) -> ConfigError:
    """The error for one place."""
    return ConfigError(f"TF_CONFIG: {place}{': ' if place else ''}{text}")


def _shown(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
