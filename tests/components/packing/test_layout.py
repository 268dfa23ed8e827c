"""Each input is packed in the narrowest type that holds its ids."""

import pytest

from data.inputs import FINGERPRINTS, ModelInput
from data.packed import PackedColumn

pytestmark = pytest.mark.engine


def ids(size, length=0):
    kind = "ids" if length else "id"
    return ModelInput(
        name="x", kind=kind, length=length, table="x", vocabulary_size=size
    )


@pytest.mark.parametrize(
    ("one", "column"),
    [
        # Ids run from 0 to one less than the size.
        (ids(256), {"dtype": "uint8"}),
        (ids(257), {"dtype": "uint16"}),
        (ids(65_537), {"dtype": "uint24"}),
        (ids(2**24 + 1), {"dtype": "int32"}),
        (ids(FINGERPRINTS + 1), {"dtype": "int64"}),
        (ids(100, length=5), {"dtype": "uint8", "width": 5, "lists": True}),
        (ModelInput(name="x", kind="number"), {"dtype": "float32"}),
        (
            ModelInput(name="x", kind="vector", length=2),
            {"dtype": "float32", "width": 2},
        ),
    ],
)
def test_the_column_fits_the_input(one, column):
    from components.packing.layout import column_of

    assert column_of(one) == PackedColumn(name="x", **column)
