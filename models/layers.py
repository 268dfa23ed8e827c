"""Layers that the networks share.

Names end in their shape: B rows of the batch, L length of an id list, D width of an
embedding, F fields, W width of the cross network.
"""
# ruff: noqa: N803, N806  (shape suffixes are capitals)

import math
from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="ctr")
class NumberEmbedding(keras.layers.Layer):
    """A learned vector for each number, scaled by its value.

    Args:
        dim: width D.
    """

    def __init__(self, dim: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dim = dim

    def build(self, shape: Any) -> None:
        """Makes one vector a number."""
        self.vectors = self.add_weight(
            name="vectors",
            shape=(shape[-1], self.dim),
            initializer=keras.initializers.RandomNormal(stddev=0.01),
        )

    def call(self, numbers_BF: Any) -> Any:
        """Returns the vectors: [B, F] -> [B, F, D]."""
        return ops.expand_dims(numbers_BF, -1) * self.vectors

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the same layer again."""
        return {**super().get_config(), "dim": self.dim}


@keras.saving.register_keras_serializable(package="ctr")
class FactorizationMachine(keras.layers.Layer):
    """Sum of the inner products of all pairs of fields.

    ``sum_{i<j} <x_i, x_j> = (||sum_i x_i||^2 - sum_i ||x_i||^2) / 2``

    References:
        Rendle, 2010, Factorization Machines, equation 3 and lemma 3.1.
    """

    def call(self, fields_BFD: Any) -> Any:
        """Returns the sum of products: [B, F, D] -> [B, 1]."""
        sum_BD = ops.sum(fields_BFD, axis=1)
        squares_BD = ops.sum(ops.square(fields_BFD), axis=1)
        return 0.5 * ops.sum(ops.square(sum_BD) - squares_BD, axis=1, keepdims=True)

    def compute_output_shape(self, shape: Any) -> Any:
        """[B, 1]."""
        return (shape[0], 1)


@keras.saving.register_keras_serializable(package="ctr")
class CrossLayer(keras.layers.Layer):
    """One cross of DCN-v2: ``x0 * (W x + b) + x``, with W = U V when a rank is given.

    Args:
        rank: rank of W, full when None.

    References:
        Wang et al., 2021, https://arxiv.org/abs/2008.13535, equations 1 and 2.
    """

    def __init__(self, rank: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rank = rank

    def build(self, first_BW_shape: Any, x_BW_shape: Any) -> None:
        """Makes W (or V and U) and b; Keras prescribes the names of the arguments."""
        del x_BW_shape
        width = first_BW_shape[-1]
        if self.rank is not None and self.rank < width:
            self.down = keras.layers.Dense(self.rank, use_bias=False, name="down")
            self.down.build((None, width))
            self.up = keras.layers.Dense(width, name="up")
            self.up.build((None, self.rank))
        else:
            self.down = None
            self.up = keras.layers.Dense(width, name="up")
            self.up.build((None, width))

    def call(self, first_BW: Any, x_BW: Any) -> Any:
        """Returns the crossed features.

        Args:
            first_BW: x0, the input of the first cross, float32 [B, W].
            x_BW: output of the cross before, float32 [B, W].

        Returns:
            float32 [B, W].
        """
        inner_BW = self.up(self.down(x_BW) if self.down else x_BW)
        return first_BW * inner_BW + x_BW

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the same layer again."""
        return {**super().get_config(), "rank": self.rank}


@keras.saving.register_keras_serializable(package="ctr")
class Logit(keras.layers.Layer):
    """Sum of the parts of a logit and a bias that starts at the base rate.

    Args:
        base_rate: share of clicks in (0, 1) that the model predicts before training.
            A network that starts there spends no steps on the mean, and its average
            prediction is close to the truth from the first epoch on.
    """

    def __init__(self, base_rate: float | None = None, **kwargs: Any) -> None:
        # Never half precision: a logit of -4 would be off by up to 0.8 %.
        super().__init__(**{"dtype": "float32", **kwargs})
        self.base_rate = base_rate

    def build(self, _: Any) -> None:
        """Makes the bias."""
        rate = self.base_rate
        known = rate is not None and 0.0 < rate < 1.0
        start = math.log(rate / (1.0 - rate)) if rate is not None and known else 0.0
        self.bias = self.add_weight(
            name="bias", shape=(1,), initializer=keras.initializers.Constant(start)
        )

    def call(self, parts: list[Any]) -> Any:
        """Returns the logit: each part [B, 1] -> float32 [B, 1]."""
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total + self.bias

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the same layer again."""
        return {**super().get_config(), "base_rate": self.base_rate}
