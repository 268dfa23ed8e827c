"""What a report is made of: plain values, gathered by the caller."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Content:
    """Everything that the page and the card show of one run.

    Attributes:
        summary: the run's summary; parts that it did not reach are None.
        statistics: one entry a split: ``split``, ``rows`` and ``features``; None where
            there are none.
        anomalies: ``split``, ``column`` and ``description`` of each; None where the
            data were not validated.
        curves: TensorBoard tag -> ``steps`` and ``values``; None where nothing was
            trained.
        lineage: component, state and artifacts of each execution.
        configuration: the whole configuration as YAML.
        commands: command lines that repeat the run.
        absent: part -> why it is None.
        hidden_slices: slices by user or request id, which the report leaves out.
    """

    summary: dict[str, Any]
    statistics: list[dict[str, Any]] | None = None
    anomalies: list[dict[str, str]] | None = None
    curves: dict[str, dict[str, list[float]]] | None = None
    lineage: list[dict[str, Any]] = field(default_factory=list)
    configuration: str = ""
    commands: list[str] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    hidden_slices: int = 0
