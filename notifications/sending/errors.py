"""Why nothing was answered."""

from __future__ import annotations

from typing import NamedTuple


class MayHaveBeenSent(Exception):
    """The whole message was written and no answer came: the receiver may have it.

    Of a kind that is `repeatable` it is sent again; of another its state is "may have been sent". The text is for the delivery log.
    """


class NotSent(Exception):
    """The receiver has no whole message; another try may help. The text is for the delivery log."""


class NotPossible(Exception):
    """Nothing was sent, and another try does the same until a person changes something. The text says what."""


class Reply(NamedTuple):
    """What came back. headers: by lower-case name. whole: the body ended, and was read to its end or to the limit."""

    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool = True
