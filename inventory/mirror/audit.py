"""The slow audit of one kind: does the mirror hold what the cluster has? Each hour, beside the watch, and never in its way.

First the rows are compared with what the watcher believes to have written: a row that somebody changed, deleted or added by hand is
found by its digest, made anew. Then a list of metadata alone is compared with the versions that list and events named.
That list is of a later moment than the watch, so nothing is judged before the watch has come as far, and what events touched
meanwhile is left out: it is being written. Few differences are mended one by one, many by listing anew.

A watcher that went on from a stored version has no versions to compare: its first audit lists anew.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings

from inventory.mirror.compared import Comparison, Difference, Wanted, compare, fetch
from inventory.mirror.mirrored_kind import Dirty, object_key
from inventory.mirror.store import Store
from inventory.mirror.values import stored_digest
from kube.client import ApiError, BadKubeconfig, Client
from kube.decode import NotAList, Unread
from kube.reflector import Reflector
from wording.said import cut, of_error, sentence, series

logger = logging.getLogger(__name__)

#: Rows of one look at the table, and how long the loop may be kept with them while no event waits.
ROWS, LOOK_S = 500, 0.2
#: More differences than this are mended by listing anew.
MOST = 100
#: An audit that could not be finished in this time is given up, and begun again after AGAIN_S.
PATIENCE_S, AGAIN_S = 600.0, 300.0
FIRST = "first audit of a watcher that continued from a stored version"

#: An event of the store: (type, object, unread).
Change = tuple[str, Any, Unread | None]


class Repair:
    """What an audit found. changes: to be applied by the store; stray: keys of rows that nobody wrote; relist: list anew instead."""

    def __init__(self, count: int, note: str, seconds: float) -> None:
        self.count, self.note, self.seconds = count, cut(note, 200), seconds
        self.changes: list[Change] = []
        self.stray: list[str] = []
        self.dirty: set[Dirty] = set()
        self.relist = False


class Audit:
    """One kind of one cluster. `step` in each turn of the follower's loop; what it returns is to be written in one transaction."""

    def __init__(self, store: Store[Any], reflector: Reflector[Any]) -> None:
        self.store, self.reflector = store, reflector
        self.client: Client = reflector.client
        #: Of the monotonic clock (s).
        self.due_at = time.monotonic() + settings.AUDIT_S * random.uniform(0.5, 1.0)
        self._work: Callable[[], Repair | None] | None = None
        self._thread: threading.Thread | None = None
        self._failure = ""
        self._asked_first = False
        self._differences: list[Difference] = []

    def step(self, version: str) -> Repair | None:
        """version: how far the rows are. None: nothing to be written now."""
        self._version = version
        until = time.monotonic() + LOOK_S
        while (repair := self._turn()) is None and self._is_at_rows and time.monotonic() < until:
            if not self.reflector.idle:
                return None
        return repair

    def abandon(self, why: str) -> None:
        """A list begins, or it takes too long: nothing of it is judged."""
        if self._work is not None:
            logger.info("%s: audit aborted: %s", self.store.kind.kind, why)
            self._end(AGAIN_S)

    @property
    def _is_at_rows(self) -> bool:
        return self._work == self._look_at_rows

    def _turn(self) -> Repair | None:
        now = time.monotonic()
        if self._work is None:
            if now >= self.due_at:
                self._begin(now)
            return None
        if self._failure:
            self.abandon(self._failure)
        elif now - self._started > PATIENCE_S:
            self.abandon("not finished in time")
        return self._work() if self._work is not None else None

    def _begin(self, now: float) -> None:
        versions = self.store.versions
        if not versions.complete:
            if not versions.begun and not self._asked_first:
                self._asked_first = True
                self.reflector.relist(FIRST)
            return
        self._started, self._failure, self._after = now, "", 0
        versions.watch_touches()
        #: Keys whose rows were not seen yet; rows that are not what was written: key → (namespace, name).
        self._absent = set(self.store.digests)
        self._altered: dict[str, Wanted] = {}
        self._stray: list[str] = []
        self._dirty: set[Dirty] = set()
        self._work = self._look_at_rows

    def _end(self, wait_s: float) -> None:
        self.store.versions.touched = None
        self._work, self._thread, self._failure = None, None, ""
        self._absent, self._altered, self._stray = set(), {}, []
        self.due_at = time.monotonic() + wait_s

    def _look_at_rows(self) -> None:
        kind = self.store.kind
        names, count = ("id", kind.key, "digest", *kind.dirty_by, *kind.columns), len(kind.dirty_by)
        found = list(self.store.rows_after(self._after, ROWS).values_list(*names))
        for pk, key, digest, *values in found:
            touched, values = values[:count], values[count:]
            self._after = pk
            self._absent.discard(key)
            believed = self.store.digests.get(key)
            if believed is None:
                self._stray.append(key)
            elif believed != digest or believed != stored_digest(values):
                row = dict(zip(kind.columns, values, strict=True))
                self._altered[key] = Wanted(row.get("namespace", ""), row["name"])
            else:
                continue
            self._dirty |= kind.dirty(*touched)
        if len(found) < ROWS:
            self._absent &= self.store.digests.keys()
            self._comparison = Comparison(kind.key, self.store.versions.known, set(self._absent))
            self._work = self._wait_for_list
            self._start(lambda: compare(self._comparison, self.client, self.reflector.places, settings.LIST_PAGE))

    def _start(self, work: Callable[[], None]) -> None:
        """In a thread of its own, so that an API server that is slow keeps no event waiting."""

        def run() -> None:
            failure = ""
            try:
                work()
            except (ApiError, NotAList, BadKubeconfig) as error:
                failure = of_error(error)
            except Exception as error:
                logger.exception("audit of %s", self.store.kind.kind)
                failure = f"{type(error).__name__}: {error}"
            if failure and threading.current_thread() is self._thread:  # not of an audit that was given up
                self._failure = failure

        self._thread = threading.Thread(target=run, name=f"audit {self.reflector.path}", daemon=True)
        self._thread.start()

    def _wait_for_list(self) -> Repair | None:
        if self._thread is None or self._thread.is_alive() or self._failure:
            return None
        if self._comparison.is_clean and not (self._altered or self._absent or self._stray):
            return self._done(Repair(0, "", self._took()))
        if not self._comparison.reached_by(self._version):
            return None
        self._differences = self._judged()
        if len(self._differences) > MOST:
            return self._done(self._many())
        self._objects: list[Change] = []
        self._work = self._wait_for_objects
        wanted = [one.wanted for one in self._differences if one.wanted is not None]
        self._start(lambda: self._objects.extend(fetch(wanted, self.client, self.reflector)))
        return None

    def _judged(self) -> list[Difference]:
        """What differs after all, each object once."""
        versions = self.store.versions
        found = {one.key: one for one in self._comparison.differences(versions.known, versions.touched or set())}
        for key in self._absent & self.store.digests.keys():
            found[key] = Difference(key, "missing in the synced data", self._comparison.named.get(key))
        for key, wanted in self._altered.items():
            if key in self.store.digests:
                found[key] = Difference(key, "changed in the synced data", wanted)
        for key in self._stray:
            if key not in self.store.digests:
                found[key] = Difference(key, "only in the synced data", None)
        for place in self._comparison.left_over(versions.known, versions.touched or set()):
            key = next((key for key in self.store.digests if hash(key) == place), f"#{place}")
            found[key] = Difference(key, "deleted from the cluster", None)
        return list(found.values())

    def _wait_for_objects(self) -> Repair | None:
        if self._thread is None or self._thread.is_alive() or self._failure:
            return None
        repair = Repair(len(self._differences), _words(self._differences), self._took())
        repair.changes, repair.dirty = self._objects, self._dirty
        named = {_key_of_change(self.store, change) for change in self._objects}
        for one in self._differences:
            if one.what == "only in the synced data" and one.key not in self.store.digests:
                repair.stray.append(one.key)
            elif one.key not in named and one.wanted is None:
                repair.changes.append(("DELETED", None, _nameless(self.store, one.key)))
        return self._done(repair)

    def _many(self) -> Repair:
        repair = Repair(len(self._differences), _words(self._differences), self._took())
        repair.stray = [one.key for one in self._differences if one.what == "only in the synced data"]
        repair.dirty, repair.relist = self._dirty, True
        return repair

    def forget_written(self) -> None:
        """What the table does not hold as believed is to be written whatever it was: called before the repair is applied."""
        for one in self._differences:
            if one.key in self.store.digests:
                self.store.digests[one.key] = -1
            if one.key.startswith("#"):
                self.store.versions.known.pop(int(one.key[1:]), None)

    def _done(self, repair: Repair) -> Repair:
        self._end(settings.AUDIT_S * random.uniform(0.9, 1.1))
        return repair

    def _took(self) -> float:
        return time.monotonic() - self._started


#: What can differ, in words.
_FOUND = {
    str(one): one
    for one in (
        sentence("missing in the synced data"),
        sentence("changed in the synced data"),
        sentence("only in the synced data"),
        sentence("deleted from the cluster"),
        sentence("not received"),
        sentence("received in another version"),
    )
}


def _words(differences: Iterable[Difference]) -> str:
    """ "3 changed in the table, 1 gone from the cluster"."""
    counts: dict[str, int] = {}
    for one in differences:
        counts[one.what] = counts.get(one.what, 0) + 1
    told = ((count, _FOUND.get(what, what)) for what, count in sorted(counts.items()))
    return series((sentence("{count} {what}", count=count, what=what) for count, what in told), ", ")


def _key_of_change(store: Store[Any], change: Change) -> str:
    _, thing, unread = change
    if thing is not None:
        return object_key(store.kind, thing)
    return (unread.name if store.kind.key == "name" else unread.uid) if unread else ""


def _nameless(store: Store[Any], key: str) -> Unread:
    return Unread("", key if store.kind.key == "name" else "", key, "")
