"""FuxiCTR's side, run in an environment of its own: PYTHON THIS_FILE SETTINGS.

Its documented way: ``FeatureProcessor`` and ``build_dataset`` on raw CSV, then
``RankDataLoader`` and ``fit``. Its wheel has no DCN-v2 for plain fields, so the network
is put together here from its own layers, in the parallel form of its model zoo. Numbers
get a width of one, as ours have.
"""

import json
import logging
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from fuxictr.features import FeatureMap
from fuxictr.preprocess import FeatureProcessor, build_dataset
from fuxictr.pytorch.dataloaders import RankDataLoader
from fuxictr.pytorch.layers import CrossNetV2, FeatureEmbedding, MLP_Block
from fuxictr.pytorch.models import BaseModel
from fuxictr.pytorch.torch_utils import seed_everything
from sklearn.metrics import roc_auc_score

PACKAGES = ("fuxictr", "torch", "numpy", "polars", "ray")
DATASET = "clicks"


class DCNv2(BaseModel):
    """Cross layers beside dense layers, on all fields side by side."""

    def __init__(
        self, feature_map: Any, settings: dict[str, Any], folder: Path
    ) -> None:
        super().__init__(
            feature_map,
            model_root=str(folder),
            metrics=["AUC"],
            verbose=0,
            reduce_lr_on_plateau=False,
        )
        width = feature_map.sum_emb_out_dim()
        self.embedding_layer = FeatureEmbedding(feature_map, settings["embedding_dim"])
        self.crossnet = CrossNetV2(width, settings["cross_layers"])
        self.parallel_dnn = MLP_Block(width, hidden_units=settings["hidden"])
        self.fc = torch.nn.Linear(width + settings["hidden"][-1], 1)
        self.compile("adam", "binary_crossentropy", settings["learning_rate"])
        self.reset_parameters()
        self.model_to_device()
        self.loop_seconds = self.loop_cpu_seconds = 0.0

    def forward(self, inputs: Any) -> dict[str, Any]:
        """Click probabilities by the name that the base class expects."""
        fields = self.embedding_layer(self.get_inputs(inputs), flatten_emb=True)
        both = torch.cat([self.crossnet(fields), self.parallel_dnn(fields)], dim=-1)
        return {"y_pred": self.output_activation(self.fc(both))}

    def train_epoch(self, data_generator: Any) -> None:
        """The base class' epoch, timed; its validation is left out below."""
        wall, cpu = time.perf_counter(), time.process_time()
        super().train_epoch(data_generator)
        self.loop_seconds += time.perf_counter() - wall
        self.loop_cpu_seconds += time.process_time() - cpu

    def eval_step(self) -> None:
        """The base class' validation, not counted as training."""
        wall, cpu = time.perf_counter(), time.process_time()
        super().eval_step()
        self.loop_seconds -= time.perf_counter() - wall
        self.loop_cpu_seconds -= time.process_time() - cpu


def preprocess(settings: dict[str, Any], folder: Path) -> Any:
    """Raw CSV to Parquet of ids; returns the loaded feature map and the files."""
    ids = {
        "name": settings["ids"],
        "active": True,
        "dtype": "str",
        "type": "categorical",
    }
    numbers = {
        "name": settings["numbers"],
        "active": True,
        "dtype": "float",
        "type": "numeric",
        "normalizer": "StandardScaler",
        "embedding_dim": 1,
    }
    encoder = FeatureProcessor(
        feature_cols=[ids, numbers],
        label_col={"name": settings["label"], "dtype": "float"},
        dataset_id=DATASET,
        data_root=str(folder),
    )
    files = build_dataset(
        encoder,
        train_data=settings["train"],
        valid_data=settings["valid"],
        test_data=settings["test"],
        min_categr_count=settings["min_count"],
    )
    feature_map = FeatureMap(DATASET, encoder.data_dir)
    feature_map.load(encoder.json_file, {"embedding_dim": settings["embedding_dim"]})
    return feature_map, files


def main() -> None:
    """Trains, scores the test rows, and prints figures as JSON."""
    logging.disable(logging.WARNING)
    settings = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    folder = Path(settings["work"])
    torch.set_num_threads(settings["threads"])
    seed_everything(settings["seed"])
    feature_map, (train, valid, test) = preprocess(settings, folder)
    preprocessed = time.time()
    batch = {"batch_size": settings["batch_size"], "data_format": "parquet"}
    train_rows, valid_rows = RankDataLoader(
        feature_map, stage="train", train_data=train, valid_data=valid, **batch
    )
    model = DCNv2(feature_map, settings, folder)
    os.makedirs(model.model_dir, exist_ok=True)
    model.fit(train_rows, epochs=settings["epochs"], validation_data=valid_rows)
    end_to_end = time.time() - settings["started"]
    test_rows = RankDataLoader(feature_map, stage="test", test_data=test, **batch)
    labels = torch.cat([model.get_labels(one) for one in test_rows])
    result = {
        "end_to_end_seconds": end_to_end,
        "preprocess_seconds": preprocessed - settings["started"],
        "loop_seconds": model.loop_seconds,
        "loop_cpu_seconds": model.loop_cpu_seconds,
        "auc": roc_auc_score(labels.numpy(), model.predict(test_rows)),
        "parameters": sum(one.numel() for one in model.parameters()),
        "packages": {name: version(name) for name in PACKAGES},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
