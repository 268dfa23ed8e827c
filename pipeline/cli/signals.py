"""What a signal does to a command."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn


@contextlib.contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Turns SIGTERM into an exit with 143, so that what is open is put in order.

    A second one ends the process at once.
    """

    def leave(number: int, _frame: FrameType | None) -> NoReturn:
        signal.signal(number, signal.SIG_DFL)
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears of signals
        return
    before = signal.signal(signal.SIGTERM, leave) or signal.SIG_DFL
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
