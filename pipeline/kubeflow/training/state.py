"""How a job stands, whatever its kind."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class State:
    """One look at a job.

    Attributes:
        phase: ``waiting`` is the time in Kueue's queue, which costs nobody anything.
        text: for the log; two looks with the same text are one state.
    """

    phase: Literal["waiting", "active", "succeeded", "failed"]
    text: str

    @property
    def is_final(self) -> bool:
        """Whether the job has ended."""
        return self.phase in ("succeeded", "failed")


def true_conditions(job: dict[str, Any]) -> dict[str, str]:
    """Reason and message of each condition that holds now, by its type."""
    return {
        one["type"]: ": ".join(filter(None, (one.get("reason"), one.get("message"))))
        for one in job.get("status", {}).get("conditions") or []
        if one["status"] == "True"
    }


def counts(found: dict[str, Any], names: tuple[str, ...]) -> str:
    """Counts of replicas as text, an absent one as 0."""
    return ", ".join(f"{found.get(name) or 0} {name}" for name in names)
