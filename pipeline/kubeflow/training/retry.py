"""Calls to the API server, again where it is overloaded or away for a moment."""

from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")

# Seconds; a control plane that is upgraded is back within two minutes.
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
_TOO_MANY_REQUESTS = 429


def retried(request: Callable[[], Answer], sleep: Callable[[float], None]) -> Answer:
    """Sends a request until it is answered for good.

    Args:
        request: sends it.
        sleep: waits for seconds.

    Returns:
        The answer.

    Raises:
        ApiException: the server refused the request, or still fails.
        HTTPError: urllib3's; the server cannot be reached.
    """
    from kubernetes.client import ApiException
    from urllib3.exceptions import HTTPError

    for pause in PAUSES:
        try:
            return request()
        except ApiException as error:
            if error.status != _TOO_MANY_REQUESTS and error.status < 500:
                raise
        except HTTPError:
            pass
        sleep(pause)
    return request()
