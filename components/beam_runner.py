"""Which runners of Beam have no workers besides this process."""

import apache_beam as beam
from apache_beam.options.pipeline_options import DirectOptions
from apache_beam.runners import DirectRunner
from apache_beam.runners.portability.fn_api_runner import FnApiRunner


def works_here(pipeline: beam.Pipeline | None) -> bool:
    """True where a runner would do all work in this process, one thing after another.

    Args:
        pipeline: of any runner, or None.

    Returns:
        Whether the same work is cheaper without Beam; not where somebody has asked for
        several workers.
    """
    if pipeline is None:
        return True
    if not isinstance(pipeline.runner, (DirectRunner, FnApiRunner)):
        return False
    workers = pipeline.options.view_as(DirectOptions).direct_num_workers
    return workers in {None, 1}
