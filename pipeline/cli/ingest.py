"""``ctr ingest``: logs to verified shards and a manifest."""

import contextlib
import fnmatch
import json
import os
import posixpath
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from data import paths
from data.dataset import MAX_TRAIN_SHARDS
from data.errors import UsageError
from pipeline.cli.options import ANY_PATH, config_options
from pipeline.cli.tables import cell, print_line


@click.command()
@config_options
@click.option(
    "--input",
    "inputs",
    type=ANY_PATH,
    multiple=True,
    help="Folder, file or pattern; may be repeated.",
)
@click.option(
    "--output",
    type=ANY_PATH,
    required=True,
    help="Folder to write; must be empty or absent.",
)
@click.option(
    "--shards",
    type=click.IntRange(1, MAX_TRAIN_SHARDS),
    help="Shards of the train split.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option("-v", "--verbose", is_flag=True, help="Let the libraries log.")
def ingest(
    config: Path | None,
    preset: str | None,
    inputs: tuple[str, ...],
    output: str,
    shards: int | None,
    as_json: bool,
    verbose: bool,
) -> None:
    """Turn click logs into verified shards of tf.Example and a manifest.

    Prints the rows read, written and quarantined. Bad rows are refused unless the
    configuration says on_bad_row: quarantine; nothing is written then.
    """
    from pipeline.config import load

    settings = load(config, preset)
    given = inputs or ((settings.input,) if settings.input else ())
    if not given:
        raise UsageError(
            "no log to read: pass --input PATH or set input in the config; `ctr simulate` writes one"
        )
    _refuse_output_in_input(output, given)
    if not verbose:
        from pipeline.cli.quiet import silence

        silence()
    with complete_or_absent(output) as scratch:
        from components.example_gen.run import describe
        from components.example_gen.run import ingest as run_ingest

        dataset = settings.data
        if shards is not None:
            dataset = dataset.model_copy(update={"shards": shards})
        manifest = run_ingest(given, dataset, scratch, name=settings.name)
    result = {"output": output, **describe(manifest)}
    if as_json:
        click.echo(json.dumps(result))
    else:
        show(result, Console())


def _refuse_output_in_input(output: str, inputs: tuple[str, ...]) -> None:
    """Refuses an output that the next ingest of the same input would read.

    An input below the output needs no rule: the output is not empty then.

    Raises:
        UsageError: the output is an input, or a folder somewhere in it.
    """
    above = [_real(output)]
    while (parent := posixpath.dirname(above[-1])) != above[-1]:
        above.append(parent)
    for given in inputs:
        pattern = _real(given)
        if pattern in above or any(_names(pattern, folder) for folder in above):
            raise UsageError(
                f"--output {output}: lies in --input {given}, so that the next ingest "
                "would read it; pass a folder outside"
            )


def _names(pattern: str, folder: str) -> bool:
    """True if a pattern names a folder; its wildcards stay within one part of a path."""
    wanted, parts = pattern.split("/"), folder.split("/")
    if "**" in wanted:
        return fnmatch.fnmatchcase(folder, pattern)
    return len(wanted) == len(parts) and all(map(fnmatch.fnmatchcase, parts, wanted))


def _real(path: str) -> str:
    """A path without links, or as it is in a store."""
    if paths.is_remote(path):
        return path.rstrip("/")
    return os.path.realpath(path)


@contextlib.contextmanager
def complete_or_absent(output: str) -> Iterator[str]:
    """A folder that appears whole or not at all.

    An error, or SIGTERM, removes what was written; after SIGKILL the next call for the
    same folder does.

    Args:
        output: the folder to make.

    Yields:
        A hidden folder beside it to write into; it gets its name at the end.

    Raises:
        UsageError: the output is no name, a file, or a folder with something in it.
    """
    if not output:
        raise UsageError("--output '': no name; pass an empty or new folder")
    # The folder behind a symbolic link is replaced, not the link.
    target = _real(output)
    if paths.exists(target):
        if not paths.is_dir(target):
            raise UsageError(f"--output {output}: is a file; pass a folder")
        if paths.holds_files(target):
            raise UsageError(
                f"--output {output}: not empty; pass an empty or new folder"
            )
    parent, name = posixpath.split(target)
    # With the machine, since several may write to one disk.
    prefix = f".{name}.partial-{socket.gethostname()}-"
    _remove_left(parent, prefix)
    scratch = posixpath.join(parent, f"{prefix}{os.getpid()}")
    paths.remove_tree(scratch)
    try:
        paths.make_dirs(scratch)
        yield scratch
        paths.remove_tree(target)
        paths.rename(scratch, target)
    finally:
        paths.remove_tree(scratch)


def _remove_left(parent: str, prefix: str) -> None:
    """Removes what killed processes of this machine left; a store is left alone."""
    import psutil

    if paths.is_remote(parent):
        return
    for name in paths.children(parent):
        pid = name.removeprefix(prefix)
        if (
            name.startswith(prefix)
            and pid.isdecimal()
            and not psutil.pid_exists(int(pid))
        ):
            paths.remove_tree(posixpath.join(parent, name))


def show(result: dict[str, Any], console: Console) -> None:
    """Prints rows by split, what was put aside, and what was passed over.

    Args:
        result: as ``--json`` prints it.
        console: where to print.
    """
    table = Table(title=f"ingested to {cell(result['output'])}", title_justify="left")
    table.add_column("split")
    for name in ("rows", "clicks", "click rate", "shards", "MiB"):
        table.add_column(name, justify="right")
    for name, split in result["splits"].items():
        table.add_row(
            name,
            f"{split['rows']:,}",
            f"{split['clicks']:,}",
            f"{split['clicks'] / split['rows']:.2%}",
            str(split["shards"]),
            f"{split['bytes'] / 2**20:.1f}",
        )
    console.print(table)
    print_line(
        console,
        f"rows read {result['rows_read']:,}, written {result['rows_written']:,}, "
        f"quarantined {result['rows_quarantined']:,} (layout {result['layout']})",
    )
    for rule, rows in result["quarantined"].items():
        print_line(console, f"  quarantined {rows:,}: {rule}")
    for notice in result["notices"]:
        print_line(console, f"  {notice}")
