"""The sections of the page, in the order in which a reviewer asks."""

from components.report.content import Content
from components.report.data_checks_section import data_checks_section
from components.report.evaluation_sections import (
    baseline_section,
    calibration_section,
    check_section,
    extreme_section,
    slice_section,
)
from components.report.run_sections import (
    cost_section,
    data_section,
    lineage_section,
    training_section,
)
from components.report.section import Section


def sections(content: Content) -> list[Section]:
    """All sections of a report.

    Args:
        content: of the report.

    Returns:
        The sections; one that the run did not reach says so.
    """
    return [
        check_section(content),
        slice_section(content),
        extreme_section(content),
        calibration_section(content),
        baseline_section(content),
        data_section(content),
        data_checks_section(content),
        training_section(content),
        cost_section(content),
        lineage_section(content),
    ]
