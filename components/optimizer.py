"""The optimizer that the configuration names."""

from typing import Any

from components.batch_scaling import batch_scaling
from components.config import TrainConfig
from models.sparse_optimizers import RowSparseAdagrad, RowSparseAdam, RowSparseSGD

_KINDS: dict[str, Any] = {
    "adam": RowSparseAdam,
    "adagrad": RowSparseAdagrad,
    "sgd": RowSparseSGD,
}


def make_optimizer(config: TrainConfig) -> Any:
    """Makes the optimizer; call it under the strategy.

    Args:
        config: name, learning rate and weight decay.

    Returns:
        A Keras optimizer that leaves untouched embedding rows alone. It takes
        gradients as ``components.training_step`` makes them, summed over the replicas.
    """
    return _KINDS[config.optimizer](
        batch_scaling(config, 1).peak_rate,
        weight_decay=config.weight_decay or None,
        reduced=True,
    )
