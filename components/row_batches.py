"""Batches of rows in Beam that do not depend on how busy the machine is."""

from absl import flags
from tfx_bsl.coders import batch_util  # noqa: F401 (declares the flag)


def batch_by_size() -> None:
    """Lets the Beam pipelines built from now on batch rows by their bytes.

    By default Beam tunes the size of batches to the time that they take. Sums and
    networks in float32 give another last digit in batches of another size, so the
    statistics of Transform, the weights trained on them, and metrics would differ from
    one run to the next.
    """
    flags.FLAGS.set_default("tfxio_use_byte_size_batching", True)
