"""Sections on how the model was made: data, training, cost, lineage."""

from components.report.content import Content
from components.report.run_tables import (
    anomaly_table,
    cost_table,
    epoch_table,
    feature_table,
    lineage_table,
    pair_table,
    split_table,
    training_table,
)
from components.report.section import Section, why_absent
from components.report.text import ABSENT
from components.report.training_charts import cost_chart, training_charts


def data_section(content: Content) -> Section:
    """Rows, columns and anomalies.

    Args:
        content: of the report.

    Returns:
        The section.
    """
    section = Section("data", "Data")
    manifest = content.summary["data"]
    if manifest is None:
        section.absent.append(why_absent(content, "data"))
    else:
        section.notes.append(
            f"Read {manifest['rows_read']:,} rows, wrote {manifest['rows_written']:,}, "
            f"put {manifest['rows_quarantined']:,} aside."
        )
        section.notes += [str(notice) for notice in manifest.get("notices", ())]
        section.tables.append(split_table(manifest))
        if manifest.get("quarantined"):
            section.tables.append(
                pair_table("Rows put aside, by reason", manifest["quarantined"])
            )
    if content.anomalies is None:
        section.absent.append(f"validation: {why_absent(content, 'anomalies')}")
    elif content.anomalies:
        section.tables.append(anomaly_table(content.anomalies))
    else:
        section.notes.append("Validation against the schema found no anomaly.")
    if content.statistics is None:
        section.absent.append(f"statistics: {why_absent(content, 'statistics')}")
    section.tables += [feature_table(split) for split in content.statistics or ()]
    return section


def training_section(content: Content) -> Section:
    """Training curves.

    Args:
        content: of the report.

    Returns:
        The section.
    """
    section = Section("training", "Training")
    training = content.summary["training"]
    if content.curves:
        section.charts = training_charts(content.curves)
    else:
        section.absent.append(f"curves: {why_absent(content, 'curves')}")
    if training is None:
        section.absent.append(f"totals: {why_absent(content, 'training')}")
        return section
    epochs = epoch_table(training)
    section.tables = [*([epochs] if epochs else []), training_table(training)]
    return section


def cost_section(content: Content) -> Section:
    """What the run cost.

    Args:
        content: of the report.

    Returns:
        The section.
    """
    section = Section("cost", "Cost")
    components = content.summary["components"]
    if components:
        section.charts.append(cost_chart(components))
        section.tables.append(cost_table(components))
    else:
        section.absent.append("no component was started")
    if not any(entry.get("device_seconds") is not None for entry in components):
        section.notes.append("Use of an accelerator was not recorded.")
    return section


def lineage_section(content: Content) -> Section:
    """Where the model comes from and how to make it again.

    Args:
        content: of the report.

    Returns:
        The section.
    """
    summary = content.summary
    code = summary.get("code", {})
    facts = {
        "run": summary["run"],
        "pipeline": summary["pipeline"],
        "input": summary["input"],
        "model": summary["model"] or ABSENT,
        "baseline": summary["baseline"] or ABSENT,
        "reference": summary.get("reference") or ABSENT,
        "pushed to": summary["pushed"] or ABSENT,
        "package": f"tfx-ctr {code['version']}" if code else ABSENT,
    }
    if "commit" in code:
        changed = " and uncommitted changes" if code["modified"] else ""
        facts["git commit"] = code["commit"] + changed
    return Section(
        "lineage",
        "Lineage and reproduction",
        tables=[
            pair_table("This run", facts),
            pair_table("Stack", summary["stack"]),
            lineage_table(content.lineage),
        ],
        commands=content.commands,
        configuration=content.configuration,
    )
