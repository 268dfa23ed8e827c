"""The network of the training benchmark: a DCN-v2 so small that input matters."""

from typing import Any

import keras

from benchmarks.input_files import NUMBER, inputs_of
from data.inputs import ModelInput
from models.config import ModelConfig
from models.fields import make_inputs
from models.registry import build

MODEL = ModelConfig(embedding_dim=8, cross_layers=1, hidden=(32,))
# Keeps tables, and so a dense optimizer's step, small: input is what is compared.
VOCABULARY = 10_000


def read_inputs(schema: str) -> tuple[ModelInput, ...]:
    """The inputs of a schema, without the number of the row."""
    return tuple(one for one in inputs_of(schema) if one.name != NUMBER)


def make_model(schema: str) -> Any:
    """Makes the network, with ids taken modulo ``VOCABULARY``.

    Id 0 stays padding; an id that falls on 0 is read as absent.

    Args:
        schema: ``narrow`` or ``wide``.

    Returns:
        Model from a dict of inputs to logits float32 [B, 1].
    """
    keras.utils.set_random_seed(0)
    inputs = read_inputs(schema)
    bounded = tuple(
        one.model_copy(update={"vocabulary_size": min(one.vocabulary_size, VOCABULARY)})
        for one in inputs
    )
    tensors = make_inputs(inputs)
    ids = {
        one.name: keras.ops.mod(tensors[one.name], VOCABULARY)
        for one in inputs
        if one.table
    }
    return keras.Model(tensors, build(MODEL, bounded)({**tensors, **ids}))
