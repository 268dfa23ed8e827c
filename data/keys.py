"""Columns with a role: label, user, weight, time, request."""

import pydantic

from data.settings import Settings


class Label(Settings):
    """How a column becomes the label 0 or 1.

    Without a rule the column must hold 0 or 1. With ``divided_by`` the rule looks at
    ``column / divided_by`` (a row whose divisor is 0 gets label 0).
    """

    column: str
    at_least: float | None = pydantic.Field(None, description="1 where value >= this.")
    above: float | None = pydantic.Field(None, description="1 where value > this.")
    positive: tuple[str, ...] | None = pydantic.Field(
        None, description="1 where the text is one of these; needs `negative`."
    )
    negative: tuple[str, ...] | None = pydantic.Field(
        None, description="0 where the text is one of these; anything else is refused."
    )
    divided_by: str | None = None

    @property
    def derived(self) -> bool:
        """True if a rule maps the column to the label."""
        return any(
            rule is not None for rule in (self.at_least, self.above, self.positive)
        )

    @pydantic.model_validator(mode="after")
    def _one_rule(self) -> "Label":
        rules = [self.at_least, self.above, self.positive]
        if sum(rule is not None for rule in rules) > 1:
            raise ValueError("give one of at_least, above, positive")
        if (self.positive is None) != (self.negative is None):
            raise ValueError("positive and negative belong together")
        if self.divided_by and self.at_least is None and self.above is None:
            raise ValueError("divided_by needs at_least or above")
        return self


class Timestamp(Settings):
    """Time of the impression, kept as unix seconds (int64, UTC)."""

    column: str
    format: str = pydantic.Field(
        "auto",
        description=(
            "auto (number = unix seconds, text = ISO 8601), unix, unix_ms, iso, or a "
            "strptime pattern such as %y%m%d%H; text without a zone is UTC."
        ),
    )


class Keys(Settings):
    """Columns with a role. All but the label are optional."""

    label: Label
    user_id: str | None = None
    weight: str | None = None
    timestamp: Timestamp | None = None
    request_id: str | None = None

    @pydantic.field_validator("label", "timestamp", mode="before")
    @classmethod
    def _short_form(cls, value: object) -> object:
        return {"column": value} if isinstance(value, str) else value

    @pydantic.model_validator(mode="after")
    def _one_role_each(self) -> "Keys":
        seen: dict[str, str] = {}
        for role, column in self.roles().items():
            if column in seen:
                raise ValueError(
                    f"{role}: column '{column}' is the {seen[column]} already"
                )
            seen[column] = role
        return self

    def roles(self) -> dict[str, str]:
        """Column of each declared role."""
        columns = {
            "label": self.label.column,
            "user_id": self.user_id,
            "weight": self.weight,
            "timestamp": self.timestamp.column if self.timestamp else None,
            "request_id": self.request_id,
        }
        return {role: column for role, column in columns.items() if column}

    @property
    def label_name(self) -> str:
        """Name of the label in shards: the column's, or ``label`` when derived."""
        return "label" if self.label.derived else self.label.column
