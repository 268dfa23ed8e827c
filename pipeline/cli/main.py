"""``ctr``: a group of commands, each imported only when it is called.

``ctr --help`` must answer at once, and TensorFlow alone takes seconds to import.
"""

import atexit
import contextlib
import importlib
import os
import sys

import click

from data.disk_faults import disk_error
from data.errors import CtrError, one_line, suggest
from pipeline.cli.signals import exit_on_sigterm
from pipeline.cli.streams import prepare, print_error

# Command -> (where it is defined, its line in the help).
COMMANDS = {
    "run": ("pipeline.cli.run:run", "Run the whole pipeline on this machine."),
    "train": (
        "pipeline.cli.train:train",
        "Train a job file; each process of a cluster runs it.",
    ),
    "simulate": (
        "pipeline.cli.simulate:simulate",
        "Write a click log with known click probabilities.",
    ),
    "ingest": ("pipeline.cli.ingest:ingest", "Turn logs into verified shards."),
    "verify": ("pipeline.cli.verify:verify", "Check shards against their manifest."),
    "evaluate": (
        "pipeline.cli.evaluate:evaluate",
        "GAUC, PCOP and more for a file of predictions.",
    ),
    "check-serving": (
        "pipeline.cli.check_serving:check_serving",
        "Replay rows and odd requests through an exported model.",
    ),
    "runs": ("pipeline.cli.runs:runs", "List runs, show one, or compare two."),
    "rollback": (
        "pipeline.cli.rollback:rollback",
        "Serve an earlier model again.",
    ),
    "noise": (
        "pipeline.cli.noise:noise",
        "Retrain with other seeds; says which changes are noise.",
    ),
    "profile": (
        "pipeline.cli.profile:profile",
        "Say where the time of a training goes, and what would change it.",
    ),
    "report": (
        "pipeline.cli.report:report",
        "One HTML page to review a run, and a model card.",
    ),
    "compile": (
        "pipeline.cli.compile:compile_",
        "Compile the pipeline for a cluster; check a compiled one.",
    ),
    "submit": (
        "pipeline.cli.submit:submit",
        "Start the pipeline on Kubeflow Pipelines, once or on a schedule.",
    ),
    "doctor": ("pipeline.cli.doctor:doctor", "Say what this machine can run."),
    "schema": ("pipeline.cli.schema:schema", "JSON Schema of the configuration file."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which one meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports the module of one command."""
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name][0].split(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Adds the nearest command to the error for an unknown one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            ctx.fail(
                f"unknown command '{name}'. Known: {', '.join(COMMANDS)}."
                f"{suggest(name, COMMANDS)}"
            )
        return super().resolve_command(ctx, args)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Lists the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tfx-ctr", prog_name="ctr")
@click.pass_context
def cli(context: click.Context) -> None:
    """Click-through-rate models: from click log to pushed model."""
    # TensorFlow has its own use for SIGTERM while a cluster trains.
    if context.invoked_subcommand != "train":
        context.with_resource(exit_on_sigterm())


def main() -> None:
    """Runs the command line; errors are one line each and set the exit code."""
    prepare()
    try:
        code = _call()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    if "tensorflow" in sys.modules:
        # TensorFlow's functions print a traceback each when they are torn down with
        # the interpreter, after all work is done. Temporary folders go before.
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _call() -> int:
    """Runs the command; returns the exit code."""
    try:
        try:
            # Outside of standalone mode click returns the code of an early end.
            returned = cli(standalone_mode=False)
        finally:
            sys.stdout.flush()
    except CtrError as error:
        print_error(f"error: {error}")
        return error.exit_code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.Abort:
        print_error("interrupted")
        return 130
    except click.ClickException as error:
        print_error(_click_fault(error))
        return error.exit_code
    except Exception as error:
        fault = disk_error(error) or _os_fault(error)
        if fault is None:
            raise
        print_error(f"error: {fault}")
        return 1
    return returned if isinstance(returned, int) else 0


def _click_fault(error: click.ClickException) -> str:
    """What click says in one line; the help of a group that was called alone."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return error.format_message()
    context = getattr(error, "ctx", None)
    hint = f" Try '{context.command_path} --help'." if context else ""
    # Click lists choices in lines of their own.
    message = " ".join(error.format_message().split())
    return f"error: {one_line(message)}{hint}"


def _os_fault(error: Exception) -> str | None:
    """What the operating system says, with the file; None if it is not its error."""
    if not isinstance(error, OSError):
        return None
    if error.filename:
        return one_line(f"{error.filename}: {error.strerror}")
    try:
        os.getcwd()
    except FileNotFoundError:
        return "the current folder was removed; go to another (cd)"
    return one_line(error.strerror or str(error))


if __name__ == "__main__":
    main()
