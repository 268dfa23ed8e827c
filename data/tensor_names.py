"""Names of columns as tensors of a SavedModel's signature.

A column of a log may have any name. TensorFlow takes letters of ASCII, digits and
underscores for the inputs of a signature, a letter first, does not tell capitals apart,
and newer ones refuse words of Python's own, such as ``class``; what else it is given it
changes silently, or fails to export.
"""

import keyword
import re
from collections.abc import Iterable


def tensor_name(column: str) -> str:
    """The input of a signature that takes a column.

    Args:
        column: a name in the log.

    Returns:
        The name itself wherever TensorFlow takes it.
    """
    name = re.sub(r"[^A-Za-z0-9_]", "_", column)
    # `self` is an argument of TensorFlow's own function.
    is_taken = keyword.iskeyword(name) or name == "self"
    return name if name[:1].isalpha() and not is_taken else f"column_{name}"


def check_tensor_names(columns: Iterable[str]) -> None:
    """Checks that all columns of a model can be told apart.

    Args:
        columns: names in the log; some may come twice.

    Raises:
        ValueError: two columns would be one input.
    """
    taken: dict[str, str] = {}
    for column in columns:
        other = taken.setdefault(tensor_name(column).lower(), column)
        if other != column:
            raise ValueError(
                f"features: columns '{other}' and '{column}' would be one input "
                f"'{tensor_name(column)}' of the exported model, whose inputs have "
                "letters, digits and _ only, of any case; rename one in the log"
            )
