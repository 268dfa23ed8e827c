"""Which runners of Beam work on this machine alone."""

import apache_beam as beam
from apache_beam.runners import DirectRunner
from apache_beam.runners.portability.fn_api_runner import FnApiRunner


def works_here(pipeline: beam.Pipeline | None) -> bool:
    """True where a runner would work in this process, or on this machine.

    Args:
        pipeline: of any runner, or None.

    Returns:
        Whether the same work is cheaper without Beam.
    """
    return pipeline is None or isinstance(pipeline.runner, (DirectRunner, FnApiRunner))
