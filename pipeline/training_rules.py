"""Rules that tie the training to the declared data."""

from components.config import TrainConfig
from data.dataset import Dataset


def check_training(train: TrainConfig, dataset: Dataset) -> None:
    """Checks that what stops a training can be measured.

    Args:
        train: settings of the training.
        dataset: the declared data.

    Raises:
        ValueError: the first rule that is broken, with the places in the file.
    """
    monitor = train.validation.monitor
    if monitor is None:
        return
    if not dataset.split.has_validation:
        part = {
            "time": "validate_days or validate_fraction",
            "hash": "validate_fraction",
            "given": "validation",
        }[dataset.split.by]
        raise ValueError(
            f"train.validation.monitor: '{monitor}' needs validation rows; set "
            f"data.split.{part}"
        )
    if monitor == "gauc" and dataset.keys.user_id is None:
        raise ValueError(
            "train.validation.monitor: 'gauc' needs data.keys.user_id; declare it, or "
            "monitor log_loss"
        )
