"""Values of a row as codes below a fixed number, so that counts have a fixed size.

Codes of numbers keep their order; codes of categories are hashes. Neither looks at how
often a value comes, so rows that differ by chance alone still do so by their codes.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from components.data_checks.columns import CheckedColumn
from data.arrays import Bools, Floats, Ints, Values

BITS = 16
ABSENT = 1 << BITS
CODES = ABSENT + 1
_SIGN = np.uint32(1 << 31)


def row_codes(column: CheckedColumn, lists: pa.Array, centre: float) -> Ints:
    """The code of each row.

    Args:
        column: what it is.
        lists: [rows] its value lists; a null or empty one is an absent value.
        centre: of a number, about which codes are finest.

    Returns:
        [rows] codes below ``CODES``; ``ABSENT`` for an absent value, an empty text and
        a NaN.
    """
    present = lengths(lists) > 0
    codes = np.full(len(lists), ABSENT, np.int64)
    if not present.any():
        return codes
    if column.kind == "vector":
        vectors = lists.flatten().to_numpy().reshape(int(present.sum()), -1)
        codes[present] = number_codes(np.linalg.norm(vectors, axis=1), centre)
        return codes
    values = one_value(lists, present, column.keeps_last)
    if column.kind == "number":
        codes[present] = number_codes(values.to_numpy().astype(np.float64), centre)
    else:
        codes[present] = category_codes(values)
    return codes


def lengths(lists: pa.Array) -> Ints:
    """Values in each list, [rows]; 0 for null."""
    counted: Ints = pc.list_value_length(lists).fill_null(0).to_numpy()
    return counted


def one_value(lists: pa.Array, present: Bools, last: bool) -> pa.Array:
    """First or last value of each list that has one."""
    ends = np.cumsum(lengths(lists))
    starts = np.concatenate([[0], ends[:-1]])
    places = ends - 1 if last else starts
    return lists.flatten().take(pa.array(places[present]))


def number_codes(numbers: Floats, centre: float) -> Ints:
    """Codes in the order of the numbers, finest near a centre.

    The upper half of the float32 of ``number - centre``: sign, exponent and seven bits,
    so that numbers within a bin differ by less than 1 % of their distance to it.

    Args:
        numbers: [values] any numbers.
        centre: such as the median.

    Returns:
        [values] codes; ``ABSENT`` for NaN.
    """
    # Adding 0 turns -0 into 0, which would otherwise have another code.
    bits = ((numbers - centre).astype(np.float32) + np.float32(0)).view(np.uint32)
    ordered = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    codes = (ordered >> np.uint32(BITS)).astype(np.int64)
    return np.where(np.isnan(numbers), ABSENT, codes)


def category_codes(values: pa.Array) -> Ints:
    """Hashes of texts or whole numbers, [values]; ``ABSENT`` for an empty text."""
    coded = values.dictionary_encode()
    distinct: Values = coded.dictionary.to_numpy(zero_copy_only=False)
    # Keyed SipHash of texts: the same in every process, unlike Python's.
    hashes = pd.util.hash_array(distinct, categorize=False)
    codes = (hashes & np.uint64(ABSENT - 1)).astype(np.int64)
    codes[distinct == b""] = ABSENT
    taken: Ints = codes[coded.indices.to_numpy()]
    return taken
