"""Rules that tie the evaluation to the declared data."""

from collections.abc import Collection

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
        _check_slice(f"evaluate.slices[{index}]", columns, dataset)
    for index, top in enumerate(evaluate.top_slices):
        _check_slice(f"evaluate.top_slices[{index}].slice", top.slice, dataset)
    _check_top_slices(evaluate)
    _check_user(evaluate, dataset)
    _check_gates(evaluate)
    _check_reference(evaluate)


def _check_slice(where: str, columns: tuple[str, ...], dataset: Dataset) -> None:
    """A slice names columns, each once."""
    if not columns:
        raise ValueError(f"{where}: must name a column; all rows are always a slice")
    if len(set(columns)) < len(columns):
        raise ValueError(f"{where}: must differ, got {list(columns)}")
    for name in columns:
        _check_column(where, name, dataset)


def _check_top_slices(evaluate: EvaluateConfig) -> None:
    """A slice is shown whole or by its most frequent values, and declared once."""
    seen = {frozenset(columns) for columns in evaluate.slices}
    for index, top in enumerate(evaluate.top_slices):
        if frozenset(top.slice) in seen:
            raise ValueError(
                f"evaluate.top_slices[{index}].slice: {list(top.slice)} is declared "
                "already; keep it in one place of evaluate.slices and top_slices"
            )
        seen.add(frozenset(top.slice))


def _check_user(evaluate: EvaluateConfig, dataset: Dataset) -> None:
    """GAUC needs users."""
    gates = evaluate.gates
    groups: dict[str, Collection[str]] = {
        "overall": gates.overall,
        "reference": gates.reference,
        **{f"slices[{at}].metrics": one.metrics for at, one in enumerate(gates.slices)},
    }
    for place, metrics in groups.items():
        if "gauc" in metrics and dataset.keys.user_id is None:
            raise ValueError(
                f"evaluate.gates.{place}.gauc: needs data.keys.user_id; without users "
                "there is no GAUC"
            )


def _check_gates(evaluate: EvaluateConfig) -> None:
    """Every slice that a gate is for is measured, whole and in each run."""
    measured = [set(columns) for columns in evaluate.slices]
    for index, gate in enumerate(evaluate.gates.slices):
        where = f"evaluate.gates.slices[{index}]"
        if any(set(gate.slice) == set(top.slice) for top in evaluate.top_slices):
            raise ValueError(
                f"{where}.slice: {list(gate.slice)} is among evaluate.top_slices, whose "
                "values change from run to run; move it to evaluate.slices"
            )
        if set(gate.slice) not in measured:
            known = ", ".join(str(list(columns)) for columns in evaluate.slices)
            raise ValueError(
                f"{where}.slice: {list(gate.slice)} is not among "
                f"evaluate.slices ({known or 'none'}), so it would never be measured"
            )
        if gate.min_rows < evaluate.min_slice_rows:
            raise ValueError(
                f"{where}.min_rows: must be >= evaluate.min_slice_rows "
                f"({evaluate.min_slice_rows}), got {gate.min_rows}; smaller slices are "
                "not reported, so they would escape the gate"
            )


def _check_reference(evaluate: EvaluateConfig) -> None:
    """A reference model and gates against it need each other."""
    if evaluate.gates.reference and evaluate.reference is None:
        raise ValueError(
            "evaluate.gates.reference: needs evaluate.reference, the folder of a model"
        )
    if evaluate.reference is not None and not evaluate.gates.reference:
        raise ValueError(
            "evaluate.reference: no gate uses it; add evaluate.gates.reference, such as "
            "{gauc: {non_inferior: 0.01}}"
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
