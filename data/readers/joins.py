"""Side tables: columns looked up by a key and added to every row of the log."""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from data import paths
from data.convert.text import to_text
from data.errors import DataError
from data.layout import Join, Layout
from data.readers.delimited import Dialect, read_delimited
from data.readers.files import matches
from data.readers.formats import detect_format
from data.readers.parquet import read_parquet


@dataclass(frozen=True, eq=False)
class SideTable:
    """A side table in memory.

    Attributes:
        key: name of the key column.
        keys: distinct keys as binary.
        columns: the columns that it adds.
    """

    key: str
    keys: pa.Array
    columns: dict[str, pa.Array]

    def look_up(self, keys: pa.Array, names: Sequence[str]) -> list[pa.Array]:
        """Values of the rows with these keys; null where a key is unknown.

        Args:
            keys: keys of the log's rows.
            names: columns to take.

        Returns:
            One array a name.
        """
        found = pc.index_in(to_text(keys, self.key), value_set=self.keys)
        return [self.columns[name].take(found) for name in names]


def load_side_tables(layout: Layout, folder: str) -> tuple[SideTable, ...]:
    """Reads the side tables of a layout.

    Args:
        layout: declares them.
        folder: where the log's file is.

    Returns:
        One table a join.

    Raises:
        DataError: a table is absent, has bad rows, or one key twice.
    """
    return _load_once(layout.model_dump_json(), folder)


# One log has few side tables, and each worker process reads them once.
@functools.lru_cache(maxsize=4)
def _load_once(layout: str, folder: str) -> tuple[SideTable, ...]:
    """The side tables of a layout given as JSON, which can be a key of the cache."""
    joins = Layout.model_validate_json(layout).joins
    return tuple(_load(join, folder) for join in joins)


def _load(join: Join, folder: str) -> SideTable:
    """One side table."""
    where = folder or "."
    names = [
        name
        for name in sorted(paths.children(where) if paths.is_dir(where) else [])
        if matches(name, join.files) and not paths.is_dir(f"{where}/{name}")
    ]
    if not names:
        raise DataError(f"{folder}: no side table '{join.files}' beside the log")
    tables = [_read(join, f"{where.rstrip('/')}/{name}") for name in names]
    table = pa.concat_tables(tables).combine_chunks()
    columns = {
        join.rename.get(name, name): _one_chunk(table.column(name))
        for name in table.schema.names
    }
    keys = to_text(_column(columns, join.key, join), join.key)
    del columns[join.key]
    if len(pc.unique(keys)) != len(keys):
        raise DataError(f"{join.files}: a key of '{join.key}' stands in several rows")
    derived = {
        name: _collect(columns, members, join) for name, members in join.collect.items()
    }
    for name, extract in join.extract.items():
        source = _column(columns, extract.column, join)
        derived[name] = _extract(source, extract.pattern)
    if join.columns is not None:
        columns = {name: _column(columns, name, join) for name in join.columns}
    return SideTable(key=join.key, keys=keys, columns={**columns, **derived})


def _read(join: Join, file: str) -> pa.Table:
    """All rows of one file of a side table."""
    kind = join.format if join.format != "auto" else detect_format(file)
    if kind == "parquet":
        batches = list(read_parquet(file, None))
    elif kind in {"csv", "tsv"}:
        dialect = Dialect(
            delimiter=join.delimiter or ("\t" if kind == "tsv" else ","),
            encoding=join.encoding,
            quoting=join.quoting,
            typed_header=join.typed_header,
            header=join.header,
        )
        batches = list(read_delimited(file, dialect, None))
    else:
        raise DataError(f"{file}: a side table must be csv, tsv or parquet")
    for batch in batches:
        if batch.bad:
            raise DataError(str(batch.bad[0]))
    if not batches:
        raise DataError(f"{file}: a side table without rows")
    return pa.Table.from_batches([batch.columns for batch in batches])


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    return (
        column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
    )


def _column(columns: dict[str, pa.Array], name: str, join: Join) -> pa.Array:
    """A column of the side table."""
    if name not in columns:
        raise DataError(
            f"{join.files}: no column '{name}'. Found: {', '.join(columns)}"
        )
    return columns[name]


def _collect(
    columns: dict[str, pa.Array], members: Sequence[str], join: Join
) -> pa.Array:
    """For each row the names of the flag columns that hold 1."""
    flags = [
        to_text(_column(columns, name, join), name).to_pylist() for name in members
    ]
    names = [name.encode() for name in members]
    return pa.array(
        [
            [name for name, flag in zip(names, row, strict=True) if flag == b"1"]
            for row in zip(*flags, strict=True)
        ],
        pa.list_(pa.binary()),
    )


def _extract(source: pa.Array, pattern: str) -> pa.Array:
    """First group of the pattern in each text; null where it does not match."""
    compiled = re.compile(pattern.encode())
    found = [
        compiled.search(value) if value is not None else None
        for value in to_text(source, "").to_pylist()
    ]
    return pa.array([match and match.group(1) for match in found], pa.binary())
