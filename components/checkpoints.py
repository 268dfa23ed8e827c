"""Checkpoints of a training: written every some steps, read after a kill."""

import tempfile
from typing import Any

import keras
import tensorflow as tf

from components.training_state import TrainingState


class Checkpoints:
    """Weights, moments of the optimizer and the place in the data, on disk.

    TensorFlow writes a checkpoint beside the one before and names it when it is
    complete, so that a kill while it is written costs only the new one.

    Args:
        folder: where they are. When None only the best weights are kept, in a
            temporary one.
        model: the model, built.
        optimizer: its optimizer, built.
        state: the counters; restored in place.
        writes: whether this process's files are the ones that count. In collective
            training all workers must take part in writing, but only the chief's
            files are kept.
    """

    def __init__(
        self,
        folder: str | None,
        model: keras.Model,
        optimizer: Any,
        state: TrainingState,
        *,
        writes: bool = True,
    ) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="ctr-checkpoints-")
        self._source = folder or self._scratch.name
        self._target = self._source if writes else self._scratch.name
        # Variables by their order, not the model as an object: TensorFlow finds only
        # those that a Keras layer holds as an attribute, and not those in a list.
        weights = [one.value for one in model.variables]
        moments = [one.value for one in optimizer.variables]
        self._weights = tf.train.Checkpoint(weights=weights)
        self._checkpoint = tf.train.Checkpoint(
            weights=weights, moments=moments, state=_Counters(state)
        )
        self._manager = tf.train.CheckpointManager(
            self._checkpoint, self._target, max_to_keep=1
        )
        self._state, self._is_resumable = state, folder is not None

    def restore(self) -> bool:
        """Continues from the last checkpoint.

        Returns:
            Whether there was one.
        """
        latest = tf.train.latest_checkpoint(self._source)
        if latest is None:
            return False
        self._checkpoint.restore(latest).assert_existing_objects_matched()
        return True

    def save(self) -> None:
        """Writes a checkpoint and removes the one before, and outdated best weights."""
        if self._is_resumable:
            self._manager.save(checkpoint_number=self._state.steps)
        kept = f"{self._best(self._state.best.epoch)}."
        for path in tf.io.gfile.glob(f"{self._target}/best-*"):
            if not path.startswith(kept):
                tf.io.gfile.remove(path)

    def keep_best(self, epoch: int) -> None:
        """Keeps the weights as those of the best epoch so far."""
        self._weights.write(self._best(epoch))

    def restore_best(self, epoch: int) -> None:
        """Gives the model the kept weights of an epoch."""
        path = self._best(epoch)
        if not tf.io.gfile.exists(f"{path}.index"):
            # A worker that was started again finds only the chief's.
            path = f"{self._source}/best-{epoch}"
        self._weights.read(path).assert_existing_objects_matched()

    def remove(self) -> None:
        """Removes all of them; called when the model is exported."""
        self._scratch.cleanup()
        if self._target == self._source and tf.io.gfile.exists(self._source):
            tf.io.gfile.rmtree(self._source)

    def _best(self, epoch: int | None) -> str:
        """Prefix of the files with the weights after an epoch."""
        return f"{self._target}/best-{epoch}"


class _Counters(tf.train.experimental.PythonState):  # type: ignore[misc]
    """The counters as part of a checkpoint."""

    def __init__(self, state: TrainingState) -> None:
        self._state = state

    def serialize(self) -> str:
        """The counters as text."""
        return self._state.to_json()

    def deserialize(self, string_value: bytes) -> None:
        """Takes them over."""
        self._state.load(tf.compat.as_text(string_value))
