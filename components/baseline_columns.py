"""Can an older model still read the rows? Its signature says which columns it takes.

A served model takes an absent column as an absent value, so a baseline whose columns have
gone would be scored all the same, only badly, and any candidate would beat it.
"""

from collections.abc import Mapping

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from components.signatures import DTYPES
from data.errors import DataError
from data.tensor_names import tensor_name

# The signature with an input for each column.
_SIGNATURE = "named_tensors"
_GRAPH = "saved_model.pb"
_REMEDY = (
    "leave it out with `ctr run --without-baseline`, or name another model if it is "
    "evaluate.reference"
)


def check_baseline(model: str, columns: Mapping[str, str]) -> None:
    """Refuses a baseline that reads what the rows do not hold.

    Args:
        model: SavedModel directory; one without a signature by columns passes.
        columns: kind of each column of the rows: bytes, int64 or float.

    Raises:
        DataError: a column is absent or of another kind, or the model is gone.
    """
    if not tf.io.gfile.exists(f"{model}/{_GRAPH}"):
        raise DataError(f"baseline {model}: no SavedModel here any more; {_REMEDY}")
    # A column of that very name goes before one whose name is changed to it.
    held = {tensor_name(name): kind for name, kind in columns.items()} | {**columns}
    faults = [
        f"{name} ({kind})"
        for name, kind in sorted(columns_of(model).items())
        if held.get(name) != kind
    ]
    if faults:
        raise DataError(
            f"baseline {model}: reads columns that the rows do not have, or have as "
            f"another type: {', '.join(faults)}; "
            f"bring them back, or {_REMEDY}"
        )


def columns_of(model: str) -> dict[str, str]:
    """Inputs of a model, one a column, with their kind; none where it does not say.

    Args:
        model: SavedModel directory.

    Returns:
        bytes, int64 or float by ``tensor_name`` of the column.
    """
    kinds = {dtype.as_datatype_enum: kind for kind, dtype in DTYPES.items()}
    with tf.io.gfile.GFile(f"{model}/{_GRAPH}", "rb") as file:
        saved = saved_model_pb2.SavedModel.FromString(file.read())
    signatures = saved.meta_graphs[0].signature_def
    if _SIGNATURE not in signatures:
        return {}
    inputs = signatures[_SIGNATURE].inputs
    return {name: kinds.get(info.dtype, "other") for name, info in inputs.items()}
