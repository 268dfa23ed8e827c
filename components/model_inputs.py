"""The model's inputs, with the sizes of the vocabularies that Transform made."""

import tensorflow_transform as tft

from data.dataset import Dataset
from data.inputs import ModelInput, model_inputs, vocabularies


def inputs_of(
    dataset: Dataset, transform: tft.TFTransformOutput
) -> tuple[ModelInput, ...]:
    """The inputs that a data set declares.

    Args:
        dataset: the declaration.
        transform: output of the Transform component.

    Returns:
        One input a feature.
    """
    sizes = {
        name: transform.vocabulary_size_by_name(name) for name in vocabularies(dataset)
    }
    return model_inputs(dataset, sizes)
