"""Starts a process again when it was killed or lost its cluster."""

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from types import FrameType

# EX_TEMPFAIL of sysexits.h: the same command may work when it is run again.
LOST_EXIT_CODE = 75
# TensorFlow's tasks notice a lost one after ten seconds without a heartbeat. A task that
# is back before would meet the old cluster, and be turned away.
PAUSE_SECONDS = 10.0
# Kubernetes kills after 30 s, and Slurm too: the child must be gone before.
GRACE_SECONDS = 20.0


class Supervisor:
    """Runs one command until it ends for good.

    SIGTERM and SIGINT are handed on and end the supervising. TensorFlow takes SIGTERM as
    a notice while a cluster is connected, so a child that stays is killed.

    Args:
        command: program and arguments.
        restarts: how often to start it again at most.
        note: receives one line for each new start.
        pause: seconds before a new start.
        grace: seconds between a signal handed on and the kill.
    """

    def __init__(
        self,
        command: Sequence[str],
        restarts: int,
        note: Callable[[str], None],
        *,
        pause: float = PAUSE_SECONDS,
        grace: float = GRACE_SECONDS,
    ) -> None:
        self._command, self._restarts, self._note = command, restarts, note
        self._pause, self._grace = pause, grace
        self._child: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def run(self) -> int:
        """Runs the command.

        Returns:
            Its last exit code; 128 and the number for an end by a signal.
        """
        handlers = {
            number: signal.signal(number, handler)
            for number, handler in (
                (signal.SIGTERM, self._stop),
                (signal.SIGINT, self._stop),
                (signal.SIGALRM, self._kill),
            )
        }
        try:
            code = self._start()
            for number in range(1, self._restarts + 1):
                if self._is_stopped or not (code < 0 or code == LOST_EXIT_CODE):
                    break
                self._note(
                    f"{_reason(code)}; starts again in {self._pause:.0f} s "
                    f"({number} of {self._restarts})"
                )
                self._wait()
                if self._is_stopped:
                    break
                code = self._start()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in handlers.items():
                signal.signal(number, handler)
        return code if code >= 0 else 128 - code

    def _start(self) -> int:
        """Starts the command and waits for its end."""
        # A session of its own: Ctrl-C reaches it once, through this process.
        with subprocess.Popen(self._command, start_new_session=True) as self._child:
            if self._is_stopped:  # The signal came before there was a child.
                self._child.kill()
            return self._child.wait()

    def _wait(self) -> None:
        """The pause before a new start; a signal cuts it short."""
        end = time.monotonic() + self._pause
        while not self._is_stopped and time.monotonic() < end:
            time.sleep(0.1)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Hands a signal on; the child must end within the grace."""
        del frame
        self._is_stopped = True
        if self._child is not None:
            self._child.send_signal(number)
            signal.setitimer(signal.ITIMER_REAL, self._grace)

    def _kill(self, number: int, frame: FrameType | None) -> None:
        """Ends a child that stayed."""
        del number, frame
        if self._child is not None:
            self._child.kill()


def _reason(code: int) -> str:
    """Why a process ended that is started again."""
    if code == LOST_EXIT_CODE:
        return "cluster lost"
    name = signal.Signals(-code).name
    if -code == signal.SIGALRM:
        return f"ended by {name}: the cluster did not form in time"
    return f"ended by {name}"
