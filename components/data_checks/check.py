"""All data checks of one run, in one pass over its rows."""

import contextlib
from collections.abc import Iterator

from tensorflow_metadata.proto.v0 import schema_pb2

from components.data_checks.click_rates import click_rate_findings, click_rates
from components.data_checks.columns import checked_columns
from components.data_checks.config import DataChecksConfig
from components.data_checks.equal_rows import repeat_findings
from components.data_checks.findings import DataChecksResult, Finding
from components.data_checks.leakage import leakage_findings
from components.data_checks.repeats import RepeatCounter
from components.data_checks.rows import RowBatch, read_rows
from components.data_checks.shifts import shift_findings
from components.data_checks.statistics import (
    columns_with_domain,
    frequent_texts,
    medians,
    read_statistics,
)
from components.data_checks.tally import Tally
from components.data_checks.values import value_findings
from data.columns import shard_columns
from data.dataset import Dataset
from data.manifest import read_manifest

COMPARED = ("train", "eval")


def check_data(
    examples: str,
    statistics: str,
    schema: schema_pb2.Schema,
    dataset: Dataset,
    config: DataChecksConfig,
) -> DataChecksResult:
    """Checks the rows of all splits.

    Args:
        examples: folder of the shards and their manifest.
        statistics: folder of the statistics of the same splits.
        schema: of the shards.
        dataset: the declaration.
        config: levels and limits.

    Returns:
        What was found; a broken rule is in it and not raised.

    Raises:
        DataError: a shard is absent or damaged.
    """
    manifest = read_manifest(examples)
    known = read_statistics(statistics, COMPARED)
    tally = Tally(dataset, checked_columns(dataset), manifest, medians(known))
    request_id = dataset.keys.request_id
    with contextlib.ExitStack() as stack:
        equal = stack.enter_context(RepeatCounter(manifest.splits))
        requests = (
            stack.enter_context(RepeatCounter(manifest.splits)) if request_id else None
        )
        for batch in read_rows(examples, manifest, shard_columns(dataset)):
            equal.add(batch.split, batch.records)
            if requests and request_id:
                requests.add(batch.split, _texts(batch, request_id))
            if batch.split in COMPARED:
                tally.add(batch)
        repeats = equal.count()
        repeated_requests = requests.count() if requests else None

    def findings() -> Iterator[Finding]:
        yield from value_findings(tally, config, columns_with_domain(schema))
        yield from shift_findings(tally, config, frequent_texts(known))
        yield from click_rate_findings(tally, config.click_rate)
        yield from leakage_findings(tally, config.leakage)
        yield from repeat_findings(repeats, repeated_requests, config, dataset)

    return DataChecksResult(
        rows=sum(found.rows for found in repeats.values()),
        findings=tuple(findings()),
        click_rates=click_rates(tally),
    )


def _texts(batch: RowBatch, column: str) -> list[bytes]:
    """The texts of a column, without absent and empty ones."""
    return [text for text in batch.columns[column].flatten().to_pylist() if text]
