"""What a kind of channel declares: its settings, the requests that one message becomes, and how an answer is read. Pure.

A module per kind beside this one; `notifications.channels.KINDS` names them. Sending, retries and storing are `notifications.sending`
and `notifications.deliver`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum

import msgspec


class Change(StrEnum):
    """What a message says of one topic. MORE: it held before, and holds for more things now."""

    BEGAN = "began"
    MORE = "more"
    ENDED = "ended"


class Severity(StrEnum):
    """As of findings; `error` is the worst."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One topic of a message: one cause, for any number of cards.

    topic: the same from its beginning to its end, at most 200 characters. text: one sentence. count: things that it holds for now (of
    ENDED: held for); new: of MORE, how many more than were sent before, 0: others than before. places: some of them as
    "cluster/node". link: absolute address, "" where none is known. since, until: aware. code: machine name of what it is about.
    """

    topic: str
    change: Change
    severity: Severity
    code: str
    text: str
    count: int
    new: int = 0
    places: tuple[str, ...] = ()
    cluster: str = ""
    link: str
    since: datetime
    until: datetime | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """What one delivery says. id: the same at each try. hidden: topics that found no place in `lines`. test: made by *Send test*.

    title: one line. link: as of a line. source: address of this installation, or its name. at: when it was made. words: English →
    language of the channel, of the words that kinds add (`notifications.channels.lines.WORDS`).
    """

    id: str
    title: str
    lines: tuple[Line, ...]
    hidden: int = 0
    link: str
    source: str
    at: datetime
    test: bool = False
    words: Mapping[str, str] = {}


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One HTTP request. Its address and headers may hold secrets: nothing of it is logged."""

    url: str
    body: bytes
    method: str = "POST"
    headers: Mapping[str, str] = {}


class Mail(msgspec.Struct, frozen=True, kw_only=True):
    """One e-mail, whole as RFC 5322 with CRLF, and the server that takes it. security: "tls", "starttls" or "none"."""

    host: str
    port: int
    security: str
    user: str
    password: str
    sender: str
    recipients: tuple[str, ...]
    content: bytes


class Outcome(StrEnum):
    """REFUSED: the same message again would be refused too. LATER: try again. GONE: the receiver asks for no more messages."""

    DELIVERED = "delivered"
    REFUSED = "refused"
    LATER = "later"
    GONE = "gone"


class Answer(msgspec.Struct, frozen=True):
    """What the receiver said. text: at most 300 printable characters, for the delivery log, without secrets. after_s: Retry-After."""

    outcome: Outcome
    text: str
    after_s: float | None = None


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a channel's form. secret: stored encrypted and never shown again. check: raises ValueError with what to do."""

    name: str
    title: str
    help: str = ""
    secret: bool = False
    required: bool = True
    default: str = ""
    choices: tuple[str, ...] = ()
    check: Callable[[str], None] | None = None


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of channel.

    requests: (message, settings by name, now) → what to send, in this order. judge: (status, headers by lower-case name, body) →
    answer. per_topic: the receiver knows topics itself, so each line is a message of its own. repeatable: the receiver drops a
    message that it has by its id or topic, so one that may have been sent is sent again. standing: the receiver forgets what is not
    repeated each minute. per_minute: messages that the receiver takes. most_lines: topics in one message.
    """

    name: str
    title: str
    settings: tuple[Setting, ...]
    requests: Callable[[Message, Mapping[str, str], datetime], Sequence[Call | Mail]]
    judge: Callable[[int, Mapping[str, str], bytes], Answer]
    per_topic: bool = False
    repeatable: bool = False
    standing: bool = False
    per_minute: int = 20
    most_lines: int = 20
