"""The local runner names its engine, and errors of components become one line."""

import pytest

from data.errors import DataError


@pytest.mark.engine
def test_local_arguments_give_beams_in_process_runner() -> None:
    import apache_beam as beam
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner

    from pipeline.local_runner import LOCAL_BEAM_ARGS

    assert isinstance(beam.Pipeline(argv=LOCAL_BEAM_ARGS).runner, FnApiRunner)


@pytest.mark.engine
def test_tfx_builds_no_package_of_itself_for_a_local_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tfx.utils import dependency_utils

    from pipeline.local_runner import LOCAL_BEAM_ARGS

    def build() -> str:
        raise AssertionError("built")

    monkeypatch.setattr(dependency_utils, "build_ephemeral_package", build)
    flags = dependency_utils.make_beam_dependency_flags(list(LOCAL_BEAM_ARGS))
    assert flags == LOCAL_BEAM_ARGS


@pytest.mark.engine
@pytest.mark.parametrize(
    "error",
    [
        DataError("row 7: label must be 0 or 1"),
        RuntimeError(
            "Traceback (most recent call last):\n"
            "data.errors.DataError: row 7: label must be 0 or 1 [while running 'Read']"
        ),
    ],
)
def test_reason_is_our_own_error_however_beam_wrapped_it(error: Exception) -> None:
    from pipeline.local_runner import reason

    assert reason(error) == "row 7: label must be 0 or 1"


@pytest.mark.engine
def test_reason_of_a_foreign_error_is_its_type_and_first_line() -> None:
    from pipeline.local_runner import reason

    error = ValueError("shape mismatch\n  at node x\n  at node y")
    assert reason(error) == "ValueError: shape mismatch"
