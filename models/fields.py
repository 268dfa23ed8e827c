"""From the declared inputs to what the networks combine: vectors, weights, numbers.

Shapes: [B, D] float32 for a vector, B rows of the batch.
"""

import dataclasses
from typing import Any

import keras

from data.inputs import ModelInput
from models.config import ModelConfig
from models.embedding_table import EmbeddingTable
from models.layers import NumberEmbedding
from models.tables import embedding_width, make_tables


@dataclasses.dataclass(frozen=True)
class Fields:
    """The inputs of a network and the vectors made of them.

    Attributes:
        inputs: Keras input by name, as ``data.inputs.ModelInput`` states it.
        embeddings: vector [B, D] of each id input by name; for a list, the mean of
            the vectors of its ids.
        products: for each list whose ids are those of a single-id input, the
            elementwise product [B, D] of its mean and that input's vector, such as
            the user's history times the item shown. A dense layer learns a product
            of two of its inputs slowly; this one is handed over ready made.
        numbers: all numbers and vectors of floats, [B, n], or None.
    """

    inputs: dict[str, Any]
    embeddings: dict[str, Any]
    products: tuple[Any, ...]
    numbers: Any

    @property
    def flat(self) -> Any:
        """Everything side by side, [B, W]."""
        parts = [*self.embeddings.values(), *self.products]
        if self.numbers is not None:
            parts.append(self.numbers)
        return concatenated(parts)


def make_inputs(inputs: tuple[ModelInput, ...]) -> dict[str, Any]:
    """One Keras input for each declared one.

    Args:
        inputs: the declaration.

    Returns:
        By name: ``id`` int64 [B], ``ids`` int64 [B, length], ``number`` float32 [B],
        ``vector`` float32 [B, length].
    """
    return {
        one.name: keras.Input(
            shape=(one.length,) if one.kind in {"ids", "vector"} else (),
            dtype="int64" if one.table else "float32",
            name=one.name,
        )
        for one in inputs
    }


def embed(
    config: ModelConfig, inputs: tuple[ModelInput, ...], table_partitions: int = 1
) -> Fields:
    """Reads one vector for each id input; inputs of the same table share it.

    Args:
        config: widths and the penalty on embeddings.
        inputs: the declaration.
        table_partitions: parts of each large table.

    Returns:
        Inputs, vectors, products and numbers.
    """
    tensors = make_inputs(inputs)
    tables = make_tables(
        inputs,
        "embedding",
        lambda one: embedding_width(one, config.embedding_dim),
        table_partitions,
        l2=config.embedding_l2,
    )
    embeddings = _rows(tables, inputs, tensors)
    products = tuple(
        keras.layers.Multiply(name=f"{listed.name}_times_{single.name}")(
            [embeddings[listed.name], embeddings[single.name]]
        )
        for listed in inputs
        for single in inputs
        if listed.kind == "ids" and single.kind == "id" and single.table == listed.table
    )
    return Fields(tensors, embeddings, products, numbers_of(inputs, tensors))


def first_order(
    config: ModelConfig,
    inputs: tuple[ModelInput, ...],
    fields: Fields,
    table_partitions: int = 1,
) -> list[Any]:
    """One weight for each id, and one for each number: the linear part of a logit.

    Args:
        config: the penalty on these weights.
        inputs: the declaration.
        fields: inputs and numbers.
        table_partitions: parts of each large table.

    Returns:
        Parts of the logit, each [B, 1]; a list of ids gives the mean of its weights.
    """
    tables = make_tables(
        inputs,
        "weight",
        lambda _: 1,
        table_partitions,
        l2=config.linear_l2,
        initial_scale=0.0,
        dtype="float32",
    )
    parts = list(_rows(tables, inputs, fields.inputs).values())
    if fields.numbers is not None:
        parts.append(
            keras.layers.Dense(
                1,
                use_bias=False,
                kernel_initializer="zeros",
                dtype="float32",
                name="weight_numbers",
            )(fields.numbers)
        )
    return parts


def equal_width(
    config: ModelConfig, inputs: tuple[ModelInput, ...], fields: Fields
) -> Any:
    """All fields as vectors of the model's width, for inner products between them.

    Args:
        config: the width D.
        inputs: the declaration.
        fields: vectors and numbers.

    Returns:
        float32 [B, F, D]; an embedding of another width is mapped linearly, a number
        scales a learned vector, and a vector of floats is mapped linearly.
    """
    dim = config.embedding_dim
    vectors = []
    for one in inputs:
        if one.kind == "number":
            continue
        vector = fields.embeddings.get(one.name, fields.inputs[one.name])
        if vector.shape[-1] != dim or one.kind == "vector":
            vector = keras.layers.Dense(
                dim, use_bias=False, name=f"projected_{one.name}"
            )(vector)
        vectors.append(keras.layers.Reshape((1, dim))(vector))
    singles = [fields.inputs[one.name] for one in inputs if one.kind == "number"]
    if singles:
        columns = [keras.layers.Reshape((1,))(number) for number in singles]
        vectors.append(
            NumberEmbedding(dim, name="embedding_numbers")(concatenated(columns))
        )
    return concatenated(vectors, axis=1)


def dense_layers(config: ModelConfig, flat: Any) -> Any:
    """The deep part: dense layers with ReLU and dropout.

    Args:
        config: widths and dropout.
        flat: input, [B, W].

    Returns:
        Output of the last layer, [B, last width].
    """
    hidden = flat
    for width in config.hidden:
        hidden = keras.layers.Dense(width, activation="relu")(hidden)
        if config.dropout:
            hidden = keras.layers.Dropout(config.dropout)(hidden)
    return hidden


def concatenated(parts: list[Any], axis: int = -1) -> Any:
    """The parts side by side; a single part as it is (Keras refuses to join one)."""
    return keras.layers.Concatenate(axis=axis)(parts) if len(parts) > 1 else parts[0]


def _rows(
    tables: dict[str, EmbeddingTable],
    inputs: tuple[ModelInput, ...],
    tensors: dict[str, Any],
) -> dict[str, Any]:
    """One vector [B, D] for each id input: the row, or the mean of a list's rows."""
    return {
        one.name: tables[one.table](tensors[one.name]) for one in inputs if one.table
    }


def numbers_of(inputs: tuple[ModelInput, ...], tensors: dict[str, Any]) -> Any:
    """All floats side by side, [B, n], or None when there are none."""
    floats = [
        tensors[one.name]
        if one.kind == "vector"
        else keras.layers.Reshape((1,))(tensors[one.name])
        for one in inputs
        if not one.table
    ]
    return concatenated(floats) if floats else None
