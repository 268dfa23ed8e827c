"""Whether a training is bound by its input or by its step, in one sentence."""

import dataclasses
from typing import Literal

from components.profiling.timing import Cost


@dataclasses.dataclass(frozen=True, kw_only=True)
class Verdict:
    """What bounds the training.

    Attributes:
        bound: ``input`` or ``compute``.
        sentence: the same with its shares.
    """

    bound: Literal["input", "compute"]
    sentence: str


def on_accelerator(reading: Cost, step: Cost, wait_share: float) -> Verdict:
    """Judges a machine whose accelerator computes while its processor reads.

    Args:
        reading: what an example costs until it is in a batch.
        step: what it costs in a step.
        wait_share: share of the loop's time spent waiting for a batch, 0 to 1.

    Returns:
        Bound by whichever takes longer on its own.
    """
    if reading.wall_us > step.wall_us:
        return Verdict(
            bound="input",
            sentence=(
                f"input-bound: waiting for input takes {_percent(wait_share)} of the "
                "time, the step would keep up with an input "
                f"{reading.wall_us / step.wall_us:.1f} times as fast"
            ),
        )
    return Verdict(
        bound="compute",
        sentence=(
            f"compute-bound: the step takes {_percent(1 - wait_share)} of the time, "
            f"input would keep up with a step {step.wall_us / reading.wall_us:.1f} "
            "times as fast"
        ),
    )


def on_shared_cores(reading: Cost, step: Cost, cores: int) -> Verdict:
    """Judges a machine without an accelerator, where both take processor time.

    Waiting says little here: a loop also waits for a batch while the step of the batch
    before holds the cores.

    Args:
        reading: what an example costs until it is in a batch.
        step: what it costs in a step.
        cores: that both share.

    Returns:
        Bound by whichever takes more processor time.
    """
    share = step.cpu_us / (reading.cpu_us + step.cpu_us)
    names = ("compute", "step", "input", share)
    if share < 0.5:
        names = ("input", "input", "step", 1 - share)
    bound, most, least, share = names
    return Verdict(
        bound="compute" if bound == "compute" else "input",
        sentence=(
            f"{bound}-bound: the {most} takes {_percent(share)} of the processor time; "
            f"input and step share {cores} core{'s' * (cores > 1)}, so even a free "
            f"{least} would save no more than {_percent(1 - share)}"
        ),
    )


def _percent(share: float) -> str:
    """A share as text."""
    return f"{share * 100:.0f} %"
