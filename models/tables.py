"""The embedding tables of a network: one for each group of inputs that share ids."""

from collections.abc import Callable
from typing import Any

from data.inputs import ModelInput
from models.embedding_table import EmbeddingTable

# Four floats fill a 128-bit vector register; a width in between costs the same reads.
ALIGNMENT = 4
BYTES_PER_FLOAT = 4
# Every part costs a request a step, which a smaller table on one server does not repay.
PARTITION_BYTES = 16 * 2**20


def make_tables(
    inputs: tuple[ModelInput, ...],
    prefix: str,
    width: Callable[[ModelInput], int],
    partitions: int,
    **settings: Any,
) -> dict[str, EmbeddingTable]:
    """Makes one table for each name of a table.

    Args:
        inputs: the declaration.
        prefix: first part of the layers' names.
        width: width of an input's vectors.
        partitions: parts of each table of at least ``PARTITION_BYTES``.
        **settings: further arguments of ``EmbeddingTable``.

    Returns:
        The tables by name.
    """
    tables = {}
    for one in inputs:
        if not one.table or one.table in tables:
            continue
        dim = width(one)
        is_large = one.table_rows * dim * BYTES_PER_FLOAT >= PARTITION_BYTES
        tables[one.table] = EmbeddingTable(
            one.table_rows,
            dim,
            hashes=one.hashes,
            partitions=partitions if is_large else 1,
            name=f"{prefix}_{one.table}",
            **settings,
        )
    return tables


def embedding_width(one: ModelInput, model_width: int) -> int:
    """Width of an input's vectors.

    Args:
        one: the input.
        model_width: the model's ``embedding_dim``.

    Returns:
        What the feature sets, else the model's. For ``auto``: the fourth root of the
        table's rows, rounded up to a multiple of ``ALIGNMENT``, at most the model's.

    References:
        The fourth root is the rule of thumb of Google's "Introducing TensorFlow
        Feature Columns", 2017. Widths that grow with a power of the frequency: Ginart
        et al., 2021, https://arxiv.org/abs/1909.11810.
    """
    if one.embedding_dim != "auto":
        return one.embedding_dim or model_width
    narrower = range(ALIGNMENT, model_width, ALIGNMENT)
    return next((dim for dim in narrower if dim**4 >= one.table_rows), model_width)
