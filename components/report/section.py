"""One section of the page."""

from dataclasses import dataclass, field

from components.report.chart import Chart
from components.report.content import Content
from components.report.tables import Table


@dataclass
class Section:
    """One section.

    Attributes:
        key: its anchor.
        title: its head.
        notes: lines below the head.
        charts: its charts.
        tables: its tables.
        commands: command lines.
        configuration: YAML, folded away.
        absent: why the section, or a part of it, is missing.
    """

    key: str
    title: str
    notes: list[str] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    configuration: str = ""
    absent: list[str] = field(default_factory=list)


def why_absent(content: Content, part: str) -> str:
    """Tells why a part is missing.

    Args:
        content: of the report.
        part: key of ``Content.absent``.

    Returns:
        The reason.
    """
    return content.absent.get(part, "not recorded by this run")
