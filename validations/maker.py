"""Who makes the Jobs: an id of this database where it lives now, which a copy of its rows does not share.

PostgreSQL: the system identifier of the server (made by initdb, in no dump) and the name of the database. It stays the same when a
backup is put back in its place, and when a standby takes over; a dump that is restored elsewhere, and a copy beside it under another
name, have another. A copy of the server's files has the same: it is told by the epoch of the lock (`validations.lifecycle.lock`).
SQLite: the machine's id and the path of the file; in a container without one, the inode of the file's folder.
"""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from django.db import DatabaseError, connection, transaction

MAKER_LABEL = "gpudash.io/maker"
_MACHINE = Path("/etc/machine-id")


def maker() -> str:
    """16 hexadecimal digits, valid as a label. Raises DatabaseError when the database is away."""
    settings = connection.settings_dict
    return _maker(connection.vendor, str(settings["NAME"]), f"{settings['HOST']}:{settings['PORT']}")


@lru_cache(maxsize=8)
def _maker(vendor: str, name: str, address: str) -> str:
    parts = _of_file(name) if vendor == "sqlite" else (_of_server() or address, name)
    return hashlib.sha256("\0".join((vendor, *parts)).encode()).hexdigest()[:16]


def _of_server() -> str:
    """The server's system identifier; "" where it may not be read."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT has_function_privilege('pg_control_system()', 'EXECUTE')")
            if not (cursor.fetchone() or (False,))[0]:
                return ""
            cursor.execute("SELECT system_identifier FROM pg_control_system()")
            return str((cursor.fetchone() or ("",))[0])
    except DatabaseError:
        if not connection.is_usable():
            raise
        return ""


def _of_file(name: str) -> tuple[str, ...]:
    path = Path(name)
    try:
        machine = _MACHINE.read_text().strip()
    except (OSError, UnicodeDecodeError):
        machine = ""
    return (machine or _inode(path.parent), os.path.realpath(path))


def _inode(folder: Path) -> str:
    try:
        found = folder.stat()
    except OSError:  # a database in memory
        return ""
    return f"{found.st_dev}/{found.st_ino}"
