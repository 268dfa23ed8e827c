"""Serialized tf.Examples as Arrow list columns."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from data.readers.objects import to_array

# Records looked at to learn the kinds of the features.
_SAMPLE = 64


class ExampleParser:
    """Parses batches of records, vectorised wherever their features are regular.

    TensorFlow's batch parser wants the kind of each feature beforehand, and fails as a
    whole if one record differs; such a batch is parsed record by record.
    """

    def __init__(self, wanted: Sequence[str]) -> None:
        """Starts without any knowledge of the features.

        Args:
            wanted: names of the features to keep.
        """
        self.wanted = tuple(wanted)
        self._kinds: dict[str, str] = {}

    def parse(self, records: Sequence[bytes]) -> tuple[list[pa.Array], list[int]]:
        """Parses records.

        Args:
            records: serialized tf.Examples.

        Returns:
            One list array for each wanted feature, null or empty where a record lacks
            it, and the indices of the records that are no tf.Example; these have no
            row in the arrays.
        """
        if not records:
            return [pa.nulls(0) for _ in self.wanted], []
        arrays = None
        # TensorFlow logs records that it cannot parse, so a file of another content
        # must not reach its parser.
        if self._learn(records[:_SAMPLE]):
            arrays = self._parse_batch(records)
        return (arrays, []) if arrays is not None else self._parse_each(records)

    def _learn(self, records: Sequence[bytes]) -> bool:
        """Notes the kinds of features not yet met; False if one is no tf.Example."""
        for record in records:
            features = _features(record)
            if features is None:
                return False
            for name in self.wanted:
                if name in features:
                    kind = features[name].WhichOneof("kind")
                    if kind is not None:
                        self._kinds.setdefault(name, kind)
        return True

    def _parse_batch(self, records: Sequence[bytes]) -> list[pa.Array] | None:
        """All records at once; None if one of them does not fit."""
        import tensorflow as tf

        kinds = {
            "bytes_list": tf.string,
            "int64_list": tf.int64,
            "float_list": tf.float32,
        }
        # A feature that no record had so far is awaited as text; one of another kind
        # makes the parser fail, and the batch is parsed record by record.
        wanted = {
            name: tf.io.RaggedFeature(kinds[self._kinds.get(name, "bytes_list")])
            for name in self.wanted
        }
        try:
            with tf.device("/cpu:0"):
                parsed = tf.io.parse_example(tf.constant(records), wanted)
        except (tf.errors.InvalidArgumentError, UnicodeDecodeError):
            # The second is raised where the error quotes bytes that are no text.
            return None
        return [_list_array(parsed[name]) for name in self.wanted]

    def _parse_each(self, records: Sequence[bytes]) -> tuple[list[pa.Array], list[int]]:
        """Records one by one."""
        parsed = [_features(record) for record in records]
        unreadable = [index for index, row in enumerate(parsed) if row is None]
        rows = [row for row in parsed if row is not None]
        arrays = [
            to_array([_values(row, name) for row in rows]) for name in self.wanted
        ]
        return arrays, unreadable


def names_in(records: Iterable[bytes]) -> list[str]:
    """Lists the features of some records.

    Args:
        records: serialized tf.Examples; others are passed over.

    Returns:
        Their names, sorted.
    """
    return sorted({name for one in records for name in _features(one) or ()})


def _features(record: bytes) -> Any:
    """The feature map of a record; None if it is no tf.Example."""
    from tensorflow.core.example import example_pb2

    try:
        return example_pb2.Example.FromString(record).features.feature
    except Exception as error:  # protobuf's DecodeError has several homes
        if type(error).__name__ != "DecodeError":
            raise
        return None


def _values(features: Any, name: str) -> list[Any] | None:
    """Value list of a feature, None where it is absent or unset."""
    if name not in features:
        return None
    kind = features[name].WhichOneof("kind")
    return None if kind is None else list(getattr(features[name], kind).value)


def _list_array(ragged: Any) -> pa.Array:
    """A ragged tensor [records, ?] as an Arrow list array."""
    values = ragged.values.numpy()
    offsets = ragged.row_splits.numpy().astype(np.int32)
    items = (
        pa.array(values, pa.binary()) if values.dtype == object else pa.array(values)
    )
    return pa.ListArray.from_arrays(pa.array(offsets), items)
