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
        differ; ``data``: the same for counts of rows; ``metrics``: for each slice of
        either, metric -> [first, second], undefined values as None; ``verdict``: both.
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
        "causes": causes,
        "data": data,
        "metrics": _metrics(first, second),
        "verdict": [_verdict(first), _verdict(second)],
    }


def _differences(path: str, first: Any, second: Any) -> dict[str, list[Any]]:
    """Leaves that differ, by their path."""
    if isinstance(first, dict) and isinstance(second, dict):
        found: dict[str, list[Any]] = {}
        for key in sorted({*first, *second}):
            found |= _differences(f"{path}.{key}", first.get(key), second.get(key))
        return found
    if _is_list(first) and _is_list(second) and len(first) == len(second):
        return {
            place: pair
            for index, (one, other) in enumerate(zip(first, second, strict=True))
            for place, pair in _differences(f"{path}[{index}]", one, other).items()
        }
    return {} if first == second else {path: [first, second]}


def _is_list(value: Any) -> bool:
    """True for lists of a JSON value."""
    return isinstance(value, list)


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
