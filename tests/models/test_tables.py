"""How wide a table is, and which are partitioned."""

import pytest

from data.inputs import ModelInput
from models.tables import embedding_width, make_tables


def sized(rows, **kwargs):
    return ModelInput(name="a", kind="id", table="a", vocabulary_size=rows, **kwargs)


@pytest.mark.parametrize(
    ("rows", "width"),
    # 4^4 = 256, 8^4 = 4,096, 12^4 = 20,736, 16^4 = 65,536, 20^4 = 160,000.
    [(2, 4), (256, 4), (257, 8), (4096, 8), (4097, 12), (20_737, 16), (160_000, 20)],
)
def test_auto_is_the_fourth_root_up_to_a_multiple_of_four(rows, width):
    assert embedding_width(sized(rows, embedding_dim="auto"), 64) == width


@pytest.mark.parametrize("model_width", [1, 4, 6, 16])
def test_auto_is_at_most_the_width_of_the_model(model_width):
    assert embedding_width(sized(10**9, embedding_dim="auto"), model_width) == (
        model_width
    )


@pytest.mark.parametrize(("declared", "width"), [(None, 16), (3, 3), (40, 40)])
def test_a_declared_width_holds_and_the_models_stands_in(declared, width):
    assert embedding_width(sized(10, embedding_dim=declared), 16) == width


def test_auto_counts_the_rows_of_a_hashed_table_and_not_its_ids():
    one = sized(2**63, hashes=2, buckets=255, embedding_dim="auto")

    assert embedding_width(one, 64) == 4


# 16 MiB are 2^24 bytes: 2^18 rows of 16 floats of 4 bytes.
@pytest.mark.parametrize(("rows", "parts"), [(2**18 - 1, 1), (2**18, 5)])
def test_only_tables_from_16_mib_on_are_partitioned(rows, parts):
    tables = make_tables((sized(rows),), "embedding", lambda _: 16, 5)

    assert tables["a"].partitions == parts
