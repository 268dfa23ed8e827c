"""What a global batch means for replicas and for the learning rate."""

import dataclasses

from components.config import TrainConfig


@dataclasses.dataclass(frozen=True)
class BatchScaling:
    """Sizes and rates of a training.

    Attributes:
        replica_rows: rows of each replica's part of a whole batch.
        peak_rate: learning rate after the warm-up, in the first epoch.
        warmup_steps: steps over which the rate rises to it.
        decay: factor on the rate after each epoch.
    """

    replica_rows: tuple[int, ...]
    peak_rate: float
    warmup_steps: int
    decay: float

    def rate(self, step: int, epoch: int) -> float:
        """Learning rate of a step.

        Args:
            step: number of the step over all epochs, from 0.
            epoch: number of its epoch, from 0.

        Returns:
            The rate; in the warm-up it rises linearly from the first step on.
        """
        risen = min(1.0, (step + 1) / self.warmup_steps) if self.warmup_steps else 1.0
        return self.peak_rate * risen * self.decay**epoch


def batch_scaling(config: TrainConfig, replicas: int) -> BatchScaling:
    """Derives sizes and rates from the configuration.

    The batch size is global, so the number of replicas changes no rate: a replica's
    gradient is its part of the mean over the whole batch.

    Args:
        config: batch size, learning rate and the batch size that it was found with.
        replicas: how many train together.

    Returns:
        Sizes and rates. The rate grows in proportion to the batch size (Goyal et al.
        2017, https://arxiv.org/abs/1706.02677, who find that it needs a warm-up).
    """
    scale = config.batch_size / (config.base_batch_size or config.batch_size)
    return BatchScaling(
        replica_rows=tuple(
            part_of(config.batch_size, replica, replicas)[1]
            - part_of(config.batch_size, replica, replicas)[0]
            for replica in range(replicas)
        ),
        peak_rate=config.learning_rate * scale,
        warmup_steps=config.warmup_steps,
        decay=config.learning_rate_decay,
    )


def part_of(rows: int, replica: int, replicas: int) -> tuple[int, int]:
    """First and last (exclusive) row of a replica's part of a batch.

    Args:
        rows: of the whole batch; an integer or an integer tensor.
        replica: number of the replica, from 0.
        replicas: how many share the batch.

    Returns:
        Borders; parts differ by one row at most, and are empty where rows run out.
    """
    return rows * replica // replicas, rows * (replica + 1) // replicas
