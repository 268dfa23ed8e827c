"""What readers of a summary take for granted; other keys may come and go."""

from typing import Annotated, Any

import pydantic

from data.faults import fault_lines
from pipeline.preset_files import NAME_PATTERN


class _Metric(pydantic.BaseModel):
    """A metric; undefined ones have no value."""

    value: float | None = None


class _Slice(pydantic.BaseModel):
    """Metrics of the rows that share some values."""

    slice: dict[str, str | int | float | bool | None]
    rows: int
    metrics: dict[str, _Metric]


class _Verdict(pydantic.BaseModel):
    """What the gates said."""

    blessed: bool


class Listed(pydantic.BaseModel):
    """What a list of runs and the difference of two need."""

    run: str
    # The name of its folder.
    pipeline: Annotated[str, pydantic.StringConstraints(pattern=NAME_PATTERN)]
    config: dict[str, Any]
    components: list[dict[str, Any]]
    data: dict[str, Any] | None
    slices: list[_Slice] | None
    verdict: _Verdict | None
    pushed: str | None
    error: str | None


class _Component(pydantic.BaseModel):
    """What a component cost."""

    component: str
    state: str
    rows: int | None
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int


class _Split(pydantic.BaseModel):
    """Size of a split."""

    rows: int
    clicks: int


class _Data(pydantic.BaseModel):
    """Rows of the log."""

    rows_read: int
    rows_quarantined: int
    splits: dict[str, _Split]


class _Finding(pydantic.BaseModel):
    """A data check; one that was skipped found nothing."""

    check: str
    subject: str
    place: str
    level: str
    status: str
    found: float | None
    limit: float


class _DataChecks(pydantic.BaseModel):
    """All data checks."""

    reason: str
    findings: list[_Finding]


class _Estimate(pydantic.BaseModel):
    """A metric with its interval, or why it has none."""

    value: float | None
    reason: str | None
    ci95: Annotated[list[float], pydantic.Field(min_length=2, max_length=2)] | None
    effective_users: float | None = None
    excess: float | None = None
    expected_if_calibrated: float | None = None

    @pydantic.model_validator(mode="after")
    def _has_both(self) -> "_Estimate":
        """Refuses half of what one line shows together."""
        if self.ci95 is not None and self.effective_users is None:
            raise ValueError("ci95 goes with effective_users")
        if (self.excess is None) != (self.expected_if_calibrated is None):
            raise ValueError("excess goes with expected_if_calibrated")
        return self


class _ShownSlice(pydantic.BaseModel):
    """A slice with its users."""

    slice: dict[str, str | int | float | bool | None]
    rows: int
    metrics: dict[str, _Estimate]
    delta: dict[str, _Estimate] | None = None
    users: int
    users_scored: int
    rows_scored: int
    rows_without_user: int
    field_calibration_error: dict[str, float] | None = None


class _Check(pydantic.BaseModel):
    """A gate and what became of it."""

    status: str
    metric: str
    slice: dict[str, Any]
    rows: int
    clicks: int
    kind: str
    bound: float
    reason: str | None
    against: str | None = None
    allowed: bool = False


class _ShownVerdict(_Verdict):
    """The verdict with its checks."""

    reason: str
    checks: list[_Check]


class _Evaluate(pydantic.BaseModel):
    """Settings of the evaluation."""

    baseline: bool = True


class _Config(pydantic.BaseModel):
    """Settings of the run."""

    evaluate: _Evaluate


class Shown(pydantic.BaseModel):
    """What the tables of one run need."""

    config: _Config
    components: list[_Component]
    data: _Data | None
    data_checks: _DataChecks | None = None
    slices: list[_ShownSlice] | None
    baseline: str | None
    verdict: _ShownVerdict | None
    pushed: str | None
    evaluation: str | None
    file: str


def fault_of(model: type[pydantic.BaseModel], content: Any) -> str | None:
    """Tells why a value is not what a reader needs.

    Args:
        model: ``Listed`` or ``Shown``.
        content: what a file held.

    Returns:
        The first fault with its place, or None.
    """
    try:
        model.model_validate(content, strict=True)
    except pydantic.ValidationError as error:
        return fault_lines(model, error.errors())[0]
    return None
