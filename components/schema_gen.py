"""Schema of the shards: declared types and presence, inferred domains.

What the configuration declares is never guessed from the data; TFDV infers only the
values of low-cardinality text columns. The result is written for curation: copy it,
edit it, and name it in the configuration as ``schema``.
"""

import os

import tensorflow_data_validation as tfdv
from tensorflow_metadata.proto.v0 import schema_pb2, statistics_pb2
from tfx.dsl.component.experimental.annotations import (
    InputArtifact,
    OutputArtifact,
    Parameter,
)
from tfx.dsl.component.experimental.decorators import component
from tfx.types.standard_artifacts import ExampleStatistics, Schema

from data.columns import Column, shard_columns
from data.dataset import Dataset

SCHEMA_FILE = "schema.pbtxt"
# Share of rows whose value must be in an inferred domain. Logs gain a few new values
# each day (a country, a device); a column that is renamed or recoded loses most.
MIN_DOMAIN_MASS = 0.9
# A tenth of what the constraint above allows, so that chance alone cannot break it.
MAX_UNSEEN = 0.01
TYPES = {
    "bytes": schema_pb2.BYTES,
    "int64": schema_pb2.INT,
    "float": schema_pb2.FLOAT,
}


@component
def DeclaredSchemaGen(
    statistics: InputArtifact[ExampleStatistics],
    schema: OutputArtifact[Schema],
    dataset: Parameter[str],
) -> None:
    """Writes the schema that the declaration and the training rows give.

    Args:
        statistics: statistics with a split named train.
        schema: receives ``schema.pbtxt``.
        dataset: JSON of ``data.dataset.Dataset``.
    """
    path = os.path.join(statistics.uri, "Split-train", "FeatureStats.pb")
    train = tfdv.load_stats_binary(path)
    declared = declare(
        Dataset.model_validate_json(dataset),
        tfdv.infer_schema(train),
        incomplete_columns(train),
    )
    tfdv.write_schema_text(declared, os.path.join(schema.uri, SCHEMA_FILE))


def incomplete_columns(
    statistics: statistics_pb2.DatasetFeatureStatisticsList,
) -> frozenset[str]:
    """Text columns whose values the rows have not shown well enough for a domain.

    The chance that the next row holds a value never seen is about the share of rows
    whose value was seen once.

    Args:
        statistics: of the training rows.

    Returns:
        Names of columns where that chance is above ``MAX_UNSEEN``.

    References:
        Good, 1953, The population frequencies of species, equation 9.
    """
    names = set()
    for feature in statistics.datasets[0].features:
        counts = [b.sample_count for b in feature.string_stats.rank_histogram.buckets]
        seen_once = sum(1 for count in counts if count == 1)
        if seen_once > MAX_UNSEEN * sum(counts):
            names.add(feature.path.step[0])
    return frozenset(names)


def declare(
    dataset: Dataset,
    inferred: schema_pb2.Schema,
    without_domain: frozenset[str] = frozenset(),
) -> schema_pb2.Schema:
    """The declared columns with the domains of an inferred schema.

    Args:
        dataset: the declaration.
        inferred: what TFDV inferred from the training rows.
        without_domain: columns that get no domain.

    Returns:
        One feature for each column of the shards, in the order of the declaration.
    """
    guesses = {feature.name: feature.domain for feature in inferred.feature}
    domains = {domain.name: domain for domain in inferred.string_domain}
    # Ids of users would be written into a file that people copy around.
    hidden = without_domain | {dataset.keys.user_id, dataset.keys.request_id}
    schema = schema_pb2.Schema()
    for column in shard_columns(dataset):
        feature = schema.feature.add()
        feature.CopyFrom(feature_of(column))
        domain = domains.get(guesses.get(column.name, ""))
        if domain and column.dtype == "bytes" and column.name not in hidden:
            schema.string_domain.add().CopyFrom(domain)
            feature.domain = domain.name
            feature.distribution_constraints.min_domain_mass = MIN_DOMAIN_MASS
    return schema


def feature_of(column: Column) -> schema_pb2.Feature:
    """A column as a schema feature.

    A required scalar has the empty shape (a dense [batch] tensor); anything else is a
    list of any length.
    """
    feature = schema_pb2.Feature(name=column.name, type=TYPES[column.dtype])
    if column.required:
        feature.presence.min_fraction = 1.0
        feature.presence.min_count = 1
        feature.shape.SetInParent()
    elif column.length:
        # Rows hold the whole vector or none of it; TFDV counts only rows with one.
        feature.value_count.min = column.length
        feature.value_count.max = column.length
    elif column.length == 0:
        feature.value_count.min = 1
        feature.value_count.max = 1
    return feature
