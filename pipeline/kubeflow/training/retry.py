"""Requests to the API server or a store, again where it is away for a moment."""

from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")

# Seconds; a control plane that is upgraded is back within two minutes.
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)


def retried(
    request: Callable[[], Answer],
    sleep: Callable[[float], None],
    is_passing: Callable[[Exception], bool],
) -> Answer:
    """Sends a request until it is answered for good.

    Args:
        request: sends it.
        sleep: waits for seconds.
        is_passing: whether an error may be gone at the next try.

    Returns:
        The answer.

    Raises:
        Exception: one that does not pass, or that of the last try.
    """
    for pause in PAUSES:
        try:
            return request()
        except Exception as error:
            if not is_passing(error):
                raise
        sleep(pause)
    return request()
