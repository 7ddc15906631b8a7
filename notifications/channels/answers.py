"""How an answer is read, as far as kinds have it in common. Pure; never raises, whatever the bytes are.

Texts of a receiver are cut, made printable, and lose what looks like a token: a receiver may repeat the address that it was
called by.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from notifications.channels.engine import Answer, Outcome
from notifications.channels.text import printable
from wording.said import cut, known, sentence, series

#: Characters of an answer's text, and of the receiver's words in it.
MOST, WORDS = 300, 200
#: The longest time that a receiver may ask for.
LONGEST_S = 86_400.0
_LATER = frozenset({408, 425, 429})
#: Long words with digits and letters, and what follows the name of a secret.
_TOKEN = re.compile(r"(?=[^\s]*[0-9])(?=[^\s]*[A-Za-z])[A-Za-z0-9_\-+/=.%]{16,}|(?<=whsec_)\S+|(?<=[?&])\S+")
_FIELDS = ("message", "error", "msg", "errmsg", "detail", "title")

Headers = Mapping[str, str]


def answer(outcome: Outcome, text: str, after_s: float | None = None) -> Answer:
    """text: of us, with the receiver's words in it made by `words`."""
    return Answer(outcome, cut(text, MOST), after_s)


def by_status(status: int, headers: Headers, body: bytes) -> Answer:
    """What HTTP itself says, for kinds whose status decides."""
    if 200 <= status < 300:
        return answer(Outcome.DELIVERED, sentence("HTTP {status}", status=status))
    if 300 <= status < 400:
        text = sentence("HTTP {status}: redirects are not followed. Enter the final address.", status=status)
        return answer(Outcome.REFUSED, text)
    if status == 410:
        return answer(Outcome.GONE, sentence("HTTP {status}: the receiver accepts no more messages.", status=status))
    if status in _LATER or status >= 500 or "retry-after" in headers:
        return answer(Outcome.LATER, _with_words(status, body), retry_after(headers))
    return answer(Outcome.REFUSED, _with_words(status, body))


def decides(status: int) -> bool:
    """Whether the status alone is the answer, also where the body has a code."""
    return 300 <= status < 400 or status == 410 or status in _LATER or status >= 500


def _with_words(status: int, body: bytes) -> str:
    reported = words(body)
    if not reported:
        return sentence("HTTP {status}", status=status)
    return sentence("HTTP {status}: {words}", status=status, words=reported)


def by_code(
    name: str, status: int, headers: Headers, body: bytes, later: Mapping[int, float], hints: Mapping[int, str]
) -> Answer:
    """For receivers that answer 200 to a refusal: the number `name` in the body decides, 0 is delivered.

    later: numbers of a receiver that has too much to do → seconds to wait. hints: number → what to do, marked for translation.
    """
    if decides(status):
        return by_status(status, headers, body)
    code = fields(body).get(name)
    if type(code) is not int:
        if not 200 <= status < 300:
            return by_status(status, headers, body)
        text = sentence("HTTP {status} without {name}: the answer is not from the robot.", status=status, name=name)
        return answer(Outcome.REFUSED, text)
    if code == 0 and 200 <= status < 300:
        return answer(Outcome.DELIVERED, sentence("{name} {code}", name=name, code=code))
    text = sentence("{name} {code}: {words}", name=name, code=printable(str(code), 20), words=words(body))
    if code in later:
        return answer(Outcome.LATER, text, retry_after(headers) or later[code])
    return answer(Outcome.REFUSED, series((known(hints[code]), text)) if code in hints else text)


def fields(body: bytes) -> Mapping[str, Any]:
    """The object that the body is in JSON; empty for anything else."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def words(body: bytes) -> str:
    """The receiver's words: of JSON the field that has them, of text its beginning, of a page of HTML nothing."""
    found = fields(body)
    errors = found.get("errors")
    several = [one for one in errors if isinstance(one, str)] if isinstance(errors, list) else []
    texts = [one for name in _FIELDS if isinstance(one := found.get(name), str) and one][:1] + several
    text = " ".join(texts) if found else body[:2000].decode(errors="replace").lstrip("\ufeff \t\r\n")
    return "" if text.startswith("<") else spoken(text)


def spoken(text: str) -> str:
    """Words of another system, printable and without what looks like a token."""
    return printable(_TOKEN.sub("…", text[:2000]), WORDS)


def retry_after(headers: Headers) -> float | None:
    """Seconds, from a number or from a date beside the answer's own; None when neither is readable."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", value):
        return min(LONGEST_S, float(value))
    try:
        until, at = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("date", ""))
        return min(LONGEST_S, max(0.0, (until - at).total_seconds()))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
