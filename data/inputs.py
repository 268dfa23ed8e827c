"""What a model reads: one typed input for each declared feature."""

from collections.abc import Mapping
from typing import Literal

from data.dataset import Dataset
from data.features import Categorical, Cross, Feature, Numeric, Sequence, Vector
from data.settings import Settings

# Number of values of the ids computed from a time.
DERIVED_SIZES = {"hour_of_day": 24, "day_of_week": 7}


class ModelInput(Settings):
    """One input of a model, as Transform makes it.

    Attributes:
        name: key of the transformed feature.
        kind: ``id`` int64 [batch]; ``ids`` int64 [batch, length], 0 = padding;
            ``number`` float32 [batch]; ``vector`` float32 [batch, length].
        length: second dimension of ``ids`` and ``vector``, else 0.
        table: name of the embedding table; inputs that share ids share it. Empty for
            floats.
        vocabulary_size: rows of that table, id 0 (absent) included. 0 for floats.
        embedding_dim: width of the table where the feature sets one.
    """

    name: str
    kind: Literal["id", "ids", "number", "vector"]
    length: int = 0
    table: str = ""
    vocabulary_size: int = 0
    embedding_dim: int | None = None


def vocabularies(dataset: Dataset) -> tuple[str, ...]:
    """Names of the features whose vocabulary is computed from the training rows."""
    return tuple(
        feature.name
        for feature in dataset.features
        if isinstance(feature, Categorical | Sequence)
        and feature.encoding == "vocabulary"
        and getattr(feature, "vocabulary_of", None) is None
    )


def model_inputs(
    dataset: Dataset, vocabulary_sizes: Mapping[str, int]
) -> tuple[ModelInput, ...]:
    """The inputs in the order of the declaration.

    Args:
        dataset: the declaration.
        vocabulary_sizes: for each name of ``vocabularies(dataset)``, the number of
            distinct values that Transform kept.

    Returns:
        One input a feature.
    """
    return tuple(
        _model_input(dataset, feature, vocabulary_sizes) for feature in dataset.features
    )


def _model_input(
    dataset: Dataset, feature: Feature, vocabulary_sizes: Mapping[str, int]
) -> ModelInput:
    """The input of one feature."""
    if isinstance(feature, Vector):
        return ModelInput(name=feature.name, kind="vector", length=feature.length)
    if isinstance(feature, Numeric) and not feature.bucketized:
        return ModelInput(name=feature.name, kind="number")
    owner: Feature = feature
    if isinstance(feature, Sequence) and feature.vocabulary_of:
        owner = dataset.feature(feature.vocabulary_of)
    return ModelInput(
        name=feature.name,
        kind="ids" if isinstance(feature, Sequence) else "id",
        length=feature.max_length if isinstance(feature, Sequence) else 0,
        table=owner.name,
        vocabulary_size=1 + _known_values(owner, vocabulary_sizes),
        embedding_dim=owner.embedding_dim if not isinstance(owner, Vector) else None,
    )


def _known_values(feature: Feature, vocabulary_sizes: Mapping[str, int]) -> int:
    """Number of ids of a feature, without id 0."""
    if isinstance(feature, Numeric):
        if feature.quantiles is not None:
            return feature.quantiles
        return len(feature.boundaries or ()) + 1
    if isinstance(feature, Categorical) and feature.derive:
        return DERIVED_SIZES[feature.derive]
    if isinstance(feature, Categorical | Sequence):
        if feature.encoding == "vocabulary":
            return vocabulary_sizes[feature.name] + feature.oov_buckets
        return feature.buckets or 0
    assert isinstance(feature, Cross)
    return feature.buckets
