"""Progress of a run on the terminal: what runs, since when, and what it cost."""

import logging
from types import TracebackType

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from components.training_channel import CHANNEL
from pipeline.cli.tables import cell, print_line
from pipeline.usage import Usage


class RunProgress:
    """A spinner with the elapsed time while a component runs, a line when it ended.

    What a training says of itself stands beside the spinner. Where the console is no terminal only the lines are printed.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Progress | None = None
        self._component = ""
        self._handler = _Handler(self)

    def __enter__(self) -> "RunProgress":
        CHANNEL.setLevel(logging.INFO)
        # Or the libraries' own handlers would print each line, too.
        CHANNEL.propagate = False
        CHANNEL.addHandler(self._handler)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        CHANNEL.removeHandler(self._handler)
        CHANNEL.setLevel(logging.NOTSET)
        CHANNEL.propagate = True
        self._stop()

    def note(self, text: str) -> None:
        """Prints a line of its own."""
        self._stop()
        print_line(self._console, text)

    def detail(self, text: str) -> None:
        """Shows how far the running component is."""
        if self._live is not None:
            line = f"{self._component}  [dim]{cell(text)}[/dim]"
            self._live.update(self._live.task_ids[0], description=line)

    def warn(self, text: str) -> None:
        """Prints a warning that stays."""
        self._console.print(f"  [yellow]{cell(text)}[/yellow]", highlight=False)

    def started(self, component: str) -> None:
        """Shows which component runs."""
        self._stop()
        self._component = component
        if self._console.is_terminal:
            columns = SpinnerColumn(), TextColumn("{task.description}")
            self._live = Progress(
                *columns, TimeElapsedColumn(), console=self._console, transient=True
            )
            self._live.add_task(component, total=None)
            self._live.start()

    def ended(self, component: str, usage: Usage, failed: bool) -> None:
        """Prints what the component cost."""
        self._stop()
        mark = "[red]failed[/red]" if failed else "[green]done[/green]"
        self._console.print(
            f"  {component:<24} {mark}  {usage.wall_seconds:7.1f} s wall "
            f"{usage.cpu_seconds:7.1f} s CPU {usage.peak_bytes / 2**20:7.0f} MiB",
            highlight=False,
        )

    def _stop(self) -> None:
        """Takes the spinner away."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class _Handler(logging.Handler):
    """Passes what a training says on to the terminal."""

    def __init__(self, progress: RunProgress) -> None:
        super().__init__()
        self._progress = progress

    def emit(self, record: logging.LogRecord) -> None:
        """Shows one line; a warning stays."""
        show = self._progress.detail
        if record.levelno >= logging.WARNING:
            show = self._progress.warn
        show(record.getMessage())
