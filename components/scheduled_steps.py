"""Training steps that a coordinator hands to the workers of parameter servers."""

import time
from collections import deque
from typing import Any

import tensorflow as tf

from components.training_step import StepReport, TrainingStep


class ScheduledSteps:
    """Calls a step on whichever worker is free.

    The coordinator reads the batches and sends them along, so that every row is trained
    on once an epoch whichever worker is slow or lost; a step of a lost worker is done
    again by another.

    Args:
        step: the step.
        strategy: the ``ParameterServerStrategy``.
        staleness: number of earlier steps whose updates a step may miss (Ho et al.
            2013, "More effective distributed ML via a stale synchronous parallel
            parameter server"); as many as there are workers when None.
    """

    def __init__(
        self, step: TrainingStep, strategy: Any, staleness: int | None
    ) -> None:
        self._step = step
        self._coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        workers = strategy._num_workers
        self._staleness = workers if staleness is None else staleness
        self._running: deque[Any] = deque()

    def take(self, iterator: Any) -> Any:
        """Sends the next batch to a worker; waits while too many steps are under way.

        Args:
            iterator: over global batches.

        Returns:
            For ``report``.

        Raises:
            StopIteration: there are no more batches.
        """
        start = time.perf_counter()
        batch = next(iterator)
        waited = time.perf_counter() - start
        while len(self._running) > self._staleness:
            self._running.popleft().fetch()
        value = self._coordinator.schedule(self._step.function, args=batch)
        self._running.append(value)
        return value, waited

    def report(self, taken: Any) -> StepReport:
        """Reads what a step returned; waits for it."""
        value, waited = taken
        return self._step.report((value.fetch(), waited))
