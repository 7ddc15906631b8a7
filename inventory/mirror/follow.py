"""The loop of one watcher: messages of the reflector → transactions, until it is told to stop or loses its lease."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce, Now

from inventory.mirror import config_maps, software
from inventory.mirror.anew import RECREATED, recognise
from inventory.mirror.audit import Audit
from inventory.mirror.kinds import KINDS, made_by
from inventory.mirror.served import REST_S, Served
from inventory.mirror.store import Store
from inventory.models import Watch
from inventory.models.cluster import OPTIONAL_KINDS, Kind, WatchState
from kube.client import Client
from kube.identity import Identity
from kube.messages import Changes, Listed, ListEnd, Message, Relist, Trouble, Watching
from kube.reflector import FIRST_LIST, MOST_OBJECTS, Reflector
from runtime.connections import give_back
from runtime.leases.lease import Lease, LeaseLost
from wording.said import restored, sentence, stored

logger = logging.getLogger(__name__)

#: Events that arrive within this time are written together, the last state of each object.
COALESCE_S = 0.2
#: Most events of one transaction; what is beyond waits for the next.
BUNDLE = 2000


#: How long a watcher without events waits before it says that it works.
IDLE_S = 3.0
#: The number of kept objects is written after events, at most this often.
KEPT_S = 3.0
#: With `once`: how often to try a cluster that is not reached.
ONCE_TRIES = 4
#: A kind of which there are rows must be found missing this often, a minute apart, before they go: their cards go with them.
ABSENT_TRIES = 2


class NotListed(Exception):
    """The list could not be had; the text says why. refused: the cluster said no, or does not have it."""

    def __init__(self, reason: str, refused: bool) -> None:
        super().__init__(reason)
        self.refused = refused


class Follower:
    """Mirrors one kind of one cluster under a lease.

    wake: called after each commit that touched something, so that an reconciler in this process need not wait for its poll.
    """

    def __init__(
        self, lease: Lease, client: Client, stopped: threading.Event, wake: Callable[[], None] = lambda: None
    ) -> None:
        self.lease, self.stopped, self.wake = lease, stopped, wake
        self.kind = KINDS[lease.kind]
        row = Watch.objects.get(cluster_id=lease.cluster_id, kind=lease.kind)
        # Optional kinds may come late: the reconciler need not have waited for them, so they always mark.
        first = row.synced_at is None and lease.kind not in OPTIONAL_KINDS
        selections = config_maps.chosen(row.selection)
        self.store: Store[Any] = Store(lease.cluster_id, self.kind, not first, selections)
        self._synced = row.synced_at is not None and bool(row.resource_version) and row.made_by == made_by()
        self._listed_before = row.synced_at is not None
        self.reflector: Reflector[Any] = Reflector(
            client,
            self.kind.source(row.selection),
            self.kind.struct,
            row.resource_version if self._synced else "",
            settings.LIST_PAGE,
            reason=_why_listed(row),
            proving=True,
        )
        self._kept = row.objects_stored
        self.audit = Audit(self.store, self.reflector)
        #: How far the rows are; "" before the first list.
        self._version = row.resource_version if self._synced else ""
        self._state = (row.state, "")
        self._troubles = self._absences = 0
        #: Why there is nothing to be watched: then it ends.
        self._nothing = config_maps.NOTHING if lease.kind == Kind.CONFIGMAPS and not selections else ""
        if self.kind.needed is not None and not self.kind.needed(lease.cluster_id):
            self._nothing = self.kind.nothing
        self._served = Served(lease.cluster_id, client) if lease.kind == Kind.NODES else None
        self._list_reason: str | None = None
        self.written = 0

    def run(self, once: bool = False) -> None:
        """Until stopped, or there is nothing to be watched (with once, until a list is written).

        Raises LeaseLost and DatabaseError; with once, NotListed.
        """
        if once:
            self.reflector.resource_version = ""
        self.store.load()
        if self._nothing:
            return self._rest(WatchState.NOT_NEEDED, self._nothing)
        self.reflector.start()
        try:
            while not self.stopped.is_set():
                message = self.reflector.next(IDLE_S)
                if message is not None:
                    self._take(message)
                    if once and isinstance(message, ListEnd):
                        return
                    if once and isinstance(message, Trouble) and self._given_up(message):
                        raise NotListed(message.reason, message.refused or message.absent)
                    if isinstance(message, Trouble) and self._is_gone(message):
                        return self._rest(WatchState.NOT_SERVED, message.reason)
                if self._served is not None:
                    self._served.step()
                self._audit()
                self._renew()
                give_back()
        finally:
            self.reflector.stop()

    def _given_up(self, trouble: Trouble) -> bool:
        return trouble.refused or trouble.absent or self._troubles >= ONCE_TRIES

    def _take(self, message: Message[Any]) -> None:
        if isinstance(message, Changes):
            self._changes(message)
        elif isinstance(message, Listed):
            self._page(message)
        elif isinstance(message, Relist):
            self._list_reason = message.reason
            self.audit.abandon("a list started")
        elif isinstance(message, ListEnd):
            self._end(message)
        elif isinstance(message, Identity):
            self._identify(message)
        elif isinstance(message, Trouble):
            self._trouble(message)
        elif isinstance(message, Watching):
            state = WatchState.REFUSED if message.refused else WatchState.WATCHING
            self._progress(state, message.refused, next_try_at=None)

    def _trouble(self, message: Trouble) -> None:
        self._troubles += 1
        absent = message.absent and self.kind.kind in OPTIONAL_KINDS
        self._absences = self._absences + 1 if absent else 0
        without = WatchState.NOT_SERVED if absent else WatchState.BACKING_OFF
        state = WatchState.REFUSED if message.refused else without
        with transaction.atomic():
            self._progress(
                state,
                message.reason,
                next_try_at=Now() + timedelta(seconds=message.wait_s),
                trouble_since=Coalesce("trouble_since", Now()),
            )
            if self.kind.kind == Kind.DAEMONSETS and (message.refused or absent):
                config_maps.choose_nothing(self.lease.cluster_id)

    def _is_gone(self, trouble: Trouble) -> bool:
        """Whether the cluster does not serve the kind, for certain where it once did."""
        enough = ABSENT_TRIES if self.store.digests else 1
        return trouble.absent and self.kind.kind in OPTIONAL_KINDS and self._absences >= enough

    def _rest(self, state: WatchState, reason: str) -> None:
        """There is nothing to be watched: what is stored goes, and the lease is given back until there is."""
        with transaction.atomic():
            self._progress(
                state,
                reason,
                next_try_at=Now() + timedelta(seconds=REST_S) if state == WatchState.NOT_SERVED else None,
                trouble_since=None,
                resource_version="",
                synced_at=None,
                objects_seen=0,
                objects_stored=0,
                relist_reason="",
                relist_requested_at=None,
            )
            self.store.begin_replace()
            self.written += self.store.end_replace()
            software.known_now(self.lease.cluster_id, self.kind.kind)
        self.wake()

    def _identify(self, found: Identity) -> None:
        """Another cluster at the same address: every kind of it lists anew, this one too. Raises LeaseLost then."""
        self.lease.update()
        if recognise(self.lease.cluster_id, found):
            logger.warning("%s: %s", self.kind.kind, RECREATED)
            raise LeaseLost(RECREATED)

    def _begin(self, reason: str) -> None:
        relisted = {"relists": F("relists") + 1} if self._listed_before else {}
        # Without a resource version a watcher that dies in the middle of the list begins a new one.
        self._progress(WatchState.LISTING, reason, resource_version="", **relisted)
        self.store.begin_replace()

    def _page(self, message: Listed[Any]) -> None:
        with transaction.atomic():
            if self._list_reason is not None:  # the first page: a refused list changes nothing
                self._begin(self._list_reason)
                self._list_reason = None
            self.lease.update(objects_seen=self.store.seen)
            self.written += self.store.add_page(message.page.objects, message.page.unread)

    def _end(self, message: ListEnd) -> None:
        with transaction.atomic():
            self.lease.update(
                resource_version=message.resource_version,
                made_by=made_by(),
                synced_at=Now(),
                last_event_at=Now(),
                objects_seen=self.store.seen,
                objects_stored=len(self.store.digests),
                trouble_since=None,
                relist_reason="",
                relist_requested_at=None,
            )
            self.written += self.store.end_replace(message.refused)
            if not self._listed_before:
                software.known_now(self.lease.cluster_id, self.kind.kind)
            self._synced = self._listed_before = self.store.tells_reconciler = True
            self._chosen()
        self._version = message.resource_version
        self.wake()

    def _chosen(self) -> None:
        """In the transaction that wrote DaemonSets or Deployments: they say which ConfigMaps and Services are to be read."""
        if self.kind.kind == Kind.DAEMONSETS:
            config_maps.choose(self.lease.cluster_id)
        if self.kind.kind in (Kind.DAEMONSETS, Kind.DEPLOYMENTS):
            software.choose_services(self.lease.cluster_id)

    def _changes(self, message: Changes[Any]) -> None:
        """One bundle, with what else waits, or arrives within COALESCE_S of its first event."""
        events, version, kept = list(message.events), message.version, [message]
        until = message.received_at + COALESCE_S
        pending: Message[Any] | None = None
        while len(events) < BUNDLE and not self.stopped.is_set():
            pending = self.reflector.next(max(until - time.monotonic(), 0.0))
            if pending is None or not isinstance(pending, Changes):
                break
            events += pending.events
            kept.append(pending)  # with the room that counts its events
            message, pending = pending, None
            version = message.version or version
        with transaction.atomic():
            behind = timedelta(seconds=time.monotonic() - message.as_of)
            came = {"last_event_at": Now() - behind, "trouble_since": None}
            self.lease.update(**came, **({"resource_version": version} if version else {}))
            written = self.store.apply(
                (event.type, event.object, event.unread) for event in events if event.type != "BOOKMARK"
            )
            if written:
                self._chosen()
        self._version = version or self._version
        self.written += written
        if len(self.store.versions.known) > MOST_OBJECTS:
            self.reflector.relist(sentence("more than {number} objects received", number=MOST_OBJECTS))
        if written:
            self.wake()
        if pending is not None:
            self._take(pending)

    def _audit(self) -> None:
        """What an audit found is written, mended and said."""
        repair = self.audit.step(self._version) if self._version else None
        if repair is None:
            return
        with transaction.atomic():
            self.lease.update(
                audited_at=Now(),
                audit_seconds=repair.seconds,
                audit_differences=repair.count,
                audit_note=repair.note,
                audit_wording=stored(repair.note),
                audit_differences_total=F("audit_differences_total") + repair.count,
            )
            if repair.count:
                self.audit.forget_written()
                self.written += self.store.mend(repair.changes, repair.stray, repair.dirty)
                self._chosen()
        if repair.count:
            logger.warning("%s: the audit found %d differences: %s", self.kind.kind, repair.count, repair.note)
            self.wake()
        if repair.relist:
            self.reflector.relist(sentence("an audit found {count} differences", count=repair.count))

    def _progress(self, state: WatchState, reason: str, **fields: Any) -> None:
        if self._state != (state.value, reason):
            if self._state[0] != state.value:  # another reason for the same is no new beginning
                fields["state_since"] = Now()
            self._state = (state.value, reason)
            logger.info("%s: %s %s", self.kind.kind, state.label, reason)
        self.lease.update(state=state, reason=reason, reason_wording=stored(reason), **fields)

    def _renew(self) -> None:
        self.lease.tick()
        kept = len(self.store.digests)
        if kept != self._kept and time.monotonic() - self.lease.renewed_at > KEPT_S:
            self.lease.update(objects_stored=kept)
            self._kept = kept


def _why_listed(row: Watch) -> str:
    if row.synced_at is None:
        return FIRST_LIST
    asked = restored(row.relist_reason, row.relist_wording)
    return asked or sentence("written by another version, or an interrupted list")
