"""DATABASES["default"] from a URL: sqlite:///path or postgresql://user:password@host:port/name?sslmode=…"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from gpudash.config.env import QUOTE, BadSetting

NAME = "GPUDASH_DATABASE_URL"
POOLER_NAME = "GPUDASH_DATABASE_POOLER"

SQLITE_OPTIONS = {
    # One writer at a time, readers never wait: writers take the lock at BEGIN and wait for each other.
    "transaction_mode": "IMMEDIATE",
    "timeout": 30,
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000; PRAGMA mmap_size=33554432;"
        "PRAGMA temp_store=MEMORY;"
    ),
}


POSTGRESQL_OPTIONS = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
    # A server that takes no changes (a standby, or one that became it) is none for us. Of several hosts, the one that does is found.
    "target_session_attrs": "read-write",
}
#: Not through a pooler in transaction mode: pgbouncer refuses start-up options (before 1.20) or would keep those of one client only.
SESSION_OPTIONS = {
    # A process that freezes or loses its host in the middle of a transaction must not keep the lock of its lease.
    "options": "-c idle_in_transaction_session_timeout=30s",
}
#: Values of GPUDASH_DATABASE_POOLER.
NO_POOLER, TRANSACTION_POOLER = "", "transaction"
POOLERS = (NO_POOLER, TRANSACTION_POOLER)
_WANTED = "use postgresql://user:password@host:5432/name"
_QUOTE = f"{QUOTE}, or leave the password out and set GPUDASH_DATABASE_PASSWORD"
_PARAMETER = re.compile(r"[a-z][a-z_]{2,40}")


def database(value: str, password: str, data_dir: Path, production: bool, pooler: str = NO_POOLER) -> dict[str, Any]:
    """The connection that the URL `value` names; "": SQLite in the data folder, not in production. Raises BadSetting.

    password: in place of the URL's, as it is. No secret is ever repeated. pooler: one of POOLERS, what stands before PostgreSQL.
    """
    if not value and production:
        raise BadSetting(NAME, f"must be set in production; {_WANTED} (or, for SQLite, sqlite:////path)")
    try:
        url = urlsplit(value or f"sqlite:///{data_dir / 'gpudash.sqlite3'}")
        port = url.port
    except ValueError:
        raise BadSetting(NAME, f"not a URL; {_WANTED}; {_QUOTE}") from None
    if url.scheme == "sqlite":
        if pooler:
            raise BadSetting(POOLER_NAME, "must be empty with SQLite, which has no pooler")
        return _sqlite(url)
    if url.scheme in ("postgres", "postgresql"):
        made = _postgresql(url, port, pooler)
        return made | {"PASSWORD": password or made["PASSWORD"]}
    raise BadSetting(NAME, "must be sqlite:///… or postgresql://…")


def _sqlite(url: SplitResult) -> dict[str, Any]:
    path = unquote(url.path).removeprefix("/")
    if url.netloc or not path.strip("/"):
        raise BadSetting(NAME, "must be sqlite:////absolute/path or sqlite:///relative/path")
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(Path(path).absolute()),
        "OPTIONS": dict(SQLITE_OPTIONS),
    }


def _postgresql(url: SplitResult, port: int | None, pooler: str) -> dict[str, Any]:
    parameters = dict(parse_qsl(url.query, keep_blank_values=True))
    strange = url.fragment or not all(_PARAMETER.fullmatch(key) for key in parameters)
    if strange or "@" in url.path or "/" in url.path.strip("/"):
        raise BadSetting(NAME, f"the URL is incomplete; {_QUOTE}")
    if not url.path.strip("/"):
        raise BadSetting(NAME, f"the URL has no database name; {_WANTED}")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path.strip("/")),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": unquote(url.hostname or ""),
        "PORT": str(port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        # A cursor of the server belongs to a session, and here each transaction may get another one.
        "DISABLE_SERVER_SIDE_CURSORS": pooler == TRANSACTION_POOLER,
        "OPTIONS": {**POSTGRESQL_OPTIONS, **({} if pooler else SESSION_OPTIONS), **parameters},
    }
