"""``ctr evaluate``: all metrics of any model's predictions."""

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from components.metrics.names import USER_WEIGHTS
from data.errors import DataError, RunError, UsageError
from pipeline.cli.options import ANY_PATH, LOCAL_FILE

if TYPE_CHECKING:
    from components.gates import Verdict
    from components.metrics.columns import Columns
    from components.metrics.results import SliceResult
    from components.slices import SliceSpec
    from pipeline.cli.predictions import Roles


@click.command()
@click.option(
    "--predictions",
    "path",
    type=ANY_PATH,
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
    "--reference",
    help="Column of a pinned model's predictions, for the reference gates.",
)
@click.option(
    "--slice",
    "slices",
    multiple=True,
    help="Column to slice by, or several joined by commas for their cross; repeatable.",
)
@click.option(
    "--top-slices",
    multiple=True,
    metavar="COLUMN:COUNT",
    help="Column with many values, and how many of its largest slices to show.",
)
@click.option(
    "--min-slice-rows",
    type=click.IntRange(min=0),
    default=0,
    help="Leave out slices with fewer rows.",
)
@click.option(
    "--user-weight",
    type=click.Choice(USER_WEIGHTS),
    help="What a user weighs in GAUC. [default: weight with --weight, else impressions]",
)
@click.option(
    "--gates",
    type=LOCAL_FILE,
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
    reference: str | None,
    slices: tuple[str, ...],
    top_slices: tuple[str, ...],
    min_slice_rows: int,
    user_weight: str | None,
    gates: Path | None,
    as_json: bool,
) -> None:
    """Compute GAUC, PCOP and more for a file of predictions."""
    from components.slices import SliceSpec
    from pipeline.cli.predictions import Roles

    if user_weight == "weight" and weight is None:
        raise UsageError("--user-weight weight: needs a column of weights, --weight")
    whole = [SliceSpec(tuple(sorted(set(one.split(","))))) for one in slices]
    largest = [_top_slices(one) for one in top_slices]
    specs = whole + largest
    roles = Roles(
        label=label,
        prediction=prediction,
        user=user,
        weight=weight,
        baseline=baseline,
        reference=reference,
        slices=tuple(dict.fromkeys(name for spec in whole for name in spec.features)),
        top_slices=tuple(name for spec in largest for name in spec.features),
    )
    judge = _judge_of(gates, whole, reference)
    try:
        table = _Table(path, roles)
        results = table.evaluate(specs, user_weight)
        against = table.evaluate_reference(user_weight) if reference else None
    except DataError as error:
        # Whatever is wrong with the file, it is what the caller passed.
        raise UsageError(str(error)) from None
    verdict = judge(results, against)
    shown = [
        one for one in results if not one.slice or one.counts.rows >= min_slice_rows
    ]
    _show(shown, verdict, as_json)
    outside = results[0].outside_unit
    if outside:
        click.echo(
            f"warning: {outside:,} predictions lie outside [0, 1]; are they scores"
            " instead of probabilities? PCOP means nothing then",
            err=True,
        )
    if verdict is not None and not verdict.blessed:
        raise RunError(verdict.reason)


def _top_slices(option: str) -> "SliceSpec":
    """Reads ``item_id:20``."""
    from components.slices import SliceSpec

    name, _, count = option.rpartition(":")
    if not name or not count.isdecimal() or int(count) < 1:
        raise UsageError(
            f"--top-slices {option}: must be a column and a count, such as item_id:20"
        )
    return SliceSpec((name,), top=int(count))


def _judge_of(
    gates: Path | None, slices: "list[SliceSpec]", reference: str | None
) -> Any:
    """A function from results to a verdict; to None without gates."""
    if gates is None:
        if reference is not None:
            raise UsageError("--reference: only gates use it; add --gates FILE")
        return lambda *_: None
    from components.gates import judge
    from components.gates_config import GatesConfig
    from data.settings import parse, read_yaml

    config = parse(GatesConfig, read_yaml(gates), str(gates))
    measured = [set(spec.features) for spec in slices]
    for index, gate in enumerate(config.slices):
        if set(gate.slice) not in measured:
            raise UsageError(
                f"{gates}: slices[{index}].slice: {list(gate.slice)} is not measured; "
                f"add --slice {','.join(gate.slice)}"
            )
    if bool(config.reference) != (reference is not None):
        missing = "--reference COLUMN" if config.reference else "reference gates"
        raise UsageError(
            f"{gates}: gates against a reference and --reference need each other; "
            f"there are no {missing}"
        )
    return lambda results, against: judge(results, config, against)


class _Table:
    """The columns of a file, read once."""

    def __init__(self, path: str, roles: "Roles") -> None:
        """Reads and checks the file.

        Args:
            path: the file.
            roles: which column is what.
        """
        from components.metrics.columns import check_columns
        from pipeline.cli.predictions import read_predictions

        table = read_predictions(path, roles)
        numbers = table.numbers
        self._user_declared = roles.user is not None
        columns = (
            table.users,
            numbers["label"],
            numbers["prediction"],
            numbers.get("weight"),
        )
        self._columns, kept = check_columns(
            *columns, numbers.get("baseline"), place="data row"
        )
        self._beside_reference = self._columns
        if roles.reference is not None:
            self._beside_reference, _ = check_columns(
                *columns,
                numbers["reference"],
                place="data row",
                other="reference prediction",
            )
        self._features = {
            name: feature if kept is None else feature.take(kept, len(table.users))
            for name, feature in table.features.items()
        }

    def evaluate(
        self, specs: "list[SliceSpec]", user_weight: str | None
    ) -> "list[SliceResult]":
        """Computes every slice, with the baseline where there is one."""
        return self._evaluate(self._columns, specs, user_weight)

    def evaluate_reference(self, user_weight: str | None) -> "list[SliceResult]":
        """Computes all rows with the reference in place of the baseline."""
        return self._evaluate(self._beside_reference, [], user_weight)

    def _evaluate(
        self, columns: "Columns", specs: "list[SliceSpec]", user_weight: str | None
    ) -> "list[SliceResult]":
        """All slices of checked rows."""
        from components.metrics.user_sums import default_user_weight
        from components.table_evaluation import evaluate_table

        weight: Any = user_weight or default_user_weight(columns.weights is not None)
        return evaluate_table(
            columns, self._features, specs, weight, self._user_declared
        )


def _show(
    results: "list[SliceResult]", verdict: "Verdict | None", as_json: bool
) -> None:
    """Prints the results as JSON or as a table with its notes."""
    slices = [dataclasses.replace(one, curves=None).to_json() for one in results]
    judged = None if verdict is None else verdict.to_json()
    if as_json:
        content: dict[str, Any] = {"slices": slices}
        if judged is not None:
            content["verdict"] = judged
        click.echo(json.dumps(content, allow_nan=False))
        return
    from pipeline.cli.tables import (
        metric_notes,
        print_line,
        slice_table,
        table_console,
    )

    console = table_console()
    console.print(slice_table(slices))
    for note in metric_notes(slices[0]):
        print_line(console, note)
    if judged is not None:
        from pipeline.cli.tables import verdict_lines

        for line in verdict_lines(judged):
            console.print(line, highlight=False, soft_wrap=True)
