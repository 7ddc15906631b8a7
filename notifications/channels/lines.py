"""What all kinds say of a topic to people, and how a message is made to fit. Pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from notifications.channels.engine import Change, Line, Message, Severity
from notifications.channels.text import plain
from wording.said import gettext_noop

#: Characters of a title, of a sentence, of a name.
TITLE, SENTENCE, NAME = 150, 400, 80
#: Places that are named.
PLACES = 3
_ERROR, _WARNING, _INFO = gettext_noop("Error"), gettext_noop("Warning"), gettext_noop("Info")
_ENDED, _MORE = gettext_noop("Ended"), gettext_noop("{severity}, more")
_AFFECTED, _NEW, _CLUSTER = gettext_noop("{n} affected"), gettext_noop("{n} new"), gettext_noop("cluster {name}")
_SINCE, _SPAN = gettext_noop("since {since} UTC"), gettext_noop("{since} to {until} UTC")
_HIDDEN, _OPEN = gettext_noop("{n} more"), gettext_noop("Open")
#: What kinds add to a message: `Message.words` has them in the language of its channel.
WORDS = (_ERROR, _WARNING, _INFO, _ENDED, _MORE, _AFFECTED, _NEW, _CLUSTER, _SINCE, _SPAN, _HIDDEN, _OPEN)
_SEVERITIES = {Severity.ERROR: _ERROR, Severity.WARNING: _WARNING, Severity.INFO: _INFO}
Shown = Callable[[str, int], str]


def severity_of(message: Message) -> Severity | None:
    """The worst of what holds now; None when all of it ended."""
    present = {line.severity for line in message.lines if line.change is not Change.ENDED}
    return next((one for one in Severity if one in present), None)


def head(message: Message, line: Line) -> str:
    """ "Error", "Error, more" or "Ended"."""
    if line.change is Change.ENDED:
        return _said(message, _ENDED)
    severity = _said(message, _SEVERITIES[line.severity])
    return _said(message, _MORE, severity=severity) if line.change is Change.MORE else severity


def told(message: Message, line: Line, shown: Shown = plain, between: str = "\n") -> str:
    """The sentence and the facts. The sentence is left out where it is the title of a message with one topic."""
    in_title = len(message.lines) == 1 and line.text in message.title and len(message.title) <= TITLE
    return between.join(filter(None, ("" if in_title else shown(line.text, SENTENCE), facts(message, line, shown))))


def facts(message: Message, line: Line, shown: Shown = plain) -> str:
    """How many, where, since when; separated by " · ". shown: makes a name of the cluster inert."""
    return " · ".join(filter(None, (_count(message, line), _where(message, line, shown), _when(message, line))))


def _count(message: Message, line: Line) -> str:
    affected = _said(message, _AFFECTED, n=f"{line.count:,}") if line.count > 1 else ""
    new = _said(message, _NEW, n=f"{line.new:,}") if line.new else ""
    return ", ".join(filter(None, (affected, new)))


def _where(message: Message, line: Line, shown: Shown) -> str:
    if not line.places:
        return _said(message, _CLUSTER, name=shown(line.cluster, NAME)) if line.cluster else ""
    rest = ", …" if len(line.places) > PLACES else ""
    return ", ".join(shown(place, 2 * NAME) for place in line.places[:PLACES]) + rest


def _when(message: Message, line: Line) -> str:
    if line.change is Change.ENDED and line.until is not None:
        return _said(message, _SPAN, since=_moment(line.since), until=_moment(line.until))
    return _said(message, _SINCE, since=_moment(line.since))


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"


def more(message: Message) -> str:
    """ "12 more", "" when all topics are in the message."""
    return _said(message, _HIDDEN, n=f"{message.hidden:,}") if message.hidden else ""


def opens(message: Message) -> str:
    """The text of a link."""
    return _said(message, _OPEN)


def _said(message: Message, template: str, **arguments: str) -> str:
    return message.words.get(template, template).format(**arguments)


def fitted(message: Message, most: int, build: Callable[[Message], bytes], lines: int = 20) -> bytes:
    """What `build` makes, with so many lines that it has at most `most` bytes; the others are counted as hidden."""
    message = _first(message, lines)
    while len(body := build(message)) > most and message.lines:
        message = _first(message, len(message.lines) - 1)
    return body


def _first(message: Message, lines: int) -> Message:
    left_out = max(0, len(message.lines) - lines)
    return msgspec.structs.replace(message, lines=message.lines[:lines], hidden=message.hidden + left_out)


def rfc3339(moment: datetime) -> str:
    """In UTC, with Z, whole seconds."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def json_body(value: object) -> bytes:
    """JSON as UTF-8."""
    return msgspec.json.encode(value)


#: Headers of a request with JSON.
JSON = {"content-type": "application/json; charset=utf-8"}
