"""How entries hold each other: each has the hash of the one before it in its own hash, so one that is changed, taken out or put in
between breaks the chain from there on.

Whoever can write into the database can also make the whole chain anew. So each entry is a log line too, with its hash: what was
shipped elsewhere, or a hash that somebody noted, tells of that (`manage.py audit verify --hash`).
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec
from django.db import transaction
from django.utils import timezone

from audit.actions import Action, Outcome
from audit.models import Entry, Head
from audit.who import current
from wording.said import Said, Stored, stored

logger = logging.getLogger("gpudash.audit")

GENESIS = "0" * 64
#: What is refused to the same one for the same thing within this is one entry: a script that tries each second fills nothing.
SAME = timedelta(minutes=1)
TARGET_CHARS, DETAIL_CHARS = 512, 2000
#: In the order of their hashing; a column that comes later is put at the end and left out of older entries.
HASHED = ("number", "at", "actor", "kind", "token", "address", "request", "action", "target", "outcome", "detail")


def record(action: Action, target: str = "", outcome: Outcome = Outcome.DONE, **detail: str | int | None) -> None:
    """Write what was done. Inside the caller's transaction where there is one: what is undone was not done.

    No secret belongs in target or detail. Raises DatabaseError.
    """
    target = _clean(target)[:TARGET_CHARS]
    if outcome is Outcome.REFUSED and _told_already(action, target):
        return
    who = current()
    with transaction.atomic():
        head = _locked_head()
        entry = Entry(
            number=head.number + 1,
            at=timezone.now(),
            actor=_clean(who.name)[:150],
            kind=who.kind,
            token=who.token[:32],
            address=who.address[:64],
            request=who.request[:64],
            action=action.value,
            target=target,
            outcome=outcome.value,
            detail={name: _short(value) for name, value in detail.items() if value not in (None, "")},
            wording={name: form for name, value in detail.items() if (form := _form(value))} or None,
            previous=head.hash,
        )
        entry.hash = hash_of(entry)
        entry.save(force_insert=True)
        Head.objects.filter(pk=head.pk).update(number=entry.number, hash=entry.hash)
    _log(entry)


def hash_of(entry: Entry) -> str:
    """Of what an entry says, and of the hash of the one before."""
    said = {name: getattr(entry, name) for name in HASHED} | {"at": _moment(entry.at)}
    return hashlib.sha256(entry.previous.encode() + b"\n" + msgspec.json.encode(said, order="sorted")).hexdigest()


class Broken(NamedTuple):
    """Where a chain breaks. number: of the first entry that does not hold."""

    number: int
    why: str


def verify(after: int = 0) -> Iterator[tuple[int, str] | Broken]:
    """(number, hash) of each entry in their order, up to the first that does not hold: then a Broken, and no more."""
    # Before the entries: one that is written meanwhile is none that is missing.
    head = Head.objects.first()
    previous, wanted = GENESIS, 1
    if after:
        first = Entry.objects.filter(number=after).first()
        if first is None:
            yield Broken(after, "there is no such entry")
            return
        previous, wanted = first.hash, after + 1
    for entry in Entry.objects.filter(number__gte=wanted).order_by("number").iterator(2000):
        why = _why_broken(entry, wanted, previous)
        if head is not None and entry.number == head.number and entry.hash != head.hash:
            why = why or "it is not the one that was written"
        if why:
            yield Broken(wanted, why)
            return
        yield entry.number, entry.hash
        previous, wanted = entry.hash, wanted + 1
    if head is not None and head.number >= wanted:
        yield Broken(wanted, f"the last entries are missing: {head.number} were written")
    elif (now := Head.objects.first()) is not None and now.number < wanted - 1:
        yield Broken(now.number + 1, f"only {now.number} were written")


def _why_broken(entry: Entry, wanted: int, previous: str) -> str:
    if entry.number != wanted:
        return "it is missing"
    if entry.previous != previous:
        return "it does not follow the one before it"
    if hash_of(entry) != entry.hash:
        return "it was changed"
    return ""


def _locked_head() -> Head:
    head = Head.objects.select_for_update().order_by("pk").first()
    return head or Head.objects.select_for_update().get_or_create(pk=1)[0]


def _told_already(action: Action, target: str) -> bool:
    who = current()
    same = Entry.objects.filter(
        action=action.value,
        target=target,
        actor=_clean(who.name)[:150],
        address=who.address[:64],
        outcome=Outcome.REFUSED.value,
        at__gt=timezone.now() - SAME,
    )
    return same.exists()


def _log(entry: Entry) -> None:
    words = {"audit_number": entry.number, "audit_hash": entry.hash}
    words |= {f"audit_{name}": getattr(entry, name) for name in ("actor", "action", "target", "outcome", "address")}
    logger.info(
        "audit %d %s: %s %s %s", entry.number, entry.hash[:12], entry.actor or "nobody", entry.action, entry.target,
        extra=words,
    )  # fmt: skip


def _form(value: str | int | None) -> Stored | None:
    return stored(value, DETAIL_CHARS) if isinstance(value, Said) else None


def _short(value: Any) -> str | int:
    return value if isinstance(value, int) else _clean(str(value))[:DETAIL_CHARS]


def _clean(text: str) -> str:
    """A null character has no place in a database; half a surrogate pair has none in a hash."""
    return text.replace("\0", "�").encode("utf-8", "replace").decode()


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")
