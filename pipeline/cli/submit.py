"""``ctr submit``: the pipeline handed to a Kubeflow Pipelines server."""

import datetime
import json
import tempfile
from pathlib import Path
from typing import Any

import click

from data.errors import UsageError
from pipeline.cli.compile import warn_of_local_input
from pipeline.cli.options import ANY_PATH, config_options, input_option


@click.command()
@config_options
@click.option("--image", help="Image of every component, by tag or digest.")
@input_option()
@click.option(
    "--pipeline-root",
    type=ANY_PATH,
    help="Folder of all artifacts: gs:// or s3://.",
)
@click.option("--endpoint", help="URL of the API; else KF_PIPELINES_ENDPOINT.")
@click.option("--namespace", help="Of the runs, in a multi-user installation.")
@click.option("--experiment", help="Holds the run; the pipeline's name if unset.")
@click.option("--run-name", help="The pipeline's name and the time if unset.")
@click.option(
    "--parameter",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of the run, such as epochs=5; may be repeated.",
)
@click.option("--schedule", is_flag=True, help="By kubeflow.schedule, not one run.")
@click.option("--replace", is_flag=True, help="Replace the schedule of this name.")
@click.option("--wait", is_flag=True, help="Wait for the end of the run.")
@click.option(
    "--timeout", default=86_400, show_default=True, help="Of --wait, seconds."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option("-v", "--verbose", is_flag=True, help="Let the libraries log.")
def submit(
    config: Path | None,
    preset: str | None,
    image: str | None,
    input_base: str | None,
    pipeline_root: str | None,
    endpoint: str | None,
    namespace: str | None,
    experiment: str | None,
    run_name: str | None,
    given: tuple[str, ...],
    schedule: bool,
    replace: bool,
    wait: bool,
    timeout: int,
    as_json: bool,
    verbose: bool,
) -> None:
    """Compile the pipeline and start it on Kubeflow Pipelines.

    A token comes from the variable KFP_TOKEN, never from the command line. With
    --schedule runs start by themselves, as kubeflow.schedule says.
    """
    if replace and not schedule:
        raise UsageError("--replace: goes with --schedule; add it, or remove this")
    if wait and schedule:
        raise UsageError("--wait: goes with one run; remove it, or --schedule")
    from pipeline.config import load
    from pipeline.kubeflow.config import KubeflowConfig
    from pipeline.kubeflow.request import request_of

    settings = load(config, preset)
    cluster = settings.kubeflow or KubeflowConfig()
    if schedule and cluster.schedule is None:
        raise UsageError(
            "--schedule: the configuration has none; set kubeflow.schedule.cron"
        )
    request = request_of(
        settings,
        "kubeflow",
        image=image,
        pipeline_root=pipeline_root,
        input_base=input_base,
    )
    warn_of_local_input(request.input_base)
    texts = dict(_split(one) for one in given)
    if not verbose:
        from pipeline.cli.quiet import silence

        silence()
    from pipeline.kubeflow.run_values import run_values
    from pipeline.kubeflow.server import Server, access
    from pipeline.kubeflow.submit import Submission, schedule_runs, start
    from pipeline.kubeflow.submit import wait as wait_for

    # Before the compile, which takes seconds.
    access(endpoint, namespace)
    from pipeline.kubeflow.compile import compile_kubeflow

    document = compile_kubeflow(settings, request)
    values = run_values(document, texts)
    # Nothing is asked of the server before all that is given has been judged.
    server = Server(endpoint, namespace)
    with tempfile.TemporaryDirectory() as folder:
        submission = Submission(
            spec=Path(folder, f"{settings.name}.yaml"),
            name=run_name or (settings.name if schedule else _name(settings.name)),
            experiment=experiment or settings.name,
            parameters=values,
            service_account=cluster.service_account,
        )
        submission.spec.write_text(document.to_yaml(), "utf-8")
        if cluster.schedule is not None and schedule:
            done = schedule_runs(server, submission, cluster.schedule, replace=replace)
        else:
            done = start(server, submission)
    done = {"pipeline": settings.name, "endpoint": server.endpoint} | done
    if wait:
        click.echo(f"waiting for {done['page']}", err=True)
        done["state"] = wait_for(
            server,
            done["run"],
            timeout,
            lambda state: click.echo(f"run: {state}", err=True),
        )
    _show(done, as_json)


def _split(text: str) -> tuple[str, str]:
    """Name and value of a parameter."""
    name, found, value = text.partition("=")
    if not found or not name:
        raise UsageError(f"--parameter {text}: must be NAME=VALUE")
    return name, value


def _show(result: dict[str, Any], as_json: bool) -> None:
    """Prints what was started."""
    if as_json:
        click.echo(json.dumps(result))
        return
    for key, value in result.items():
        click.echo(f"{key.replace('_', ' ')}: {value}")


def _name(pipeline: str) -> str:
    """A run's name: the pipeline and the time, as people look for it."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return f"{pipeline} {now:%Y-%m-%d %H:%M:%S}"
