"""``ctr compile``: the pipeline as a spec for a cluster, and the check of any spec."""

import json
import os
from pathlib import Path
from typing import Any

import click

from data.errors import UsageError
from data.whole_files import write_whole
from pipeline.cli.options import ANY_PATH, LOCAL_FILE, config_options, input_option

# Target -> how its files end; the service tells the format by that.
_ENDINGS = {"kubeflow": (".yaml", ".yml"), "vertex": (".json",)}


@click.command(name="compile")
@config_options
@click.option("--target", type=click.Choice(list(_ENDINGS)), help="What runs it.")
@click.option("--image", help="Image of every component, by tag or digest.")
@input_option()
@click.option(
    "--pipeline-root",
    type=ANY_PATH,
    help="Folder of all artifacts: gs:// or s3://.",
)
@click.option("--output", type=LOCAL_FILE, help="The file to write.")
@click.option("--check", "spec", type=LOCAL_FILE, help="Check this spec instead.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option("-v", "--verbose", is_flag=True, help="Let the libraries log.")
def compile_(
    config: Path | None,
    preset: str | None,
    target: str | None,
    image: str | None,
    input_base: str | None,
    pipeline_root: str | None,
    output: Path | None,
    spec: Path | None,
    as_json: bool,
    verbose: bool,
) -> None:
    """Compile the pipeline for a cluster, or check a compiled one.

    Target kubeflow writes what open-source Kubeflow Pipelines takes, vertex what
    Vertex AI takes. --check names every rule that a spec breaks, also one that another
    tool wrote; exit code 2 if there is any.
    """
    if spec is not None:
        given = (config, preset, target, image, input_base, pipeline_root, output)
        if any(value is not None for value in given):
            raise UsageError(
                "--check SPEC: takes no option but --json; remove the rest"
            )
        _check(spec, as_json)
        return
    if target is None:
        raise UsageError("--target: needed: kubeflow or vertex; pass one")
    path = _output(output, target)
    if config is not None and path.exists() and path.samefile(config):
        raise UsageError(
            f"--output {path}: is the configuration, which it would replace; name "
            "another file"
        )
    from pipeline.config import load
    from pipeline.kubeflow.request import request_of

    settings = load(config, preset)
    request = request_of(
        settings,
        "vertex" if target == "vertex" else "kubeflow",
        image=image,
        pipeline_root=pipeline_root,
        input_base=input_base,
    )
    warn_of_local_input(request.input_base)
    if not verbose:
        from pipeline.cli.quiet import silence

        silence()
    from pipeline.kubeflow.compile import compile_kubeflow, compile_vertex, job_text

    if target == "vertex":
        job = compile_vertex(settings, request)
        text, compiled = job_text(job), job["pipelineSpec"]
    else:
        document = compile_kubeflow(settings, request)
        text, compiled = document.to_yaml(), document.pipeline
    write_whole(path, text)
    cluster = settings.kubeflow
    _show(
        {
            "file": str(path),
            "target": target,
            "tasks": len(compiled["root"]["dag"]["tasks"]),
            "schema_version": compiled["schemaVersion"],
            "image": request.image,
            "pipeline_root": request.pipeline_root,
            "input": request.input_base,
            "serving": request.serving,
            # A spec cannot hold these; they are told to the cluster with each run.
            "service_account": cluster.service_account if cluster else None,
            "schedule": cluster.schedule.model_dump()
            if cluster and cluster.schedule
            else None,
        },
        as_json,
    )


def warn_of_local_input(place: str) -> None:
    """Warns of a log on this machine, which a pod will look for in its own.

    Args:
        place: the log that a compiled pipeline reads.
    """
    if os.path.exists(place):
        click.echo(
            f"warning: input {place}: lies on this machine; a pod reads it only from a "
            "volume that is mounted there; pass --input, such as s3://BUCKET/FOLDER",
            err=True,
        )


def _check(spec: Path, as_json: bool) -> None:
    """Reports every broken rule of a spec.

    Raises:
        UsageError: there is any.
    """
    from pipeline.kubeflow.check import check
    from pipeline.kubeflow.document import read_document

    faults = check(read_document(spec))
    if as_json:
        found = [fault.to_json() for fault in faults]
        click.echo(json.dumps({"file": str(spec), "faults": found}))
    else:
        for fault in faults:
            click.echo(fault.line())
        if not faults:
            click.echo(f"{spec}: no rule broken")
    if faults:
        raise UsageError(f"{spec}: Kubeflow would not run it; faults: {len(faults)}")


def _output(output: Path | None, target: str) -> Path:
    """The file to write.

    Raises:
        UsageError: no such folder, or an ending that the target does not take.
    """
    if output is None:
        raise UsageError("--output: needed, the file to write; pass one")
    endings = _ENDINGS[target]
    if output.suffix not in endings:
        raise UsageError(
            f"--output {output}: target {target} is told by the ending; name a file "
            f"with {' or '.join(endings)}"
        )
    if not output.parent.is_dir():
        raise UsageError(
            f"--output {output}: no folder {output.parent}; make it, or name another"
        )
    return output


def _show(result: dict[str, Any], as_json: bool) -> None:
    """Prints what was compiled."""
    if as_json:
        click.echo(json.dumps(result))
        return
    for key, value in result.items():
        if value is not None:
            click.echo(f"{key.replace('_', ' ')}: {value}")
