"""Which making of a table of leases (a file, for SQLite) is in use: another one after a restore that makes tables anew.

It is written into each lease's row, so a row that came out of a backup carries the one before.
"""

from __future__ import annotations

import os

from django.db import connection

from runtime.leases.row import LeaseRow


def incarnation(model: type[LeaseRow]) -> str:
    """PostgreSQL: ids of database and table. SQLite: the file's inode; "" for a database in memory. Raises DatabaseError."""
    if connection.vendor == "sqlite":
        return _inode(str(connection.settings_dict["NAME"]))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT d.oid, to_regclass(%s)::oid FROM pg_database d WHERE d.datname = current_database()",
            [model._meta.db_table],
        )
        database, table = cursor.fetchone() or ("", "")
    return f"{database}/{table}"


def file_was_replaced(model: type[LeaseRow], before: str) -> bool:
    """Whether another file lies where this process's SQLite file was: its open connection still writes into the old one."""
    return connection.vendor == "sqlite" and incarnation(model) != before


def _inode(path: str) -> str:
    try:
        return str(os.stat(path).st_ino)
    except OSError:  # in memory, or the file is just being put back
        return ""
