"""``run_fn`` as the TFX guide has it: tfx-bsl's data set and Keras ``fit``.

The network, its inputs, the epochs and the batch size are the demo's own, so that only
the machinery differs.
"""

from typing import Any

import keras
import tensorflow_transform as tft
from tfx_bsl.public import tfxio

from components.config import TrainConfig
from components.model_inputs import inputs_of
from components.preprocessing import LABEL
from components.signatures import export
from data.dataset import Dataset
from models.config import ModelConfig
from models.registry import build


def run_fn(fn_args: Any) -> None:
    """Trains with Keras ``fit`` and exports.

    Args:
        fn_args: TFX's ``FnArgs``, with the same ``custom_config`` as ours.
    """
    dataset = Dataset.model_validate_json(fn_args.custom_config["dataset"])
    config = TrainConfig.model_validate_json(fn_args.custom_config["train"])
    transform = tft.TFTransformOutput(fn_args.transform_output)
    inputs = inputs_of(dataset, transform)
    rows = fn_args.data_accessor.tf_dataset_factory(
        fn_args.train_files,
        tfxio.TensorFlowDatasetOptions(
            batch_size=config.batch_size, label_key=LABEL, num_epochs=1
        ),
        transform.transformed_metadata.schema,
    )
    names = {one.name for one in inputs}
    rows = rows.map(lambda x, y: ({k: v for k, v in x.items() if k in names}, y))
    keras.utils.set_random_seed(config.seed)
    model = build(
        ModelConfig.model_validate_json(fn_args.custom_config["model"]), inputs
    )
    model.compile(
        keras.optimizers.Adam(config.learning_rate),
        keras.losses.BinaryCrossentropy(from_logits=True),
    )
    model.fit(rows, epochs=config.epochs, verbose=0)
    export(model, transform, dataset, fn_args.serving_model_dir)
