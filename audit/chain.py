"""How entries hold each other: each has the hash of the one before it in its own hash, so one that is changed, taken out or put in
between breaks the chain from there on. The hashes are keyed (`audit.keys`), and so is the head, which says how many entries there are
and the hash of the last: with the database alone the chain cannot be written again or shortened.

Who has the secret key as well can, and who has an earlier copy of the tables can put them back. So each entry is also a log line with
its hash (`audit.shipping`): lines that are kept elsewhere, or a hash that was noted, show it (`gpudash audit verify --hash`).
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec
from django.utils import timezone

from audit.keys import keys, sealed
from audit.models import GENESIS, Entry, Head

#: In the order of their hashing; a column that comes later is put at the end and left out of older entries.
HASHED = ("number", "at", "actor", "kind", "token", "address", "request", "action", "target", "outcome", "detail")
NO_HEAD = "the head of the chain, with the number of entries, is missing"


def begin(head: Head) -> None:
    """Seal and save the head of an empty chain. The first migration does, and nobody else: a head that is made later has no seal."""
    head.seal = seal_of(head, keys()[-1])
    head.save(force_insert=True)


def append(entries: Iterable[Entry]) -> None:
    """Write these as the last entries, in the caller's transaction, which holds the chain until its end. Raises DatabaseError."""
    key = keys()[-1]
    head = Head.objects.select_for_update().order_by("pk").first()
    # Somebody took the head away. The acts go on, and so does the chain; without a seal the new head never holds.
    whole = head is not None and _is_sealed(head, keys())
    if head is None:
        last = Entry.objects.order_by("-number").first()
        head = Head(pk=1, number=last.number if last else 0, hash=last.hash if last else GENESIS)
    for entry in entries:
        entry.number, entry.previous, entry.at = head.number + 1, head.hash, timezone.now()
        entry.hash = hash_of(entry, key)
        entry.save(force_insert=True)
        head.number, head.hash = entry.number, entry.hash
    head.seal = seal_of(head, key) if whole else ""
    head.save()


def hash_of(entry: Entry, key: bytes | None = None) -> str:
    """Of what an entry says, and of the hash of the one before. key: that of today when it is not given."""
    said = {name: getattr(entry, name) for name in HASHED} | {"at": _moment(entry.at)}
    return sealed(key or keys()[-1], entry.previous.encode() + b"\n" + msgspec.json.encode(said, order="sorted"))


def seal_of(head: Head, key: bytes) -> str:
    return sealed(key, f"head {head.number} {head.hash}".encode())


class Broken(NamedTuple):
    """Where a chain breaks. number: of the first entry that does not hold."""

    number: int
    why: str


def verify(after: int = 0) -> Iterator[tuple[int, str] | Broken]:
    """(number, hash) of each entry in their order, up to the first that does not hold: then a Broken, and no more.

    A key that was replaced counts up to the first entry of a later key, and no further.
    """
    # Before the entries: one that is written meanwhile is none that is missing.
    head, left = Head.objects.first(), list(keys())
    previous, wanted = GENESIS, 1
    if after:
        first = Entry.objects.filter(number=after).first()
        if first is None:
            yield Broken(after, "the entry does not exist")
            return
        previous, wanted = first.hash, after + 1
    for entry in Entry.objects.filter(number__gte=wanted).order_by("number").iterator(2000):
        why = _why_broken(entry, wanted, previous, left)
        if head is not None and entry.number == head.number and entry.hash != head.hash:
            why = why or "the entry was replaced"
        if why:
            yield Broken(wanted, why)
            return
        yield entry.number, entry.hash
        previous, wanted = entry.hash, wanted + 1
    if why := _why_not_the_end(head, wanted, left):
        yield Broken(wanted, why)


def _why_broken(entry: Entry, wanted: int, previous: str, left: list[bytes]) -> str:
    """left: the keys that may still come; those before the one that fits are taken out."""
    if entry.number != wanted:
        return "the entry is missing"
    if entry.previous != previous:
        return "the entry does not follow the previous entry"
    fits = next((at for at, key in enumerate(left) if hmac.compare_digest(hash_of(entry, key), entry.hash)), None)
    if fits is None:
        return "the entry was changed, or written with another secret key (GPUDASH_SECRET_KEY_FALLBACKS)"
    del left[:fits]
    return ""


def _why_not_the_end(head: Head | None, wanted: int, left: list[bytes]) -> str:
    """wanted: the number of the entry that would come next. "" where no more were written, or only since the head was read."""
    if head is None:
        return NO_HEAD
    if not _is_sealed(head, left):
        return "the head of the chain was changed or recreated; entries may be missing"
    if head.number >= wanted:
        return f"the last entries are missing; {head.number} were written"
    now = Head.objects.first()
    if now is None:
        return NO_HEAD
    return f"only {now.number} were written" if now.number < wanted - 1 else ""


def _is_sealed(head: Head, with_one_of: Iterable[bytes]) -> bool:
    return any(hmac.compare_digest(seal_of(head, key), head.seal) for key in with_one_of)


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")
