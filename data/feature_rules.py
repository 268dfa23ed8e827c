"""Rules that tie features to each other and to the keys."""

from collections.abc import Callable, Sequence

from data.errors import suggest
from data.features import Categorical, Cross, Feature, Numeric
from data.features import Sequence as SequenceFeature
from data.keys import Keys
from data.tensor_names import check_tensor_names


def check_features(features: Sequence[Feature], keys: Keys) -> None:
    """Checks names, references, columns, and that no feature reads the label.

    Args:
        features: the declared features.
        keys: columns with a role.

    Raises:
        ValueError: the first rule that is broken, with the place in the file.
    """
    _check_names(features, keys)
    categorical = [f.name for f in features if isinstance(f, Categorical)]
    for index, feature in enumerate(features):
        where = f"features[{index}]"
        for key, wanted in _references(feature).items():
            for name in wanted:
                if name not in categorical:
                    raise ValueError(
                        f"{where}.{key}: no categorical feature '{name}'."
                        f"{suggest(name, categorical)}"
                    )
        if not isinstance(feature, Cross):
            _check_source(where, feature.source, feature, keys)
    check_tensor_names(f.source for f in features if not isinstance(f, Cross))


def _check_names(features: Sequence[Feature], keys: Keys) -> None:
    """Names are unique and are not the label's."""
    seen: set[str] = set()
    for index, feature in enumerate(features):
        if feature.name in seen:
            raise ValueError(f"features[{index}].name: '{feature.name}' declared twice")
        if feature.name == keys.label_name:
            raise ValueError(
                f"features[{index}].name: '{feature.name}' is the label's name"
            )
        seen.add(feature.name)


def _references(feature: Feature) -> dict[str, tuple[str, ...]]:
    """Names of other features, by the setting that holds them."""
    if isinstance(feature, Cross):
        return {"features": feature.features}
    if isinstance(feature, SequenceFeature) and feature.vocabulary_of:
        return {"vocabulary_of": (feature.vocabulary_of,)}
    return {}


def _is_text_id(feature: Feature) -> bool:
    return isinstance(feature, Categorical) and not feature.integer


# Which features may read a key: the shards keep it in the type that its role needs.
_READERS: dict[str, tuple[Callable[[Feature], bool], str]] = {
    "user_id": (_is_text_id, "a categorical with encoding hash or vocabulary"),
    "request_id": (_is_text_id, "a categorical with encoding hash or vocabulary"),
    "weight": (lambda feature: isinstance(feature, Numeric), "a numeric"),
    "timestamp": (
        lambda feature: isinstance(feature, Categorical | Numeric),
        "a categorical or numeric",
    ),
}


def _check_source(where: str, source: str, feature: Feature, keys: Keys) -> None:
    """The column is not the label's, and a key is read as what it is."""
    if source in {keys.label.column, keys.label_name}:
        raise ValueError(
            f"{where}: reads '{source}', which the label is made from; the model would "
            "see the answer"
        )
    for role, column in keys.roles().items():
        if column == source and role in _READERS:
            fits, text = _READERS[role]
            if not fits(feature):
                raise ValueError(
                    f"{where}: reads '{source}', the {role}, which must be {text} "
                    f"feature, got {feature.kind}"
                )
