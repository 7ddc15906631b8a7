"""What ends a command early, as one line for a person. Exit codes: 0 done, 1 failed or refused, 2 wrong use."""

from __future__ import annotations

REFUSED, USAGE = 1, 2


class Failed(Exception):
    """The server refused, or what was asked for is not there."""

    code = REFUSED


class Unreachable(Failed):
    """No answer now: the same request may work in a moment."""


class Misused(Failed):
    """Wrong before anything was asked."""

    code = USAGE
