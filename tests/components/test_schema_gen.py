"""Declared columns win over what statistics suggest."""

from typing import Any

import pytest

pytestmark = pytest.mark.engine


def dataset(**rest: Any) -> Any:
    from data.dataset import Dataset

    return Dataset.model_validate(
        {
            "keys": {"label": "click", "user_id": "user", "weight": "w"},
            "split": {"by": "hash", "columns": ["user"]},
            "features": [
                {"name": "device", "kind": "categorical", "buckets": 10},
                {"name": "hist", "kind": "sequence", "buckets": 10, "max_length": 3},
                {"name": "price", "kind": "numeric"},
                {"name": "image", "kind": "vector", "length": 4},
            ],
        }
        | rest
    )


def inferred() -> Any:
    """What TFDV might infer: an int device, and domains for device and user."""
    from google.protobuf import text_format
    from tensorflow_metadata.proto.v0 import schema_pb2

    return text_format.Parse(
        """
        feature { name: "device" type: INT domain: "device" }
        feature { name: "user" type: BYTES domain: "user" }
        string_domain { name: "device" value: "ios" value: "web" }
        string_domain { name: "user" value: "a" value: "b" }
        """,
        schema_pb2.Schema(),
    )


def test_types_and_presence_come_from_the_declaration() -> None:
    from tensorflow_metadata.proto.v0 import schema_pb2 as pb

    from components.schema_gen import declare

    schema = declare(dataset(), inferred())
    features = {feature.name: feature for feature in schema.feature}
    assert {name: f.type for name, f in features.items()} == {
        "click": pb.INT,
        "user": pb.BYTES,
        "w": pb.FLOAT,
        "device": pb.BYTES,
        "hist": pb.BYTES,
        "price": pb.FLOAT,
        "image": pb.FLOAT,
    }
    for name in ("click", "user", "w"):
        assert features[name].presence.min_fraction == 1.0
        assert features[name].HasField("shape")
    assert not features["price"].HasField("shape")
    assert features["price"].value_count.max == 1
    assert features["image"].value_count.min == features["image"].value_count.max == 4
    assert not features["hist"].HasField("value_count")


def test_domain_of_a_feature_is_kept_with_room_for_new_values() -> None:
    from components.schema_gen import MIN_DOMAIN_MASS, declare

    schema = declare(dataset(), inferred())
    device = next(f for f in schema.feature if f.name == "device")
    assert [d.name for d in schema.string_domain] == [device.domain]
    assert device.distribution_constraints.min_domain_mass == MIN_DOMAIN_MASS


def test_users_never_become_a_domain() -> None:
    # Their ids would be written into a file that people copy around.
    from components.schema_gen import declare

    schema = declare(dataset(), inferred())
    user = next(f for f in schema.feature if f.name == "user")
    assert user.domain == ""
    assert "user" not in [domain.name for domain in schema.string_domain]


def test_column_with_many_values_seen_once_gets_no_domain() -> None:
    # Of 200 rows, 3 hold a value of their own: the next row is new with a chance of
    # about 3/200 = 1.5 %. The other column has one such row in 200: 0.5 %.
    from google.protobuf import text_format
    from tensorflow_metadata.proto.v0 import statistics_pb2

    from components.schema_gen import declare, incomplete_columns

    def column(name: str, counts: list[int]) -> str:
        buckets = "".join(f"buckets {{ sample_count: {c} }} " for c in counts)
        return (
            f'features {{ path {{ step: "{name}" }} type: STRING '
            f"string_stats {{ rank_histogram {{ {buckets} }} }} }}"
        )

    text = column("hist", [100, 97, 1, 1, 1]) + column("device", [120, 79, 1])
    statistics = text_format.Parse(
        f"datasets {{ {text} }}", statistics_pb2.DatasetFeatureStatisticsList()
    )
    assert incomplete_columns(statistics) == {"hist"}
    schema = declare(dataset(), inferred(), frozenset({"device"}))
    assert not schema.string_domain
