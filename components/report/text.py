"""Numbers and names in the words of the report."""

import datetime
from collections.abc import Mapping
from typing import Any

ABSENT = "-"

METRIC_TITLES = {
    "gauc": "GAUC",
    "pcop": "PCOP",
    "auc": "AUC",
    "log_loss": "Log loss",
    "normalized_entropy": "Normalized entropy",
    "ece": "ECE",
    "pr_auc": "PR-AUC",
    "abs_log_pcop": "|log PCOP|",
    "log_pcop": "log PCOP",
}

METRIC_MEANINGS = {
    "gauc": "ranking inside each user's impressions; 0.5 is chance, 1 is perfect",
    "pcop": "predicted over observed clicks; 1 is right",
    "auc": "ranking over all rows, users mixed; 0.5 is chance",
    "log_loss": "cross-entropy in nats; lower is better",
    "normalized_entropy": "log loss over that of the constant click rate; below 1",
    "ece": "mean gap of prediction and click rate over ten buckets; 0 is best",
    "pr_auc": "average precision; the click rate is chance",
    "abs_log_pcop": "distance of PCOP from 1; 0 is best",
    "log_pcop": "change of PCOP on the scale of its interval",
}

KINDS = {
    "min": "at least",
    "max": "at most",
    "min_change": "change at least",
    "max_change": "change at most",
    "non_inferior": "loses at most",
}


def metric_title(name: str) -> str:
    """How a metric is called in print."""
    return METRIC_TITLES.get(name, name)


def number(value: float | None, form: str = ".4f") -> str:
    """A number, or a dash for None; what rounds to 0 has no sign."""
    if value is None:
        return ABSENT
    text = format(value, form)
    return text if text.strip("+-0.%") else text.lstrip("+-")


def short(value: float | None) -> str:
    """A number of any size in at most four significant digits."""
    if value is None:
        return ABSENT
    whole = float(value).is_integer() and abs(value) < 1e15
    return f"{value:,.0f}" if whole or abs(value) >= 1e4 else f"{value:.4g}"


def interval(estimate: Mapping[str, Any] | None, form: str = ".4f") -> str:
    """``0.68 to 0.72``, or an empty string where there is no interval."""
    ends = estimate.get("ci95") if estimate else None
    return "" if ends is None else " to ".join(number(end, form) for end in ends)


def slice_name(values: Mapping[str, Any]) -> str:
    """``device=ios, hour=7``, or ``overall``."""
    pairs = [f"{key}={value}" for key, value in values.items()]
    return ", ".join(pairs) or "overall"


def check_rule(check: Mapping[str, Any]) -> str:
    """The rule of a check, such as ``GAUC at least 0.6``."""
    kind = KINDS.get(check["kind"], check["kind"].replace("_", " "))
    against = f" against the {check['against']}" if check.get("against") else ""
    return (
        f"{metric_title(check['metric'])} {kind} {number(check['bound'], 'g')}{against}"
    )


def check_status(check: Mapping[str, Any]) -> str:
    """The status of a check, and whether an undecided one is allowed."""
    return str(check["status"]) + (" (allowed)" if check.get("allowed") else "")


def moment(seconds: float) -> str:
    """Unix seconds as a date and time in UTC."""
    time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return f"{time:%Y-%m-%d %H:%M} UTC"
