"""TensorBoard's profiler, for a range of steps."""

import tensorflow as tf


class Profiler:
    """Records what host and devices do from one step to another.

    Args:
        log_dir: folder of TensorBoard; nothing is recorded without one.
        steps: first and last step, from 1, or None.
    """

    def __init__(self, log_dir: str | None, steps: tuple[int, int] | None) -> None:
        self._log_dir, self._steps = log_dir, steps
        self._runs = False

    def at(self, step: int) -> None:
        """Starts or ends the recording; called before each step.

        Args:
            step: number of the step that comes, from 1.
        """
        if self._steps is None or self._log_dir is None:
            return
        first, last = self._steps
        if step > last:
            self.close()
        elif step >= first and not self._runs:
            tf.profiler.experimental.start(self._log_dir)
            self._runs = True

    def close(self) -> None:
        """Ends the recording, if it runs, and writes it."""
        if self._runs:
            tf.profiler.experimental.stop()
            self._runs = False
