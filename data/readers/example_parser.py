"""Serialized tf.Examples as Arrow list columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from data.readers.objects import to_array

# Records looked at to learn the kinds of the features.
_SAMPLE = 64
# Kinds that one feature cannot hold: as text, 1.5 would be an id like any other.
_CLASH = {"bytes_list", "float_list"}


@dataclass(frozen=True)
class Misfit:
    """Why a record has no row.

    Attributes:
        reason: the rule that it broke.
        column: the feature at fault; empty if the record as a whole is.
    """

    reason: str
    column: str = ""


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
        # In the order in which they were met.
        self._kinds: dict[str, list[str]] = {name: [] for name in wanted}

    def parse(
        self, records: Sequence[bytes]
    ) -> tuple[list[pa.Array], dict[int, Misfit]]:
        """Parses records.

        Args:
            records: serialized tf.Examples.

        Returns:
            One list array for each wanted feature, null or empty where a record lacks
            it, and by index the records that have no row in the arrays: those that are
            no tf.Example, and those with floats in a feature that held bytes, or bytes
            in one that held floats.
        """
        if not records:
            return [pa.nulls(0) for _ in self.wanted], {}
        arrays = None
        # TensorFlow logs records that it cannot parse, so a file of another content
        # must not reach its parser.
        if not any(self._misfit(_features(one)) for one in records[:_SAMPLE]):
            arrays = self._parse_batch(records)
        return (arrays, {}) if arrays is not None else self._parse_each(records)

    def _misfit(self, features: Any) -> Misfit | None:
        """What is wrong with a record; one that fits teaches the kinds it holds."""
        if features is None:
            return Misfit("not a tf.Example")
        new: dict[str, str] = {}
        for name, known in self._kinds.items():
            kind = features[name].WhichOneof("kind") if name in features else None
            if kind is None or kind in known or not getattr(features[name], kind).value:
                continue
            other = _CLASH - {kind}
            if kind in _CLASH and not other.isdisjoint(known):
                (held,) = other
                return Misfit(f"{kind} in a column of {held}; write all alike", name)
            new[name] = kind
        for name, kind in new.items():
            self._kinds[name].append(kind)
        return None

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
            name: tf.io.RaggedFeature(kinds[next(iter(known), "bytes_list")])
            for name, known in self._kinds.items()
        }
        try:
            with tf.device("/cpu:0"):
                parsed = tf.io.parse_example(tf.constant(records), wanted)
        except (tf.errors.InvalidArgumentError, UnicodeDecodeError):
            # The second is raised where the error quotes bytes that are no text.
            return None
        arrays = [_list_array(parsed[name]) for name in self.wanted]
        for array, known in zip(arrays, self._kinds.values(), strict=True):
            if not known and len(array.values):
                known.append("bytes_list")
        return arrays

    def _parse_each(
        self, records: Sequence[bytes]
    ) -> tuple[list[pa.Array], dict[int, Misfit]]:
        """Records one by one."""
        misfits: dict[int, Misfit] = {}
        rows = []
        for index, record in enumerate(records):
            features = _features(record)
            misfit = self._misfit(features)
            if misfit is None:
                rows.append(features)
            else:
                misfits[index] = misfit
        arrays = [
            to_array([_values(row, name) for row in rows]) for name in self.wanted
        ]
        return arrays, misfits


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
