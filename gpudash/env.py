"""Settings from the environment. A bad value stops the start with the setting's name; secrets are never repeated."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_PATH_PART = re.compile(r"[A-Za-z0-9._~-]+")


class BadSetting(Exception):
    """A setting cannot work. The text names it and says what is wanted."""

    def __init__(self, name: str, wanted: str) -> None:
        super().__init__(f"{name}: {wanted}")


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool) -> bool:
    value = text(name).lower()
    if value in ("", "1", "true", "yes", "on"):
        return bool(value) or default
    if value in ("0", "false", "no", "off"):
        return False
    raise BadSetting(name, "true or false is wanted")


def number(name: str, default: int, low: int, high: int) -> int:
    value = text(name)
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or len(value) > 12 or not low <= int(value) <= high:
        raise BadSetting(name, f"a whole number from {low} to {high} is wanted")
    return int(value)


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    value = text(name, default)
    if value not in allowed:
        raise BadSetting(name, f"one of {', '.join(allowed)} is wanted")
    return value


def time_zone(name: str, default: str) -> str:
    """A name of the IANA database ("Asia/Shanghai")."""
    value = text(name, default)
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadSetting(name, "a time zone like UTC or Asia/Shanghai is wanted") from None
    return value


def words(name: str, default: str = "") -> list[str]:
    """A list, separated by commas."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def address(name: str) -> str:
    """An IP address, * for any, "" for none."""
    value = text(name)
    try:
        return value if value in ("", "*") else str(ip_address(value))
    except ValueError:
        raise BadSetting(name, "an IP address is wanted, or * for any") from None


def base_path(name: str) -> str:
    """ "/" or "/some/path/": where the service is served below."""
    value = text(name).strip("/")
    if value and not all(_PATH_PART.fullmatch(part) and part.strip(".") for part in value.split("/")):
        raise BadSetting(name, "a path like /gpudash is wanted")
    return f"/{value}/" if value else "/"


def folder(name: str, default: Path) -> Path:
    path = Path(text(name) or default)
    try:
        path = path.expanduser().absolute()
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadSetting(name, f"the folder {path} cannot be made ({why})") from None
    if not os.access(path, os.W_OK):
        raise BadSetting(name, f"the folder {path} cannot be written to")
    return path


def secret_key(name: str, data_dir: Path, production: bool) -> str:
    """From the environment; outside production it is made once and kept in the data folder."""
    value = os.environ.get(name, "").strip()
    if value:
        if production and len(value) < 50:
            raise BadSetting(name, "at least 50 characters are wanted in production")
        return value
    if production:
        raise BadSetting(name, "must be set in production (50 or more random characters)")
    kept = data_dir / "secret-key"
    try:
        if not kept.exists():
            _keep(kept, secrets.token_urlsafe(48))
        value = kept.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(name, f"not set, and {kept} cannot be read or made ({type(error).__name__})") from None
    if not value:
        raise BadSetting(name, f"not set, and {kept} is empty; delete that file, a new one is made")
    return value


def _keep(kept: Path, value: str) -> None:
    """Write a file as a whole, unless another process was quicker: several start at the same time."""
    handle, own = tempfile.mkstemp(dir=kept.parent, prefix=kept.name)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(value)
        with suppress(FileExistsError):
            os.link(own, kept)
    finally:
        os.unlink(own)


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
    # A process that freezes or loses its host in the middle of a transaction must not keep the lock of its lease.
    "options": "-c idle_in_transaction_session_timeout=30s",
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}


def database(name: str, data_dir: Path) -> dict[str, Any]:
    """DATABASES["default"] from a URL: sqlite:///path or postgresql://user:password@host:port/name?sslmode=…"""
    value = text(name, f"sqlite:///{data_dir / 'gpudash.sqlite3'}")
    try:
        url = urlsplit(value)
        port = url.port
    except ValueError:
        raise BadSetting(name, "not a URL; postgresql://user:password@host:5432/name is wanted") from None
    if url.scheme == "sqlite":
        path = unquote(url.path).removeprefix("/")
        if url.netloc or not path.strip("/"):
            raise BadSetting(name, "sqlite:////absolute/path or sqlite:///relative/path is wanted")
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(Path(path).absolute()),
            "OPTIONS": dict(SQLITE_OPTIONS),
        }
    if url.scheme in ("postgres", "postgresql"):
        if not url.path.strip("/"):
            raise BadSetting(name, "the URL names no database; postgresql://user:password@host:5432/name is wanted")
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(url.path.strip("/")),
            "USER": unquote(url.username or ""),
            "PASSWORD": unquote(url.password or ""),
            "HOST": unquote(url.hostname or ""),
            "PORT": str(port or ""),
            "CONN_MAX_AGE": 60,
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": {**POSTGRESQL_OPTIONS, **dict(parse_qsl(url.query))},
        }
    raise BadSetting(name, "sqlite:///… or postgresql://… is wanted")


def broker(name: str) -> str:
    """A Celery broker URL: redis://…, rediss://…, or memory:// (one process)."""
    value = text(name, "memory://")
    try:
        scheme = urlsplit(value).scheme
    except ValueError:
        scheme = ""
    if scheme not in ("memory", "redis", "rediss", "sentinel", "amqp", "amqps"):
        raise BadSetting(name, "redis://host:6379/0 (or rediss, sentinel, amqp; memory:// in one process) is wanted")
    return value
