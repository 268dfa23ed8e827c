"""What differs between two runs: settings, code, data, metrics."""

from collections.abc import Iterator
from typing import Any

# Parts of a summary that say what went into a run.
_CAUSES = ("config", "code", "stack", "input")
_COUNTS = ("rows_read", "rows_written", "rows_quarantined")


def run_diff(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Compares two summaries.

    Args:
        first: summary of a run.
        second: of another.

    Returns:
        ``causes``: path -> [first, second] of settings, code, versions and input that
        differ, entries of a list by their ``name``; ``data``: the same for counts of
        rows; ``metrics``: for each slice of either, metric -> [first, second],
        undefined values as None; ``runs``, ``pipelines`` and ``verdict``: of both.
    """
    causes: dict[str, list[Any]] = {}
    for name in _CAUSES:
        causes |= _differences(name, first.get(name), second.get(name))
    data = {
        key: pair
        for key in _COUNTS
        if (pair := [(run.get("data") or {}).get(key) for run in (first, second)])[0]
        != pair[1]
    }
    return {
        "runs": [first["run"], second["run"]],
        "pipelines": [first["pipeline"], second["pipeline"]],
        "causes": causes,
        "data": data,
        "metrics": _metrics(first, second),
        "verdict": [_verdict(first), _verdict(second)],
    }


def _differences(path: str, first: Any, second: Any) -> dict[str, list[Any]]:
    """The smallest parts that differ, by their path."""
    ours, theirs = _parts(first), _parts(second)
    if ours is None or theirs is None or type(first) is not type(second):
        return {} if first == second else {path: [first, second]}
    found: dict[str, list[Any]] = {}
    for key in ours | theirs:
        found |= _differences(f"{path}{key}", ours.get(key), theirs.get(key))
    if isinstance(first, list):
        # The order of features is that of a model's inputs.
        orders = [
            [k[1:-1] for k in ours if k in theirs],
            [k[1:-1] for k in theirs if k in ours],
        ]
        if orders[0] != orders[1]:
            found[f"{path} (order)"] = orders
    return found


def _parts(value: Any) -> dict[str, Any] | None:
    """Parts of a mapping or of a list of mappings, by how a path goes on to them."""
    if isinstance(value, dict):
        return {f".{key}": one for key, one in value.items()}
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        names = [one["name"] for one in value if isinstance(one.get("name"), str)]
        keys = names if len(set(names)) == len(value) else range(len(value))
        return {f"[{key}]": one for key, one in zip(keys, value, strict=True)}
    return None


def _metrics(first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    """Values of both runs, slice by slice, the overall one first."""
    ours, theirs = (dict(_slices(run)) for run in (first, second))
    sides = (ours, theirs)
    return [
        {
            "slice": dict(key),
            "rows": [side[key]["rows"] if key in side else None for side in sides],
            "metrics": {
                name: [_value(side.get(key), name) for side in sides]
                for name in _names(*(side.get(key) for side in sides))
            },
        }
        for key in {**ours, **theirs}
    ]


def _slices(run: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Slices of a run by what names them."""
    for one in run.get("slices") or ():
        yield tuple(sorted(one["slice"].items())), one


def _names(*slices: dict[str, Any] | None) -> list[str]:
    """Metrics of any of the slices, in their order."""
    return list(dict.fromkeys(name for one in slices if one for name in one["metrics"]))


def _value(one: dict[str, Any] | None, name: str) -> float | None:
    """A metric's value, None where it is undefined or absent."""
    value: float | None = (one or {"metrics": {}})["metrics"].get(name, {}).get("value")
    return value


def _verdict(run: dict[str, Any]) -> str:
    """What became of a run."""
    if run.get("error"):
        return "failed"
    verdict = run.get("verdict")
    return "blessed" if verdict and verdict["blessed"] else "not blessed"
