"""Errors are lines: nothing that a file holds breaks, steers or floods them."""

import pickle

import pytest

from data.errors import ConfigError, DataError, one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nerror: b", "a\\nerror: b"),
        ("\x1b[31mred\r\t\x00", "\\x1b[31mred\\r\\t\\x00"),
        # A mark that turns the direction of writing, and half of a surrogate pair.
        ("\u202efile\ud800", "\\u202efile\\ud800"),
        ("C:\\dir, 'quoted', ünïcode", "C:\\dir, 'quoted', ünïcode"),
    ],
)
def test_what_does_not_print_is_written_as_an_escape(text, shown):
    assert one_line(text) == shown
    assert one_line(shown) == shown
    assert str(DataError(text)) == shown


def test_a_long_line_keeps_place_and_remedy():
    line = str(DataError(f"log.csv: line 1: no column '{'x' * 100_000}'; add it"))
    assert len(line) == 1_500 + len(" [...] ") + 500
    assert line.startswith("log.csv: line 1: ")
    assert line.endswith("; add it")


def test_each_fault_has_a_line_of_its_own():
    error = ConfigError("a.yaml: x\ny: unknown", "a.yaml: z: absent")
    assert str(error).splitlines() == ["a.yaml: x\\ny: unknown", "a.yaml: z: absent"]
    # Beam's workers send errors between processes.
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
