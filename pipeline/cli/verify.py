"""``ctr verify``: are these shards whole, and what their manifest says?"""

import json
from collections.abc import Iterator

import click

from data import paths
from data.errors import RunError, UsageError, one_line
from data.manifest import MANIFEST_FILE
from data.shards import shard_fault, verify_manifest
from pipeline.cli.options import ANY_PATH


@click.command()
@click.argument("locations", type=ANY_PATH, metavar="PATH...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def verify(locations: tuple[str, ...], as_json: bool) -> None:
    """Check shards: compression, record checksums, and rows against the manifest.

    A PATH is a TFRecord file, a folder with a manifest, or a folder of TFRecord files.
    Every bad file is named; the exit code is 1 if there is any.
    """
    good = 0
    bad: list[dict[str, str]] = []
    for location in locations:
        for file, fault in _check(location):
            if fault is None:
                good += 1
                continue
            bad.append({"file": file, "fault": fault})
            if not as_json:
                click.echo(one_line(f"{file}: {fault}"))
    if not good and not bad:
        raise UsageError(f"no shards under {', '.join(locations)}")
    if as_json:
        click.echo(json.dumps({"good": good, "bad": bad}))
    else:
        click.echo(f"{good} good, {len(bad)} bad")
    if bad:
        raise RunError(f"{len(bad)} of {good + len(bad)} files are bad")


def _check(location: str) -> Iterator[tuple[str, str | None]]:
    """Each file of a path and what is wrong with it.

    Raises:
        UsageError: there is no such path.
    """
    base = location.rstrip("/") or "/"
    if not paths.exists(base):
        raise UsageError(f"{location}: no such file or folder")
    if not paths.is_dir(base):
        yield base, shard_fault(base)
    elif paths.exists(f"{base}/{MANIFEST_FILE}"):
        for file, fault in verify_manifest(base):
            yield f"{base}/{file}", fault
    else:
        for file in paths.walk(base):
            if not any(part[0] in "._" for part in file.split("/")):
                yield f"{base}/{file}", shard_fault(f"{base}/{file}")
