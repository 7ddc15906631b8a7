"""The one way to do what is written down: `act` opens a transaction, does it, and writes the entry in the same transaction.

So neither is there without the other, at whatever moment the process is killed. Of acts within acts all entries are written together
at the end of the outermost: all who act wait for the one end of the chain, so it is taken last, when all other rows are locked, and
held for as long as it takes to commit. Entries in the order of the chain become log lines after the commit (`audit.shipping`).

What no transaction holds (a session, a file) is put so that what makes it count comes last: a kill before leaves an entry without
effect, never an effect without entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from audit.actions import Action, Outcome
from audit.chain import append
from audit.models import Entry
from audit.shipping import ship_now
from audit.who import current
from wording.said import Said, Stored, stored

#: What is refused to the same one for the same thing within this is one entry: a script that tries each second fills nothing.
SAME = timedelta(minutes=1)
TARGET_CHARS, DETAIL_CHARS = 512, 2000
Told = str | int | None


class Act:
    """What a block does, for its entry. No secret belongs in target or detail."""

    def __init__(self, action: Action, target: str, detail: dict[str, Told]) -> None:
        self.action, self._target, self._detail, self._done = action, target, detail, True

    def on(self, target: str, **detail: Told) -> None:
        """On what, and what is particular of it, where that is known only when it is done."""
        self._target = target
        self._detail |= detail

    def nothing(self) -> None:
        """There was nothing to do: no entry is written."""
        self._done = False

    def _tell(self) -> None:
        if self._done:
            _tell(_entry(self.action, self._target, Outcome.DONE, self._detail))


class _Waiting:
    """An entry that is written at the end of the transaction.

    It stands in Django's list of what comes after the commit for as long as no savepoint has undone what it tells of.
    """

    def __init__(self, entry: Entry) -> None:
        self.entry = entry

    def __call__(self) -> None:
        """The transaction is committed: nothing to do for one entry."""


_waiting: ContextVar[list[_Waiting] | None] = ContextVar("audit_waiting", default=None)


@contextmanager
def act(action: Action, target: str = "", **detail: Told) -> Iterator[Act]:
    """The block and the entry of what it does are one transaction. Raises DatabaseError; then nothing was done."""
    with together():
        made = Act(action, target, detail)
        yield made
        made._tell()


@contextmanager
def together() -> Iterator[None]:
    """Several acts are one transaction, whose entries are written at its end."""
    if _waiting.get() is not None:
        with transaction.atomic():
            yield
        return
    entries: list[_Waiting] = []
    token = _waiting.set(entries)
    try:
        with transaction.atomic():
            yield
            _write(entries)
    finally:
        _waiting.reset(token)


def refuse(action: Action, target: str = "", **detail: Told) -> None:
    """Write that it was refused to whoever acts now. The same within a minute is one entry."""
    target = _clean(target)[:TARGET_CHARS]
    if not _refused_already(action, target):
        with together():
            _tell(_entry(action, target, Outcome.REFUSED, detail))


def _tell(entry: Entry) -> None:
    waiting, entries = _Waiting(entry), _waiting.get()
    assert entries is not None  # `together` is around it
    transaction.on_commit(waiting)
    entries.append(waiting)


def _write(entries: list[_Waiting]) -> None:
    standing = {id(one[1]) for one in connection.run_on_commit}
    if told := [one.entry for one in entries if id(one) in standing]:
        append(told)
        transaction.on_commit(ship_now)


def _entry(action: Action, target: str, outcome: Outcome, detail: dict[str, Told]) -> Entry:
    """By whoever acts now. Its place in the chain comes later."""
    who = current()
    return Entry(
        actor=_clean(who.name)[:150],
        kind=who.kind,
        token=who.token[:32],
        address=who.address[:64],
        request=who.request[:64],
        action=action.value,
        target=_clean(target)[:TARGET_CHARS],
        outcome=outcome.value,
        detail={name: _short(value) for name, value in detail.items() if value not in (None, "")},
        wording={name: form for name, value in detail.items() if (form := _form(value))} or None,
    )


def _refused_already(action: Action, target: str) -> bool:
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


def _form(value: Told) -> Stored | None:
    return stored(value, DETAIL_CHARS) if isinstance(value, Said) else None


def _short(value: Any) -> str | int:
    return value if isinstance(value, int) else _clean(str(value))[:DETAIL_CHARS]


def _clean(text: str) -> str:
    """A null character has no place in a database; half a surrogate pair has none in a hash."""
    return text.replace("\0", "�").encode("utf-8", "replace").decode()
