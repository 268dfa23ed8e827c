"""What the checks report: one broken rule at one place."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Fault:
    """One broken rule of open-source Kubeflow Pipelines.

    Attributes:
        rule: short name of the rule.
        place: where in the spec.
        value: what stands there.
        remedy: what to do about it, with the reason.
    """

    rule: str
    place: str
    value: str
    remedy: str

    def line(self) -> str:
        """The fault in one line."""
        text = f"{self.rule}: {self.place}: {self.value}; {self.remedy}"
        return " ".join(text.split())

    def to_json(self) -> dict[str, str]:
        """The fault as an object."""
        return asdict(self)
