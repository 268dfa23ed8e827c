"""GAUC as a Keras metric: bounded memory, any strategy, any order of the rows."""

import math
from typing import Any, get_args

import keras
import tensorflow as tf

from components.metrics.group_auc_state import GroupAUCState, sampling_interval
from components.metrics.names import USER_WEIGHTS, UserWeight
from components.metrics.user_sample import (
    LARGEST_PART,
    Rows,
    Sample,
    UserAucs,
    hash_ids,
    in_sample,
    shrunk,
    user_aucs,
    without_large,
)
from data.errors import ConfigError, suggest

# Most validation splits have fewer rows, so they are scored exactly; it takes 20 MB.
DEFAULT_CAPACITY = 1 << 20


@keras.saving.register_keras_serializable(package="ctr")
class GroupAUC(keras.metrics.Metric):
    """AUC inside each user's rows, averaged over users.

    Exact until its table is full. From then on it holds all rows of the users whose
    hash is below a threshold, which is halved as often as needed. The result depends on
    the set of rows only, not on their order or batches. Users with more than a
    sixteenth of a full table's rows are left out and counted.

    Under a strategy, create it in the scope. In a replica context the batch is gathered
    first, so every replica holds the same table. ``result`` sorts the whole table: in
    ``compile`` Keras asks for it after every batch, so choose a small ``capacity``
    there; and pass ``jit_compile=False``, since XLA has no rows of unknown number.

    Args:
        capacity: rows of the table, 20 bytes each at float32.
        user_weight: what a user weighs: ``impressions`` (rows), ``clicks``, ``users``
            (1 each) or ``weight`` (sum of the sample weights). All but the first also
            weigh pairs inside a user by the sample weights.
        name: of the metric.
        dtype: of the scores kept; float64 keeps close scores apart.

    References:
        Zhou et al., Deep interest network for click-through rate prediction, KDD 2018.
    """

    def __init__(
        self,
        capacity: int = DEFAULT_CAPACITY,
        user_weight: UserWeight = "impressions",
        name: str = "gauc",
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        if capacity < LARGEST_PART:
            raise ConfigError(
                f"GroupAUC: capacity must be >= {LARGEST_PART} rows, got {capacity}"
            )
        if user_weight not in get_args(UserWeight):
            raise ConfigError(
                f"GroupAUC: unknown user_weight '{user_weight}'. Known: "
                f"{', '.join(USER_WEIGHTS)}.{suggest(user_weight, USER_WEIGHTS)}"
            )
        self.capacity, self.user_weight = capacity, user_weight
        # Keras puts every variable back to zero, which is how each of them starts.
        self._users = self._variable("users", [capacity], "int64")
        self._scores = self._variable("scores", [capacity], self.dtype)
        self._clicks = self._variable("clicks", [capacity], "float32")
        self._weights = self._variable("weights", [capacity], "float32")
        most_large = capacity // (capacity // LARGEST_PART)
        self._large = self._variable("large", [most_large], "int64")
        self._count = self._variable("count", [], "int64")
        self._large_count = self._variable("large_count", [], "int64")
        self._level = self._variable("level", [], "int64")
        self._was_full = self._variable("was_full", [], "int64")
        self._without_user = self._variable("without_user", [], "int64")
        self._not_finite = self._variable("not_finite", [], "int64")

    def update_state(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None, user_ids: Any = None
    ) -> None:
        """Adds rows.

        Args:
            y_true: labels [B] or [B, 1], a click above 0.5; or int64 [B, 2] of label
                and user id, which is the form for ``compile``.
            y_pred: scores [B] or [B, 1], of any monotone scale. A score or weight that
                is not finite makes the result NaN.
            sample_weight: [B] or [B, 1]; rows of weight 0 take no part.
            user_ids: int64 [B], at least 0; a negative one marks a row without a user.
        """
        y_true = tf.convert_to_tensor(y_true)
        if user_ids is None:
            y_true, user_ids = y_true[:, 0], y_true[:, 1]
        ids = tf.cast(tf.reshape(user_ids, [-1]), tf.int64)
        scores = tf.cast(tf.reshape(y_pred, [-1]), self.dtype)
        clicks = tf.cast(tf.reshape(tf.cast(y_true, "float32"), [-1]) > 0.5, "float32")
        weights = tf.ones_like(clicks)
        if sample_weight is not None:
            weights = tf.cast(tf.reshape(sample_weight, [-1]), "float32")
        ids, *columns = _of_all_replicas([ids, scores, clicks, weights])
        rows = Rows(hash_ids(ids), *columns)
        weighed = ~(rows.weights <= 0)  # also where the weight is not a number
        finite = tf.math.is_finite(rows.scores) & tf.math.is_finite(rows.weights)
        self._not_finite.assign_add(_count(weighed & ~finite))
        self._without_user.assign_add(_count(weighed & finite & (ids < 0)))
        self._add(rows.where(weighed & finite & (ids >= 0)))

    def result(self) -> Any:
        """GAUC as a scalar of the metric's dtype; NaN without a user that has an AUC."""
        return tf.cast(self._value(self._user_aucs()[0]), self.dtype)

    def state(self) -> GroupAUCState:
        """The value with its accuracy; outside of graphs only."""
        users, excluded = self._user_aucs()
        value = float(self._value(users))
        exact = not _number(self._was_full)
        share = 0.5 ** _number(self._level)
        auc, mass = users.auc.numpy(), users.mass.numpy()
        return GroupAUCState(
            value=value,
            exact=exact,
            sampled_share=share,
            users_scored=int((mass > 0).sum()),
            excluded_users=int(excluded),
            rows_without_user=_number(self._without_user),
            interval=None if exact else sampling_interval(value, auc, mass, share),
        )

    def get_config(self) -> dict[str, Any]:
        """Arguments of the constructor."""
        return {
            **super().get_config(),
            "capacity": self.capacity,
            "user_weight": self.user_weight,
        }

    @property
    def _part(self) -> int:
        """Most rows of a user in a sample."""
        return self.capacity // LARGEST_PART

    def _variable(self, name: str, shape: list[int], dtype: str) -> Any:
        """A variable that is the same on every replica, and never summed up."""
        return self.add_variable(
            shape, "zeros", dtype, aggregation="only_first_replica", name=name
        )

    def _sample(self) -> Sample:
        """What the table holds."""
        count = tf.convert_to_tensor(self._count)
        columns = (self._users, self._scores, self._clicks, self._weights)
        large = tf.convert_to_tensor(self._large)[
            : tf.convert_to_tensor(self._large_count)
        ]
        return Sample(
            Rows(*(tf.convert_to_tensor(column)[:count] for column in columns)),
            large,
            tf.convert_to_tensor(self._level),
        )

    def _add(self, batch: Rows) -> None:
        """Takes in the rows of sampled users; lowers the threshold if they do not fit."""
        held = self._sample()
        new = batch.where(in_sample(held, batch.users))
        rows = Rows(*(tf.concat(pair, 0) for pair in zip(held.rows, new, strict=True)))
        held = held._replace(rows=rows)
        needed = tf.shape(rows.users)[0] + self._part * tf.shape(held.large)[0]
        full = needed > self.capacity
        held = tf.cond(full, lambda: shrunk(held, self.capacity), lambda: held)
        self._was_full.assign(
            tf.maximum(tf.convert_to_tensor(self._was_full), tf.cast(full, "int64"))
        )
        columns = (self._users, self._scores, self._clicks, self._weights)
        for column, values in zip(columns, held.rows, strict=True):
            column.assign(_padded(values, self.capacity))
        self._large.assign(_padded(held.large, self._large.shape[0]))
        self._count.assign(tf.shape(held.rows.users, "int64")[0])
        self._large_count.assign(tf.shape(held.large, "int64")[0])
        self._level.assign(held.level)

    def _user_aucs(self) -> tuple[UserAucs, Any]:
        """AUC by user, and how many users are too large for a sample."""
        sample = self._sample()
        # Such a user may still be in the table, if there was no need to shrink it since.
        part = tf.where(tf.equal(self._was_full, 0), self.capacity, self._part)
        rows, outgrown = without_large(sample.rows, tf.cast(part, "int64"))
        excluded = outgrown + tf.shape(sample.large, "int64")[0]
        return user_aucs(rows, self.user_weight), excluded

    def _value(self, users: UserAucs) -> Any:
        """GAUC, float64 scalar."""
        is_broken = tf.convert_to_tensor(self._not_finite) > 0
        undefined = tf.constant(math.nan, tf.float64)
        return tf.where(is_broken, undefined, users.gauc())


def _of_all_replicas(values: list[Any]) -> list[Any]:
    """The rows of all replicas where several run the same step, else the rows."""
    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        return values
    return [context.all_gather(value, axis=0) for value in values]


def _number(variable: Any) -> int:
    """Value of a scalar variable."""
    return int(tf.convert_to_tensor(variable))


def _count(mask: Any) -> Any:
    """Number of set flags, int64."""
    return tf.reduce_sum(tf.cast(mask, tf.int64))


def _padded(values: Any, length: int) -> Any:
    """Values [n] with zeros behind them [length]."""
    missing = length - tf.shape(values)[0]
    return tf.ensure_shape(tf.pad(values, [[0, missing]]), [length])
