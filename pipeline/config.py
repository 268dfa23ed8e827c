"""One file that describes a whole pipeline: data, model, training, evaluation."""

from pathlib import Path
from typing import Any

import pydantic

from components.config import EvaluateConfig, TrainConfig
from components.data_checks.config import DataChecksConfig
from components.packing.config import PackingConfig
from components.serving_check.config import ServingCheckConfig
from data.dataset import Dataset
from data.errors import ConfigError, suggest
from data.settings import Settings, parse, read_yaml
from data.simulator.config import SimulatorConfig
from models.config import ModelConfig
from pipeline.evaluation_rules import check_evaluation
from pipeline.kubeflow.config import KubeflowConfig
from pipeline.preset_files import NAME_PATTERN, PRESETS, preset_names
from pipeline.training_rules import check_training


class PipelineConfig(Settings):
    """A pipeline as its YAML file declares it."""

    name: str = pydantic.Field(
        pattern=NAME_PATTERN,
        description="Lower case, digits and dashes; names the folder under runs/.",
    )
    data: Dataset
    simulate: SimulatorConfig | None = pydantic.Field(
        None, description="Log to simulate when no input is given."
    )
    input: str | None = pydantic.Field(
        None, description="Folder or file of the log; --input overrides it."
    )
    schema_file: str | None = pydantic.Field(
        None,
        alias="schema",
        description="Curated schema (pbtxt), relative to this file; inferred if absent.",
    )
    data_checks: DataChecksConfig = DataChecksConfig()
    packing: PackingConfig = PackingConfig()
    model: ModelConfig = ModelConfig()
    train: TrainConfig = TrainConfig()
    evaluate: EvaluateConfig = EvaluateConfig()
    serving_check: ServingCheckConfig = ServingCheckConfig()
    kubeflow: KubeflowConfig | None = pydantic.Field(
        None, description="The cluster, for `ctr compile`."
    )

    @pydantic.model_validator(mode="after")
    def _training_fits(self) -> "PipelineConfig":
        check_training(self.train, self.data)
        return self

    @pydantic.model_validator(mode="after")
    def _evaluation_fits(self) -> "PipelineConfig":
        check_evaluation(self.evaluate, self.data)
        return self

    def without_baseline(self) -> "PipelineConfig":
        """The same pipeline, compared with no earlier model."""
        evaluate = self.evaluate.model_copy(update={"baseline": False})
        return self.model_copy(update={"evaluate": evaluate})


def load(config: Path | None = None, preset: str | None = None) -> PipelineConfig:
    """Reads a configuration file or a preset.

    Args:
        config: path of a YAML file.
        preset: name of a preset.

    Returns:
        The frozen configuration; relative paths in it are made absolute.

    Raises:
        ConfigError: neither or both given, an unknown preset, or a faulty file.
    """
    if (config is None) == (preset is None):
        raise ConfigError("pass either --config FILE or --preset NAME")
    if preset is not None:
        if preset not in preset_names():
            raise ConfigError(
                f"--preset: unknown preset '{preset}'. Known: "
                f"{', '.join(preset_names())}.{suggest(preset, preset_names())}"
            )
        config = PRESETS / f"{preset}.yaml"
    assert config is not None
    content: dict[str, Any] = read_yaml(config)
    parsed = parse(PipelineConfig, content, str(config) if preset is None else preset)
    return _with_absolute_paths(parsed, config.resolve().parent)


def _with_absolute_paths(config: PipelineConfig, folder: Path) -> PipelineConfig:
    """Paths of the file are relative to the file, not to the caller's folder."""

    def absolute(path: str | None) -> str | None:
        return path if path is None or "://" in path else str(folder / path)

    evaluate = config.evaluate
    return config.model_copy(
        update={
            "input": absolute(config.input),
            "schema_file": absolute(config.schema_file),
            "evaluate": evaluate.model_copy(
                update={"reference": absolute(evaluate.reference)}
            ),
        }
    )
