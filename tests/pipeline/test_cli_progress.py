"""What a terminal shows while a run works."""

import io
import logging

from rich.console import Console

from components.training_channel import CHANNEL
from pipeline.cli.progress import RunProgress


def test_a_terminal_shows_what_the_training_says():
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120)
    logging.disable(logging.CRITICAL)  # as a command mutes its libraries
    with RunProgress(console) as progress:
        CHANNEL.info("before any component")
        progress.started("Trainer")
        CHANNEL.info("epoch 1/3, step 50, loss [0.5]")
        progress._live.refresh()
    CHANNEL.info("after the run")
    logging.disable(logging.NOTSET)

    text = shown.getvalue()
    assert "Trainer" in text
    assert "epoch 1/3, step 50, loss [0.5]" in text
    assert "before" not in text
    assert "after" not in text


def test_a_warning_stays_on_a_terminal_and_in_a_file():
    for is_terminal in (True, False):
        shown = io.StringIO()
        console = Console(file=shown, force_terminal=is_terminal, width=120)
        with RunProgress(console) as progress:
            progress.started("Trainer")
            CHANNEL.warning("30% of [epoch 1] was spent waiting")

        assert "30% of [epoch 1] was spent waiting" in shown.getvalue()


def test_a_file_gets_only_the_lines_of_ended_components(caplog):
    shown = io.StringIO()
    with RunProgress(Console(file=shown, width=120)) as progress:
        progress.started("Trainer")
        CHANNEL.info("epoch 1/3")

    assert shown.getvalue() == ""
    assert not caplog.records  # what libraries' handlers would print
