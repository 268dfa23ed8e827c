"""Names of the metrics and of the user weights; imports nothing heavy."""

from typing import Literal, get_args

METRICS = (
    "gauc",
    "pcop",
    "auc",
    "log_loss",
    "normalized_entropy",
    "ece",
    "pr_auc",
    "abs_log_pcop",
)
# log_pcop is compared only: log PCOP of the candidate less that of the baseline.
CHANGES = (*METRICS, "log_pcop")

UserWeight = Literal["impressions", "clicks", "users", "weight"]
USER_WEIGHTS: tuple[str, ...] = get_args(UserWeight)
