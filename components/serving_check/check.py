"""The whole serving check of one model."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from components.serving_check.config import ServingCheckConfig
from components.serving_check.process import ReplayError, replay
from components.serving_check.verdict import Check, model_checks, size_check
from data import paths
from data.errors import DataError

# Columns that are named in a line.
_NAMED = 10


@dataclasses.dataclass(frozen=True, kw_only=True)
class ServingResult:
    """What a serving check found.

    Attributes:
        rows: number of rows that were replayed.
        size_bytes: of the SavedModel on disk.
        checks: in the order in which they were made.
        facts: what the replay found, empty where it did not come back.
    """

    rows: int
    size_bytes: int
    checks: tuple[Check, ...]
    facts: dict[str, Any]

    @property
    def passed(self) -> bool:
        """True if no check failed."""
        return all(check.status != "fail" for check in self.checks)

    @property
    def reason(self) -> str:
        """The outcome in one line."""
        failed = [check for check in self.checks if check.status == "fail"]
        if not failed:
            passed = sum(check.status == "pass" for check in self.checks)
            return f"serving check passed: {passed} of {len(self.checks)} checks"
        named = "; ".join(
            f"{one.check}{f' of {one.signature}' if one.signature else ''}: {one.text}"
            for one in failed
        )
        return f"serving check failed: {named}"

    def to_json(self) -> dict[str, Any]:
        """The same as JSON types, without the predictions of single rows."""
        signatures = {
            name: {key: one for key, one in found.items() if key != "predictions"}
            for name, found in self.facts.get("signatures", {}).items()
        }
        return {
            "passed": self.passed,
            "reason": self.reason,
            "rows": self.rows,
            "size_bytes": self.size_bytes,
            "checks": [dataclasses.asdict(check) for check in self.checks],
            **self.facts,
            "signatures": signatures,
        }


def check_serving(
    model: str, rows: Sequence[bytes], config: ServingCheckConfig
) -> ServingResult:
    """Checks that a model answers in a process of its own as it was evaluated.

    Args:
        model: folder of the SavedModel.
        rows: serialized tf.Examples of the evaluated rows.
        config: tolerance and limits.

    Returns:
        The result; whatever is wrong with the model is in it and not raised.

    Raises:
        DataError: the rows hold nothing that the model reads.
    """
    size_bytes = sum(paths.size(f"{model}/{file}") for file in paths.walk(model))
    checks = [size_check(size_bytes, config)]
    facts: dict[str, Any] = {}
    try:
        facts = replay(model, rows, config)
    except ReplayError as error:
        checks.append(Check("load", None, "fail", str(error)))
    else:
        # Only now, since a model that ends its process would end this one, too.
        checks += _columns(model, rows)
        checks += model_checks(facts, _evaluated(model, rows), config)
    return ServingResult(
        rows=len(rows), size_bytes=size_bytes, checks=tuple(checks), facts=facts
    )


def _columns(model: str, rows: Sequence[bytes]) -> list[Check]:
    """Which columns of the model the rows have; nothing where it does not name them.

    An absent column is an absent value to a model, so rows of another log would be
    answered as well.
    """
    from components.baseline_columns import columns_of
    from components.serving_check.columns import absent_columns

    names = columns_of(model)
    if not names:
        return []
    absent = absent_columns(names, rows)
    more = ["..."] if len(absent) > _NAMED else []
    listed = ", ".join(absent[:_NAMED] + more)
    if len(absent) == len(names):
        raise DataError(f"rows have none of the model's columns ({listed})")
    text = f"{len(names) - len(absent)} of {len(names)} in the rows"
    if absent:
        text += f"; absent in all of them: {listed}"
    return [Check("columns", None, "pass", text)]


def _evaluated(model: str, rows: Sequence[bytes]) -> Any:
    """Predictions by the Evaluator's path, or why there are none."""
    from components.serving_check.evaluated import evaluated_predictions

    try:
        return evaluated_predictions(model, rows)
    except Exception as error:
        # The type alone: messages of TensorFlow quote the row.
        return f"the Evaluator's path fails: {type(error).__name__}"
