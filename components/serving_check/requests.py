"""What a signature makes of odd requests."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import numpy as np
import tensorflow as tf

from components.serving_check.cases import Case
from components.serving_check.signature import Signature, fault_of

# TensorFlow quotes the bytes of an example that it cannot parse in its message, and
# fails to decode that where they are no text: also a refusal.
REFUSALS = (tf.errors.InvalidArgumentError, UnicodeDecodeError)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of one request, sent between two ordinary rows.

    Attributes:
        column: the odd column; None for the request as a whole.
        case: what was odd.
        outcome: whether there was an answer.
        prediction: the answer, None without a sound one.
        fault: what is wrong with the outcome, or None.
    """

    column: str | None
    case: str
    outcome: Literal["answered", "refused", "error"]
    prediction: float | None = None
    fault: str | None = None


def send_all(
    signature: Signature,
    cases: Iterable[Case],
    plain: bytes,
    tolerance: float,
    starts: Callable[[str], None],
) -> Iterator[Outcome]:
    """Sends each request that the signature can be sent.

    Args:
        signature: the signature.
        cases: the requests.
        plain: the ordinary row that stands before and behind each.
        tolerance: how far an odd request may move the prediction of its neighbours.
        starts: hears of each request before it is sent.

    Yields:
        What became of each.
    """
    usual = signature.predict([plain]).reshape(-1)[0]
    for case in cases:
        if signature.takes_examples or case.as_tensors:
            starts(f"{signature.name}: {case.column or 'request'}: {case.name}")
            yield _send(signature, case, plain, usual, tolerance)


def _send(
    signature: Signature, case: Case, plain: bytes, usual: float, tolerance: float
) -> Outcome:
    """Sends one request between two ordinary rows."""
    try:
        predictions = signature.predict([plain, case.example, plain])
    except REFUSALS:
        fault = "refused, but the log may hold it" if case.must_answer else None
        return Outcome(case.column, case.name, "refused", fault=fault)
    except Exception as error:
        # The type alone: messages of TensorFlow quote what was sent.
        fault = type(error).__name__
        return Outcome(case.column, case.name, "error", fault=fault)
    fault = fault_of(predictions, 3)
    if fault is not None:
        return Outcome(case.column, case.name, "answered", fault=fault)
    before, prediction, behind = predictions.reshape(-1).tolist()
    moved = np.abs(np.array([before, behind]) - usual).max()
    if not moved <= tolerance:  # also where it is NaN
        fault = f"moved its neighbours by {moved:.3g}"
    return Outcome(case.column, case.name, "answered", prediction, fault)
