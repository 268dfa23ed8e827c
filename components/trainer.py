"""Entry point of the Trainer component: read, build, train, export."""

import json
import os
from typing import Any

import keras
import tensorflow as tf
import tensorflow_transform as tft

from components.calibration import calibrate_bias
from components.config import TrainConfig
from components.metrics.names import UserWeight
from components.model_inputs import inputs_of
from components.packed_input_fn import damage_named
from components.packed_input_fn import dataset as read_dataset
from components.preprocessing import LABEL, USER, WEIGHT
from components.signatures import export
from components.strategy import make_strategy
from components.training_loop import train
from data.dataset import Dataset
from data.inputs import ModelInput
from data.packed_shards import packed_files
from models.config import ModelConfig
from models.registry import build

TRAINING_FILE = "training.json"
# Rows from which the base rate is estimated; at 1 % clicks its standard error is
# then a fifth of a per cent of the rate's own size.
BASE_RATE_BATCHES = 50
# Without gradients a large batch fits, and fewer batches cost less each.
VALIDATION_BATCH = 8192


def run_fn(fn_args: Any) -> None:
    """Trains one model.

    Args:
        fn_args: TFX's ``FnArgs``; ``custom_config`` holds JSON under ``dataset``,
            ``model`` and ``train``, and what a user weighs in GAUC under
            ``user_weight``.

    Raises:
        DataError: a packed shard is absent, cut or damaged.
        RunError: there are no rows to train on, or the loss is not finite.
    """
    dataset = Dataset.model_validate_json(fn_args.custom_config["dataset"])
    model_config = ModelConfig.model_validate_json(fn_args.custom_config["model"])
    config = TrainConfig.model_validate_json(fn_args.custom_config["train"])
    transform = tft.TFTransformOutput(fn_args.transform_output)
    inputs = inputs_of(dataset, transform)
    train_files = _files(fn_args.train_files)
    held_out = _files(fn_args.eval_files) if dataset.split.has_validation else []

    def epoch_rows(epoch: int) -> tf.data.Dataset:
        return read_dataset(
            train_files,
            inputs,
            LABEL,
            WEIGHT if dataset.keys.weight else None,
            batch_size=config.batch_size,
            shuffle_rows=config.shuffle_rows,
            seed=config.seed,
            epoch=epoch,
        )

    keras.utils.set_random_seed(config.seed)
    strategy = make_strategy(config.strategy)
    with damage_named([*train_files, *held_out]):
        with strategy.scope():
            model = build(model_config, inputs, base_rate=base_rate(epoch_rows(0)))
        result = train(
            model,
            epoch_rows,
            config=config,
            strategy=strategy,
            validation_data=_validation_rows(held_out, dataset, inputs),
            user_weight=_user_weight(fn_args, dataset),
            log_dir=fn_args.model_run_dir,
        )
        if config.calibrate:
            calibrate_bias(model, epoch_rows(0))
    export(model, transform, dataset, fn_args.serving_model_dir)
    with open(os.path.join(fn_args.model_run_dir, TRAINING_FILE), "w") as file:
        json.dump(result.to_json(), file)


def _validation_rows(
    files: list[str], dataset: Dataset, inputs: tuple[ModelInput, ...]
) -> tf.data.Dataset | None:
    """Batches of the validation rows, None where none are declared."""
    if not files:
        return None
    return read_dataset(
        files,
        inputs,
        LABEL,
        WEIGHT if dataset.keys.weight else None,
        USER if dataset.keys.user_id else None,
        batch_size=VALIDATION_BATCH,
    )


def _user_weight(fn_args: Any, dataset: Dataset) -> UserWeight:
    """What a user weighs in GAUC: as in the evaluation, by whose rule it is chosen."""
    chosen: UserWeight | None = fn_args.custom_config.get("user_weight")
    return chosen or ("weight" if dataset.keys.weight else "impressions")


def _files(patterns: list[str]) -> list[str]:
    """The packed shards below TFX's patterns, ``<artifact>/Split-<name>/*``."""
    return [
        file for pattern in patterns for file in packed_files(os.path.dirname(pattern))
    ]


def base_rate(rows: tf.data.Dataset) -> float:
    """Weighted share of clicks in the first batches, strictly between 0 and 1."""
    clicks = weight = 0.0
    for _, label, weights in rows.take(BASE_RATE_BATCHES):
        clicks += float((label.numpy() * weights.numpy()).sum())
        weight += float(weights.numpy().sum())
    # Half a click on either side keeps the logit finite on tiny data.
    return (clicks + 0.5) / (weight + 1.0)
