"""Each user's share of the error of each metric, to first order (the delta method)."""

import math

import numpy as np
from numpy.typing import NDArray

from components.metrics.model_totals import ModelValues
from components.metrics.user_sums import UserSums

Floats = NDArray[np.float64]


def influences(users: UserSums, model: ModelValues) -> dict[str, Floats]:
    """Linearises the metrics of one model around their values.

    The estimate less the truth is about the sum of these terms over users, so the sum
    of their squares is its variance. A row without a user id counts as a user of its
    own, which GAUC leaves out.

    Args:
        users: sums of some of the slice's users, with the terms of the pooled AUC.
        model: values over all rows of the slice.

    Returns:
        float64 [units] by metric: ``gauc``, ``log_pcop``, ``pcop``, ``auc``,
        ``log_loss`` and ``normalized_entropy``, as far as they are defined.

    References:
        Cochran, Sampling Techniques, 1977, chapter 6, for ratios; DeLong et al., 1988,
        for AUC.
    """
    terms: dict[str, Floats] = {}
    values = model.values
    gauc, pcop, loss = values["gauc"], values["pcop"], values["log_loss"]
    if gauc is not None:
        terms["gauc"] = np.where(
            users.scored, users.mass * (users.auc - gauc) / model.mass, 0.0
        )
    if pcop is not None and pcop > 0:
        terms["log_pcop"] = (
            users.predicted / model.predicted - users.click_weight / model.clicks
        )
        terms["pcop"] = pcop * terms["log_pcop"]
    if values["auc"] is not None:
        terms["auc"] = users.pooled
    if loss is not None:
        terms["log_loss"] = (users.loss - loss * users.weight) / model.weight
    entropy, normalized = model.entropy, values["normalized_entropy"]
    if normalized is not None and entropy is not None:
        rate = model.click_rate
        slope = math.log1p(-rate) - math.log(rate)  # of the entropy by the rate
        rate_terms = (users.click_weight - rate * users.weight) / model.weight
        terms["normalized_entropy"] = (
            terms["log_loss"] - normalized * slope * rate_terms
        ) / entropy
    return terms
