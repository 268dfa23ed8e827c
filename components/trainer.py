"""Entry point of the Trainer component: read, build, train, export."""

import json
import os
from typing import Any

import keras
import tensorflow as tf
import tensorflow_transform as tft

from components.calibration import calibrate_bias
from components.cluster.discovery import find_cluster
from components.cluster.lost import cluster_losses
from components.config import TrainConfig
from components.metrics.names import UserWeight
from components.model_inputs import inputs_of
from components.packed_input_fn import damage_named
from components.signatures import export
from components.strategy import make_strategy, meet_again
from components.training_loop import train
from components.training_rows import PackedSplit, TrainingRows
from data import paths
from data.dataset import Dataset
from models.config import ModelConfig
from models.registry import build

TRAINING_FILE = "training.json"
# Rows from which the base rate is estimated; at 1 % clicks its standard error is
# then a fifth of a per cent of the rate's own size.
BASE_RATE_BATCHES = 50


def run_fn(fn_args: Any) -> None:
    """Trains one model; in a cluster every worker runs this.

    Args:
        fn_args: TFX's ``FnArgs``; ``custom_config`` holds JSON under ``dataset``,
            ``model`` and ``train``, what a user weighs in GAUC under ``user_weight``,
            and under ``checkpoints`` a folder that outlives a killed run, if any.

    Raises:
        DataError: a packed shard is absent, cut or damaged.
        RunError: there are no rows to train on, or the loss is not finite.
        ConfigError: the strategy does not fit the cluster.
    """
    given = fn_args.custom_config
    dataset = Dataset.model_validate_json(given["dataset"])
    model_config = ModelConfig.model_validate_json(given["model"])
    config = TrainConfig.model_validate_json(given["train"])
    keras.utils.set_random_seed(config.seed)
    if config.deterministic:
        tf.config.experimental.enable_op_determinism()
    cluster = find_cluster(os.environ)
    # Before TensorFlow computes anything: a cluster is joined at the start or never.
    strategy = make_strategy(config.strategy, cluster, timeout=config.cluster_timeout)
    is_chief = cluster is None or cluster.is_chief
    transform = tft.TFTransformOutput(fn_args.transform_output)
    rows = TrainingRows(
        dataset=dataset,
        inputs=inputs_of(dataset, transform),
        config=config,
        train=PackedSplit.of(fn_args.train_files),
        held_out=PackedSplit.of(
            fn_args.eval_files if dataset.split.has_validation else []
        ),
    )
    checkpoints = None
    if given.get("checkpoints"):
        name = rows.fingerprint(given["model"], tf.version.VERSION)
        checkpoints = f"{given['checkpoints']}/{name}"
    with damage_named(rows.files), cluster_losses(cluster):
        with strategy.scope():
            model = build(
                model_config,
                rows.inputs,
                base_rate=base_rate(rows.epoch(0)),
                table_partitions=len(cluster.addresses.get("ps", "1"))
                if cluster
                else 1,
                precision=config.precision,
            )
        result = train(
            model,
            rows.worker_batches(),
            config=config,
            strategy=strategy,
            validation_data=rows.validation(),
            user_weight=_user_weight(fn_args, dataset),
            log_dir=fn_args.model_run_dir,
            checkpoint_dir=checkpoints,
            is_chief=is_chief,
        )
        if config.calibrate:
            calibrate_bias(model, rows.epoch(0))
        export(model, transform, dataset, fn_args.serving_model_dir)
        meet_again(strategy)
    with paths.open_write(f"{fn_args.model_run_dir}/{TRAINING_FILE}") as file:
        file.write(json.dumps(result.to_json()).encode())
    if checkpoints and is_chief:
        # The model is written: nothing is left to go on with.
        paths.remove_tree(checkpoints)


def _user_weight(fn_args: Any, dataset: Dataset) -> UserWeight:
    """What a user weighs in GAUC: as in the evaluation, by whose rule it is chosen."""
    chosen: UserWeight | None = fn_args.custom_config.get("user_weight")
    return chosen or ("weight" if dataset.keys.weight else "impressions")


def base_rate(rows: tf.data.Dataset) -> float:
    """Weighted share of clicks in the first batches, strictly between 0 and 1."""
    clicks = weight = 0.0
    for _, label, weights in rows.take(BASE_RATE_BATCHES):
        clicks += float((label.numpy() * weights.numpy()).sum())
        weight += float(weights.numpy().sum())
    # Half a click on either side keeps the logit finite on tiny data.
    return (clicks + 0.5) / (weight + 1.0)
