"""What a migration does on PostgreSQL only: indexes for free-text search, and how soon a table is vacuumed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DatabaseError, transaction
from django.db.migrations import RunPython

EXTENSION = "CREATE EXTENSION IF NOT EXISTS pg_trgm"


def index(name: str, table: str, columns: Sequence[str], where: str, without: str) -> RunPython:
    """An index over the upper case of these columns of the rows `where`, which is what `icontains` looks at.

    pg_trgm is a trusted extension since PostgreSQL 13, so the owner of the database may make it. Where that is refused, the
    migration goes on and says what is missing; without: what the search lacks then.
    """
    terms = ", ".join(f"UPPER({column}::text) gin_trgm_ops" for column in columns)
    statement = f"CREATE INDEX IF NOT EXISTS {name} ON {table} USING gin ({terms}) WHERE {where}"

    def create(_apps: Any, editor: Any) -> None:
        if editor.connection.vendor != "postgresql":
            return
        try:
            with transaction.atomic(using=editor.connection.alias), editor.connection.cursor() as cursor:
                cursor.execute(EXTENSION)
                cursor.execute(statement)
        except DatabaseError as error:
            sys.stderr.write(
                f"\n{without}: {' '.join(str(error).split())}\n"
                f"To have it, an administrator of the database runs: {EXTENSION}; {statement};\n"
            )

    def drop(_apps: Any, editor: Any) -> None:
        """The extension stays: others may use it."""
        if editor.connection.vendor == "postgresql":
            editor.execute(f"DROP INDEX IF EXISTS {name}")

    return RunPython(create, drop)


def storage(parameters: Mapping[str, Mapping[str, str]]) -> RunPython:
    """Storage parameters by table."""

    def put(_apps: Any, editor: Any) -> None:
        if editor.connection.vendor == "postgresql":
            for table, own in parameters.items():
                editor.execute(
                    f"ALTER TABLE {table} SET ({', '.join(f'{name} = {value}' for name, value in own.items())})"
                )

    def reset(_apps: Any, editor: Any) -> None:
        if editor.connection.vendor == "postgresql":
            for table, own in parameters.items():
                editor.execute(f"ALTER TABLE {table} RESET ({', '.join(own)})")

    return RunPython(put, reset)
