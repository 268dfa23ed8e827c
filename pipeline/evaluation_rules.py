"""Rules that tie the evaluation to the declared data."""

from components.config import EvaluateConfig
from data.columns import shard_columns
from data.dataset import Dataset
from data.errors import suggest


def check_evaluation(evaluate: EvaluateConfig, dataset: Dataset) -> None:
    """Checks that slices, their gates and user weights can be computed.

    Args:
        evaluate: slices and gates.
        dataset: the declared data.

    Raises:
        ValueError: the first rule that is broken, with the place in the file.
    """
    if evaluate.user_weight == "weight" and dataset.keys.weight is None:
        raise ValueError("evaluate.user_weight: 'weight' needs keys.weight")
    for index, columns in enumerate(evaluate.slices):
        where = f"evaluate.slices[{index}]"
        if not columns:
            raise ValueError(
                f"{where}: must name a column; all rows are always a slice"
            )
        if len(set(columns)) < len(columns):
            raise ValueError(f"{where}: must differ, got {list(columns)}")
        for name in columns:
            _check_column(where, name, dataset)
    measured = [set(columns) for columns in evaluate.slices]
    for index, gate in enumerate(evaluate.gates.slices):
        if set(gate.slice) not in measured:
            known = ", ".join(str(list(columns)) for columns in evaluate.slices)
            raise ValueError(
                f"evaluate.gates.slices[{index}].slice: {list(gate.slice)} is not among "
                f"evaluate.slices ({known or 'none'}), so it would never be measured"
            )


def _check_column(where: str, name: str, dataset: Dataset) -> None:
    """A slice needs a column of the shards with text or whole numbers."""
    columns = {column.name: column for column in shard_columns(dataset)}
    sources = {f.name: getattr(f, "source", None) for f in dataset.features}
    if name not in columns:
        source = sources.get(name)
        hint = (
            f" Slices name columns of the log: '{source}'."
            if source in columns
            else suggest(name, columns)
        )
        raise ValueError(
            f"{where}: no column '{name}' in the shards; read it by a feature or name "
            f"it in data.carry.{hint}"
        )
    if name == dataset.keys.label_name:
        raise ValueError(f"{where}: '{name}' is the label; a slice by it has one class")
    if columns[name].dtype == "float":
        raise ValueError(
            f"{where}: '{name}' holds decimals; slices need text or whole numbers"
        )
