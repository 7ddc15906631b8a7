"""State of a watch now: its stored state, its lease, its last update and the database's clock.

A watcher that died cannot update its row, which would stay "in sync". Pages, commands, REST, metrics and findings therefore read
the state from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from inventory.models import Watch
from inventory.models.cluster import Kind, WatchState
from wording.said import restored

#: Without these three the figures of a cluster are not complete; DaemonSets only make units and components better known.
NEEDED_KINDS = (Kind.NODES, Kind.PODS, Kind.CARDS)
#: The age of the mirror is that of what comes from the cluster; the reconciler only reads the mirror.
AGEING_KINDS = (Kind.NODES, Kind.PODS)
#: Bookmarks come each minute: silence of a minute and a half means that something is wrong.
STALE_S = 90
#: A watcher that died is replaced within this; longer, and nobody is there to replace it.
TAKEOVER_S = 30


class State(models.TextChoices):
    """Best last. WAITING to RELISTING pass by themselves within seconds or with the list; the others do not."""

    REFUSED = "refused", "access denied"
    UNWATCHED = "unwatched", "not watched"
    UNREACHED = "never-reached", "unreachable"
    SILENT = "silent", "not reporting"
    BACKING_OFF = "backing-off", "retrying"
    WAITING = "waiting", "waiting for a watch worker"
    LISTING = "listing", "initial list"
    RELISTING = "relisting", "relisting"
    NOT_SERVED = "not-served", "API not available"
    NOT_NEEDED = "not-needed", "not needed"
    WATCHING = "watching", "in sync"


_RANKS = {state: rank for rank, state in enumerate(State)}


@dataclass(frozen=True)
class Condition:
    """state now, since when, and why. age_s: since the last update from the cluster; None: none came yet."""

    state: State
    since: datetime | None
    reason: str
    age_s: float | None

    @property
    def rank(self) -> int:
        """0 is the worst."""
        return _RANKS[self.state]


def watches() -> models.QuerySet[Watch]:
    """Watches, each with `asked_at`: the database's clock, by which its lease ends."""
    return Watch.objects.annotate(asked_at=Now())


def condition_of(watch: Watch, now: datetime | None = None) -> Condition:
    """now: when not given, the database's clock as `watches` has read it with the row."""
    moment = now or getattr(watch, "asked_at", None) or timezone.now()
    age_s = None if watch.last_event_at is None else max(0.0, (moment - watch.last_event_at).total_seconds())
    state, since, reason = _state(watch, moment, age_s)
    return Condition(state, since, reason, age_s)


def _state(watch: Watch, now: datetime, age_s: float | None) -> tuple[State, datetime | None, str]:
    if watch.rests(now):
        # Nobody holds its lease, as it should be.
        return State(watch.state), watch.state_since, _why(watch)
    if watch.expires_at is None or watch.expires_at <= now:
        return _without_watcher(watch, now)
    if watch.state == WatchState.REFUSED:
        return State.REFUSED, watch.trouble_since or watch.state_since, _why(watch)
    if watch.state == WatchState.BACKING_OFF:
        state = State.UNREACHED if watch.synced_at is None else State.BACKING_OFF
        return state, watch.trouble_since or watch.state_since, _why(watch)
    if watch.state == WatchState.WATCHING and watch.kind != Kind.CARDS and (age_s is None or age_s > STALE_S):
        return State.SILENT, watch.last_event_at or watch.state_since, _why(watch)
    if watch.relist_reason or watch.state == WatchState.LISTING:
        state = State.LISTING if watch.synced_at is None else State.RELISTING
        return state, watch.relist_requested_at or watch.state_since, _why_anew(watch) or _why(watch)
    return State(watch.state), watch.state_since, _why(watch)


def _why(watch: Watch) -> str:
    return restored(watch.reason, watch.reason_wording)


def _why_anew(watch: Watch) -> str:
    return restored(watch.relist_reason, watch.relist_wording)


def _without_watcher(watch: Watch, now: datetime) -> tuple[State, datetime | None, str]:
    """The lease has run out. For a moment that is a change of watchers; a refusal is said again with the next one's try."""
    lapsed = watch.expires_at or watch.state_since
    if lapsed is not None and now - lapsed <= timedelta(seconds=TAKEOVER_S):
        if watch.state == WatchState.REFUSED:
            return State.REFUSED, watch.trouble_since or watch.state_since, _why(watch)
        return State.WAITING, lapsed, _why_anew(watch)
    # What it last said may still be why: a kubeconfig that cannot be read, for one.
    return State.UNWATCHED, lapsed, _why(watch) if watch.state == WatchState.REFUSED else ""


class WatchNow(NamedTuple):
    """A watch as it is now."""

    watch: Watch
    condition: Condition


@dataclass(frozen=True)
class Sync:
    """How far the mirror of one cluster is. age_seconds: since the last update from the cluster, of the slowest kind.

    synced_at: when the first complete list of everything needed was there; None before.
    state: the least good one of its watches, since: from when on, reason: why.
    """

    synced_at: datetime | None
    last_event_at: datetime | None
    age_seconds: float | None
    state: State
    since: datetime | None
    reason: str
    watches: tuple[Watch, ...] = ()
    conditions: Mapping[str, Condition] = field(default_factory=dict)

    @property
    def synced(self) -> bool:
        return self.synced_at is not None

    @property
    def watches_now(self) -> list[WatchNow]:
        return [WatchNow(watch, self.conditions[watch.kind]) for watch in self.watches]


def _is_no_state(kind: str, state: State) -> bool:
    """What a cluster does not serve, nobody needs, or a role leaves out, is no state of its mirror; its page says what is missing."""
    return state in (State.NOT_SERVED, State.NOT_NEEDED) or (state == State.REFUSED and kind not in NEEDED_KINDS)


def sync_of(watches: Iterable[Watch], now: datetime | None = None) -> Sync:
    """The state of one cluster from its watches."""
    rows = {watch.kind: watch for watch in watches}
    conditions = {kind: condition_of(watch, now) for kind, watch in rows.items()}
    needed = [rows.get(kind) for kind in NEEDED_KINDS]
    firsts = [watch.synced_at if watch else None for watch in needed]
    lasts = [rows[kind].last_event_at if kind in rows else None for kind in AGEING_KINDS]
    ages = [conditions[kind].age_s if kind in rows else None for kind in AGEING_KINDS]
    told = [one for kind, one in conditions.items() if not _is_no_state(kind, one.state)]
    worst = min(told, key=lambda one: one.rank, default=None)
    return Sync(
        synced_at=None if None in firsts else max(first for first in firsts if first),
        last_event_at=None if None in lasts else min(last for last in lasts if last),
        age_seconds=None if None in ages else max(age for age in ages if age is not None),
        state=worst.state if worst else State.WAITING,
        since=worst.since if worst else None,
        reason=worst.reason if worst else "",
        watches=tuple(sorted(rows.values(), key=lambda watch: watch.kind)),
        conditions=conditions,
    )


_BAD = frozenset((State.REFUSED, State.UNWATCHED, State.UNREACHED, State.SILENT))


def in_step(sync: Sync) -> bool:
    """Whether the mirror of a cluster can be believed now: all has been listed, somebody watches, and there was a word lately."""
    if not sync.synced or sync.age_seconds is None or sync.age_seconds > STALE_S:
        return False
    states = {kind: one.state for kind, one in sync.conditions.items()}
    return not any(states.get(kind) in _BAD for kind in {*NEEDED_KINDS, *AGEING_KINDS})
