"""Who acts in this thread now. Set with each request and by each command, so that what is done need not be told by whom."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from audit.actions import Kind

LENGTH = 150


class Who(msgspec.Struct, frozen=True):
    """name: of the account, or of the system's user who runs a command. token: "gpd_12", the token by which it was asked.

    address: as `accounts.addresses` reads it. request: the id that the request's log lines carry. via: "page", "REST" or "command".
    """

    name: str = ""
    kind: str = Kind.PROCESS.value
    token: str = ""
    address: str = ""
    request: str = ""
    via: str = ""


_PROCESS = Who()
_now: ContextVar[Who | None] = ContextVar("audit_who", default=None)


def current() -> Who:
    """Whoever acts now."""
    return _now.get() or _PROCESS


def acts(who: Who) -> None:
    """From now on, in this thread."""
    _now.set(who)


@contextmanager
def acting(who: Who) -> Iterator[None]:
    """For the time of a block."""
    token = _now.set(who)
    try:
        yield
    finally:
        _now.reset(token)


def command() -> Who:
    """Who runs this process: behind sudo whoever asked for it."""
    try:
        name = os.environ.get("SUDO_USER") or getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in a container
        name = f"uid {os.getuid()}" if hasattr(os, "getuid") else "not known"
    return Who(name=name[:LENGTH], kind=Kind.COMMAND.value, via="command")
