"""One message by one channel: all its requests in their order, and one answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from urllib.parse import unquote, urlsplit

import msgspec

from notifications.channels.engine import Answer, Call, Kind, Mail, Message, Outcome
from notifications.sending import http, smtp
from notifications.sending.addresses import Allowed
from notifications.sending.errors import MayHaveBeenSent, NotPossible, NotSent, Reply
from wording.said import cut, of_error, sentence

__all__ = ["MayHaveBeenSent", "send"]

#: A part of a secret that is shorter is a word as well.
_SHORTEST = 6
_MOST = 300
#: "services", "webhook": of a path, and no token.
_WORD = re.compile(r"[a-z_-]{1,11}")
#: Which of several answers is kept where no replica took the message: one that asks for another try first.
_ORDER = (Outcome.DELIVERED, Outcome.LATER, Outcome.REFUSED, Outcome.GONE)


def send(kind: Kind, message: Message, settings: Mapping[str, str], now: datetime, allowed: Allowed) -> Answer:
    """What the receiver answered; blocks for 15 s a request, for 30 s a mail. settings: by name, in clear.

    Of several requests the first that is not delivered ends the message, and its answer counts. Of a `standing` kind each
    request goes to a replica: one is enough, since all are told again in a minute, and the text names the others.
    Raises MayHaveBeenSent when the message was written and no answer came. No text has a secret of the settings in it.
    """
    hide = _Hiding(kind, settings)
    answers: list[tuple[Call | Mail, Answer]] = []
    for request in kind.requests(message, settings, now):
        try:
            answer = _sent(kind, request, allowed)
        except MayHaveBeenSent as error:
            if not kind.standing:
                raise MayHaveBeenSent(hide.text(of_error(error))) from None
            answer = Answer(Outcome.LATER, of_error(error))
        answers.append((request, msgspec.structs.replace(answer, text=hide.text(answer.text))))
        if answer.outcome is not Outcome.DELIVERED and not kind.standing:
            break
    if not answers:
        return Answer(Outcome.DELIVERED, sentence("Nothing to send"))
    return _replicas(answers) if kind.standing and len(answers) > 1 else answers[-1][1]


def _sent(kind: Kind, request: Call | Mail, allowed: Allowed) -> Answer:
    try:
        reply = smtp.deliver(request, allowed) if isinstance(request, Mail) else http.call(request, allowed)
    except NotSent as error:
        return Answer(Outcome.LATER, cut(of_error(error), _MOST))
    except NotPossible as error:
        return Answer(Outcome.REFUSED, cut(of_error(error), _MOST))
    return _judged(kind, reply)


def _judged(kind: Kind, reply: Reply) -> Answer:
    answer = kind.judge(reply.status, reply.headers, reply.body)
    if not reply.whole and 200 <= reply.status < 300 and answer.outcome is not Outcome.DELIVERED:
        # The body decides, and it did not come.
        raise MayHaveBeenSent(sentence("HTTP {status}, but the answer ended early.", status=reply.status))
    return answer


def _replicas(answers: list[tuple[Call | Mail, Answer]]) -> Answer:
    best = min((answer for _request, answer in answers), key=lambda answer: _ORDER.index(answer.outcome))
    missed = [(request, answer) for request, answer in answers if answer.outcome is not Outcome.DELIVERED]
    if best.outcome is not Outcome.DELIVERED or not missed:
        return best
    named = ", ".join(f"{_host(request)} ({answer.text})" for request, answer in missed)
    counted = {"taken": len(answers) - len(missed), "all": len(answers)}
    text = sentence("Delivered to {taken} of {all} replicas, not to {names}", names=named, **counted)
    return Answer(Outcome.DELIVERED, cut(text, _MOST))


def _host(request: Call | Mail) -> str:
    return request.host if isinstance(request, Mail) else urlsplit(request.url).netloc


class _Hiding:
    """Takes the secrets of a channel out of a text, whole and in parts: a receiver may repeat what it was called with."""

    def __init__(self, kind: Kind, settings: Mapping[str, str]) -> None:
        # An address is one as well: many have a token in their path.
        named = [(settings.get(one.name, ""), one.secret) for one in kind.settings]
        values = [value for value, secret in named if secret or "://" in value]
        parts = {part for value in values for part in _parts(value)} | {value for value in values if value}
        self._pattern = re.compile("|".join(map(re.escape, sorted(parts, key=len, reverse=True)))) if parts else None

    def text(self, text: str) -> str:
        """The same text where it has no secret: it may be a sentence that can be translated."""
        if self._pattern is None or not self._pattern.search(text):
            return text
        return self._pattern.sub("…", text)


def _parts(value: str) -> Iterable[str]:
    words = value.split()
    if "://" in value:
        path = value.partition("://")[2].partition("/")[2]
        words += [path, *path.split("?"), *re.split(r"[/?&=]", path)]
    several = (part for word in words for part in (word, unquote(word)))
    return (part for part in several if len(part) >= _SHORTEST and not _WORD.fullmatch(part))
