"""``ctr evaluate``: all metrics of any model's predictions."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from components.metrics.names import USER_WEIGHTS
from data.errors import RunError, UsageError

if TYPE_CHECKING:
    from components.gates import Verdict
    from components.metrics.results import SliceResult


@click.command()
@click.option(
    "--predictions",
    "path",
    required=True,
    help="CSV, TSV, Parquet or TFRecord file with a row for each prediction.",
)
@click.option("--label", required=True, help="Column of labels, 0 or 1.")
@click.option("--prediction", required=True, help="Column of click probabilities.")
@click.option("--user", help="Column of user ids; without it GAUC is undefined.")
@click.option("--weight", help="Column of row weights.")
@click.option(
    "--baseline", help="Column of another model's predictions to compare with."
)
@click.option(
    "--slice",
    "slices",
    multiple=True,
    help="Column to slice by, or several joined by commas for their cross; repeatable.",
)
@click.option(
    "--user-weight",
    type=click.Choice(USER_WEIGHTS),
    help="What a user weighs in GAUC. [default: weight with --weight, else impressions]",
)
@click.option(
    "--gates",
    type=click.Path(path_type=Path, dir_okay=False),
    help="YAML file of bounds; exit code 1 if they are not kept.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def evaluate(
    path: str,
    label: str,
    prediction: str,
    user: str | None,
    weight: str | None,
    baseline: str | None,
    slices: tuple[str, ...],
    user_weight: str | None,
    gates: Path | None,
    as_json: bool,
) -> None:
    """Compute GAUC, PCOP and more for a file of predictions."""
    from pipeline.cli.predictions import Roles

    if user_weight == "weight" and weight is None:
        raise UsageError("--user-weight weight: needs a column of weights, --weight")
    crosses = tuple(tuple(dict.fromkeys(one.split(","))) for one in slices)
    roles = Roles(
        label=label,
        prediction=prediction,
        user=user,
        weight=weight,
        baseline=baseline,
        slices=tuple(dict.fromkeys(name for cross in crosses for name in cross)),
    )
    judge = _judge_of(gates)
    results = _results(path, roles, crosses, user_weight)
    verdict = judge(results)
    _show(results, verdict, as_json)
    outside = results[0].counts.rows_outside_unit
    if outside:
        click.echo(
            f"warning: {outside:,} predictions lie outside [0, 1]; are they scores"
            " instead of probabilities? PCOP means nothing then",
            err=True,
        )
    if verdict is not None and not verdict.blessed:
        raise RunError(verdict.reason)


def _judge_of(gates: Path | None) -> Any:
    """A function from results to a verdict; to None without gates."""
    if gates is None:
        return lambda _: None
    from components.gates import judge
    from components.gates_config import GatesConfig
    from data.settings import parse, read_yaml

    config = parse(GatesConfig, read_yaml(gates), str(gates))
    return lambda results: judge(results, config)


def _results(
    path: str, roles: Any, crosses: tuple[tuple[str, ...], ...], user_weight: str | None
) -> "list[SliceResult]":
    """Reads the file and computes every slice."""
    from components.metrics.columns import check_columns
    from components.metrics.user_sums import default_user_weight
    from components.slices import SliceSpec
    from components.table_evaluation import evaluate_table
    from pipeline.cli.predictions import read_predictions

    table = read_predictions(path, roles)
    numbers = table.numbers
    columns, kept = check_columns(
        table.users,
        numbers["label"],
        numbers["prediction"],
        numbers.get("weight"),
        numbers.get("baseline"),
        place="data row",
    )
    weight: Any = user_weight or default_user_weight(columns.weights is not None)
    features = {
        name: feature if kept is None else feature.take(kept, len(table.users))
        for name, feature in table.features.items()
    }
    specs = [SliceSpec(cross) for cross in crosses]
    return evaluate_table(columns, features, specs, weight, roles.user is not None)


def _show(
    results: "list[SliceResult]", verdict: "Verdict | None", as_json: bool
) -> None:
    """Prints the results as JSON or as a table with its notes."""
    slices = [result.to_json() for result in results]
    judged = None if verdict is None else verdict.to_json()
    if as_json:
        content: dict[str, Any] = {"slices": slices}
        if judged is not None:
            content["verdict"] = judged
        click.echo(json.dumps(content, allow_nan=False))
        return
    from rich.console import Console

    from pipeline.cli.tables import metric_notes, slice_table

    # Where nothing says how wide the output is, a table must not be cut to 80.
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(slice_table(slices))
    for note in metric_notes(slices[0]):
        console.print(note, highlight=False, soft_wrap=True)
    if judged is not None:
        from pipeline.cli.tables import verdict_lines

        for line in verdict_lines(judged):
            console.print(line, highlight=False, soft_wrap=True)
