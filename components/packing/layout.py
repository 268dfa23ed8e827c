"""Which columns a packed shard holds, and in which types."""

from collections.abc import Sequence

from components.preprocessing import LABEL, USER, WEIGHT
from data.dataset import Dataset
from data.inputs import ModelInput
from data.packed import PackedColumn, PackedLayout, narrowest


def layout_of(dataset: Dataset, inputs: Sequence[ModelInput]) -> PackedLayout:
    """The layout for everything that Transform makes of a row.

    Args:
        dataset: the declaration.
        inputs: the model's inputs, with the sizes of their vocabularies.

    Returns:
        Label, weight and user as far as they are declared, then the inputs.
    """
    keys = [PackedColumn(name=LABEL, dtype="uint8")]
    if dataset.keys.weight:
        keys.append(PackedColumn(name=WEIGHT, dtype="float32"))
    if dataset.keys.user_id and dataset.split.has_validation:
        keys.append(PackedColumn(name=USER, dtype="int64"))
    return PackedLayout(columns=(*keys, *map(column_of, inputs)))


def column_of(one: ModelInput) -> PackedColumn:
    """The column of one input, in the narrowest type for its vocabulary."""
    return PackedColumn(
        name=one.name,
        dtype=narrowest(one.vocabulary_size - 1) if one.table else "float32",
        width=one.length,
        lists=one.kind == "ids",
    )
