"""Declaration of a log's files: how they are written, joined and split."""

from typing import Annotated, Literal

import pydantic

from data.settings import Settings

Format = Literal["auto", "csv", "tsv", "jsonl", "parquet", "tfrecord"]


class TimeSplit(Settings):
    """Evaluate on the latest rows; ties at the border are broken by ``tie_break``.

    The validation rows are the latest of those before the evaluated ones.
    """

    by: Literal["time"] = pydantic.Field(description="The latest rows are evaluated.")
    eval_days: int | None = pydantic.Field(
        None, ge=1, description="Last calendar days (UTC) that are evaluated."
    )
    eval_fraction: float | None = pydantic.Field(
        None,
        gt=0,
        lt=1,
        description="Share of the rows, the latest, that is evaluated.",
    )
    validate_days: int | None = pydantic.Field(
        None, ge=1, description="Days before those that validate during training."
    )
    validate_fraction: float | None = pydantic.Field(
        None, gt=0, lt=1, description="Share of the training rows that validate."
    )
    tie_break: tuple[str, ...] = pydantic.Field(
        (), description="Columns, compared as numbers if all are numeric, else bytes."
    )

    @pydantic.model_validator(mode="after")
    def _one(self) -> "TimeSplit":
        if (self.eval_days is None) == (self.eval_fraction is None):
            raise ValueError("give eval_days or eval_fraction")
        for unit in ("days", "fraction"):
            if getattr(self, f"validate_{unit}") and not getattr(self, f"eval_{unit}"):
                raise ValueError(f"validate_{unit} goes with eval_{unit}")
        return self

    @property
    def has_validation(self) -> bool:
        """True if some of the training rows validate."""
        return bool(self.validate_days or self.validate_fraction)


class HashSplit(Settings):
    """Evaluate on a share of the values of a key, so that a value never straddles."""

    by: Literal["hash"] = pydantic.Field(
        description="A share of the values of a key is evaluated."
    )
    columns: tuple[str, ...] = pydantic.Field(
        min_length=1, description="Columns of the key, such as the user's."
    )
    eval_fraction: float = pydantic.Field(
        0.2, gt=0, lt=1, description="Share of the keys that is evaluated."
    )
    validate_fraction: float | None = pydantic.Field(
        None,
        gt=0,
        lt=1,
        description="Share of the remaining keys that validate during training.",
    )
    salt: str = pydantic.Field(
        "", description="Hashed with the key; another text draws another split."
    )

    @property
    def has_validation(self) -> bool:
        """True if some of the training keys validate."""
        return self.validate_fraction is not None


class GivenSplit(Settings):
    """The files say it: patterns relative to the input."""

    by: Literal["given"] = pydantic.Field(
        description="The files of the log say what is evaluated."
    )
    train: str = pydantic.Field(description="Pattern of the files that are trained on.")
    eval: str = pydantic.Field(description="Pattern of the files that are evaluated.")
    validation: str | None = pydantic.Field(
        None, description="Pattern of the files that validate during training."
    )

    @pydantic.model_validator(mode="after")
    def _differ(self) -> "GivenSplit":
        patterns = [one for one in (self.train, self.eval, self.validation) if one]
        if len(set(patterns)) < len(patterns):
            raise ValueError("train, eval and validation must name different files")
        return self

    @property
    def has_validation(self) -> bool:
        """True if some files validate."""
        return self.validation is not None


Split = Annotated[
    TimeSplit | HashSplit | GivenSplit, pydantic.Field(discriminator="by")
]


class Extract(Settings):
    """A text column cut out of another: the first group of a regular expression."""

    column: str = pydantic.Field(description="Column of the table that is cut.")
    pattern: str = pydantic.Field(
        description="Regular expression; a text without a match gives no value."
    )


class Join(Settings):
    """A side table whose columns are added to every row of the log."""

    files: str = pydantic.Field(description="Pattern beside the log's files.")
    key: str = pydantic.Field(description="Key column, of the same name on both sides.")
    format: Format = pydantic.Field(
        "auto",
        description="csv, tsv or parquet; auto: by its first bytes and its ending.",
    )
    delimiter: str | None = pydantic.Field(
        None, description="One character; a comma, or a tab in tsv, when absent."
    )
    encoding: str = pydantic.Field(
        "utf-8", description="Of text, such as latin-1, by its name in Python."
    )
    quoting: bool = pydantic.Field(
        True, description="Whether fields may stand in double quotes."
    )
    typed_header: bool = pydantic.Field(
        False, description="Header cells are name:type (RecBole atomic files)."
    )
    header: tuple[str, ...] | None = pydantic.Field(
        None, description="Column names of a table without a header line."
    )
    rename: dict[str, str] = pydantic.Field(
        default_factory=dict, description="From a name in the table to one used here."
    )
    collect: dict[str, tuple[str, ...]] = pydantic.Field(
        default_factory=dict,
        description="New list column: names of those of these columns that hold 1.",
    )
    extract: dict[str, Extract] = pydantic.Field(
        default_factory=dict,
        description="New column: a text cut out of another column.",
    )
    columns: tuple[str, ...] | None = pydantic.Field(
        None, description="Columns to take; all when absent."
    )


class Layout(Settings):
    """One way in which a data set's files come; the first whose files exist is used."""

    name: str = pydantic.Field("default", description="Stands in messages.")
    files: tuple[str, ...] = pydantic.Field(
        ("*",),
        description=(
            "Patterns of the log's files below the input; one without / looks at the "
            "file's name alone."
        ),
    )
    format: Format = pydantic.Field(
        "auto",
        description="auto: each file by its first bytes and its ending (.csv.gz, too).",
    )
    delimiter: str | None = pydantic.Field(
        None, description="One character; a comma, or a tab in tsv, when absent."
    )
    encoding: str = pydantic.Field(
        "utf-8", description="Of text, such as latin-1, by its name in Python."
    )
    quoting: bool = pydantic.Field(
        True, description="Whether fields may stand in double quotes."
    )
    typed_header: bool = pydantic.Field(
        False, description="Header cells are name:type (RecBole atomic files)."
    )
    header: tuple[str, ...] | None = pydantic.Field(
        None, description="Column names of files without a header line."
    )
    rename: dict[str, str] = pydantic.Field(
        default_factory=dict, description="From a name in the file to one used here."
    )
    absent: tuple[str, ...] = pydantic.Field(
        (), description="Declared columns that these files lack: empty in every row."
    )
    joins: tuple[Join, ...] = pydantic.Field(
        (), description="Side tables whose columns every row gets by a key."
    )
    split: Split | None = pydantic.Field(
        None, description="Split of these files, where it differs from the data's."
    )
