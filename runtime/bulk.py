"""Many rows at once: insert or update by a unique key, without a model instance per row.

The hot path of a first sync writes some 300,000 rows; Django's `bulk_create` spends most of its time preparing values one by one
(measured: 270 µs a row). New rows go into PostgreSQL by COPY, changed ones as one JSON text (the driver escapes arrays value by
value, in Python); SQLite takes prepared rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
from django.db import connection, models

#: Rows per statement.
BATCH = 2000
#: The advisory lock of those who have tables analysed; any number that nobody else takes.
ANALYZE_LOCK = 4_771_001


def insert(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Insert new rows (one value per column, in order). Returns how many there were.

    columns: attribute names of the model's fields ("cluster_id"); all without a default must be named. Raises IntegrityError
    when a row is there already.
    """
    rows = list(rows)
    if connection.vendor != "postgresql":
        return _upsert(model, columns, rows)
    names = ", ".join(connection.ops.quote_name(field.column) for field in _fields(model, tuple(columns)))
    table = connection.ops.quote_name(model._meta.db_table)
    statement = f"COPY {table} ({names}) FROM STDIN"
    # Django wraps what its cursors raise, but not what a COPY does.
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        for row in _prepared(model, tuple(columns), rows):
            copy.write_row(row)
    return len(rows)


def upsert(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    unique: Sequence[str],
    keep: Sequence[str] = (),
) -> int:
    """Insert rows, or update those that are there. Returns how many there were.

    unique: columns of a unique constraint without a condition. A row that is there is updated, all but `unique` and `keep`.
    """
    return _upsert(model, columns, list(rows), unique, keep)


def update(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Change rows that are there, by their primary key: the first value of each row. Returns how many there were.

    columns: attribute names; the first is the primary key's. Django's `bulk_update` writes a CASE per column and row instead.
    """
    rows = list(rows)
    statement = _update_statement(model, tuple(columns), connection.vendor)
    with connection.cursor() as cursor:
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            if connection.vendor == "postgresql":
                cursor.execute(statement, [_as_json(model, tuple(columns), batch)])
            else:
                prepared = _prepared(model, tuple(columns), batch)
                cursor.executemany(statement, [(*values, pk) for pk, *values in prepared])
    return len(rows)


def analyze(*tables: type[models.Model]) -> None:
    """Let the database look at how the rows lie. After a first sync its plans are made for empty tables otherwise.

    One at a time, to the end of its transaction: who comes while another does it leaves it at that and does not wait.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [ANALYZE_LOCK])
            if cursor.fetchone() != (True,):
                return
        for model in tables:
            cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")


def _upsert(
    model: type[models.Model],
    columns: Sequence[str],
    rows: list[Sequence[Any]],
    unique: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> int:
    statement = _statement(model, tuple(columns), tuple(unique), tuple(keep), connection.vendor)
    with connection.cursor() as cursor:
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            if connection.vendor == "postgresql":
                cursor.execute(statement, [_as_json(model, tuple(columns), batch)])
            else:
                cursor.executemany(statement, _prepared(model, tuple(columns), batch))
    return len(rows)


@lru_cache(maxsize=64)
def _fields(model: type[models.Model], columns: tuple[str, ...]) -> tuple[Any, ...]:
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    return tuple(by_name[name] for name in columns)


@lru_cache(maxsize=64)
def _statement(
    model: type[models.Model], columns: tuple[str, ...], unique: tuple[str, ...], keep: tuple[str, ...], vendor: str
) -> str:
    quote = connection.ops.quote_name
    fields = _fields(model, columns)
    names = ", ".join(quote(field.column) for field in fields)
    one = f"VALUES ({', '.join(['%s'] * len(fields))})"
    source = f"SELECT {', '.join(map(_value, fields))} FROM {_records(fields)}" if vendor == "postgresql" else one  # noqa: S608 - names from our models
    text = f"INSERT INTO {quote(model._meta.db_table)} ({names}) {source}"
    if not unique:
        return text
    targets = ", ".join(quote(field.column) for field in _fields(model, unique))
    changed = [quote(field.column) for field in fields if field.attname not in (*unique, *keep)]
    return f"{text} ON CONFLICT ({targets}) DO UPDATE SET {', '.join(f'{name} = EXCLUDED.{name}' for name in changed)}"


@lru_cache(maxsize=64)
def _update_statement(model: type[models.Model], columns: tuple[str, ...], vendor: str) -> str:
    key, *fields = _fields(model, columns)
    quote = connection.ops.quote_name
    table, id_ = quote(model._meta.db_table), quote(key.column)
    if vendor != "postgresql":
        sets = ", ".join(f"{quote(field.column)} = %s" for field in fields)
        return f"UPDATE {table} SET {sets} WHERE {id_} = %s"  # noqa: S608
    sets = ", ".join(f"{quote(field.column)} = {_value(field)}" for field in fields)
    return f"UPDATE {table} SET {sets} FROM {_records((key, *fields))} WHERE {table}.{id_} = new.{id_}"  # noqa: S608


def _records(fields: Sequence[Any]) -> str:
    """The rows of a JSON text (`_as_json`) as a table "new" with a typed column for each field."""
    columns = ", ".join(f"{connection.ops.quote_name(field.column)} {_type(field)}" for field in fields)
    return f"json_to_recordset(%s) AS new({columns})"


def _type(field: Any) -> str:
    if isinstance(field, models.BinaryField):
        return "text"
    # The own type of an automatic key is a sequence.
    return str(field.rel_db_type(connection) if field.is_relation or field.primary_key else field.db_type(connection))


def _value(field: Any) -> str:
    name = f"new.{connection.ops.quote_name(field.column)}"
    return f"decode({name}, 'base64')" if isinstance(field, models.BinaryField) else name


def _as_json(model: type[models.Model], columns: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> str:
    """The rows as an array of objects; bytes in base64."""
    names = [field.column for field in _fields(model, columns)]
    return msgspec.json.encode([dict(zip(names, row, strict=True)) for row in rows], enc_hook=_plain).decode()


def _plain(value: Any) -> str:
    """A text of a type derived from str. Raises TypeError for another type."""
    return str.__str__(value)


def _prepared(
    model: type[models.Model], columns: tuple[str, ...], rows: Iterable[Sequence[Any]]
) -> list[Sequence[Any]]:
    """Rows as the database driver takes them: JSON as text, and for SQLite times as text."""
    fields = _fields(model, columns)
    json_at = [place for place, field in enumerate(fields) if isinstance(field, models.JSONField)]
    time_at = [place for place, field in enumerate(fields) if isinstance(field, models.DateTimeField)]
    if connection.vendor == "postgresql":
        time_at = []
    if not json_at and not time_at:
        return list(rows)
    return [_row(row, json_at, time_at) for row in rows]


def _row(row: Sequence[Any], json_at: list[int], time_at: list[int]) -> list[Any]:
    values = list(row)
    for place in json_at:
        if values[place] is not None:
            values[place] = msgspec.json.encode(values[place]).decode()
    for place in time_at:
        moment: datetime | None = values[place]
        if moment is not None:
            values[place] = connection.ops.adapt_datetimefield_value(moment)
    return values
