"""Do the background processes work? Each leaves a heartbeat in the database; one that is late is named, with what it means.

Times and ages are the database's, so hosts need not agree on the time. Knows no Celery.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db.models import Count, DurationField, ExpressionWrapper, F, Max, Min, Q
from django.db.models.functions import Now

from inventory.capacity import capacity
from inventory.models import UsageSource, Watch, Worker
from inventory.models.usage import LEASE_S as ROUND_LEASE_S
from runtime.leases.row import free
from runtime.models import Heartbeat, Role
from wording.said import sentence

#: Four were missed: with the time of one page it is told within 30 s, and a worker that is busy for a moment is not called dead.
LATE_S = 20.0
#: All threads of a usage worker may wait for a Prometheus; each renews its lease after an answer, which takes up to 35 s.
USAGE_LATE_S = 60.0
#: A source whose round should have begun so long ago is read by nobody.
OVERDUE = timedelta(minutes=2)
NAMES = {
    Role.SCHEDULE: sentence("schedule (beat)"),
    Role.TASKS: sentence("tasks worker (queue default)"),
    Role.WATCH: sentence("watch worker (queue watch)"),
    Role.USAGE: sentence("usage worker (queue usage)"),
    Role.LAUNCH: sentence("launch worker (queue launch)"),
}
MEANS = {
    Role.SCHEDULE: sentence("new tasks are not started, checked or replaced"),
    Role.TASKS: sentence("runs do not advance and ended watchers are not replaced"),
    Role.WATCH: sentence("data is not updated"),
    Role.USAGE: sentence("no metrics are collected"),
    Role.LAUNCH: sentence("runs stay queued"),
}
START = {
    Role.SCHEDULE: "gpudash schedule",
    Role.TASKS: "gpudash worker tasks",
    Role.WATCH: "gpudash worker watch",
    Role.USAGE: "gpudash worker usage",
    Role.LAUNCH: "gpudash worker launch",
}


class Pulse(msgspec.Struct, frozen=True):
    """One role. seen_at: its last heartbeat, None for never; age_s: by the database's clock. lack: what there is too little of.

    overdue_since: of the usage worker, since when a round should have begun that nobody has.
    """

    role: Role
    seen_at: datetime | None = None
    age_s: float | None = None
    lack: str = ""
    overdue_since: datetime | None = None

    @property
    def seen(self) -> bool:
        return self.age_s is not None and self.age_s <= late_s(self.role)

    @property
    def ok(self) -> bool:
        return self.seen and not self.lack

    @property
    def reason(self) -> str:
        """ "" for one that works, else what is wrong, what it means, and what to start."""
        if self.seen:
            return self.lack
        told = {
            "role": NAMES[self.role],
            "means": MEANS[self.role],
            "start": START[self.role],
            "overdue": self._overdue,
        }
        if self.age_s is None:
            return sentence("{role} not seen yet: {means}. Start it: `{start}`.{overdue}", **told)
        return sentence(
            "{role} not seen for {seconds} s: {means}. Start it: `{start}`.{overdue}",
            seconds=f"{self.age_s:.0f}",
            **told,
        )

    @property
    def _overdue(self) -> str:
        return (
            ""
            if self.overdue_since is None
            else sentence(" Exporters overdue since {moment} UTC.", moment=f"{self.overdue_since:%Y-%m-%d %H:%M:%S}")
        )


def late_s(role: Role) -> float:
    """A heartbeat that is older, in seconds, is missed."""
    return USAGE_LATE_S if role is Role.USAGE else LATE_S


def pulse_of(role: Role) -> Pulse:
    """Of one role, by its heartbeat alone. One query."""
    age = ExpressionWrapper(Now() - F("beat_at"), output_field=DurationField())
    return _pulse(role, Heartbeat.objects.filter(role=role).annotate(age=age).first())


def pulses() -> list[Pulse]:
    """All roles that should be there, in a few queries. Without a cluster nobody has to watch, without a source to measure."""
    age = ExpressionWrapper(Now() - F("beat_at"), output_field=DurationField())
    rows = {row.role: row for row in Heartbeat.objects.annotate(age=age)}
    made = {role: _pulse(role, rows.get(role)) for role in Role}
    for role, look in ((Role.WATCH, _watching), (Role.USAGE, _measuring)):
        found = look(made.pop(role))
        if found is not None:
            made[role] = found
    return list(made.values())


def _watching(pulse: Pulse) -> Pulse | None:
    """The watch workers, with what they have too little of; None when there is nothing to watch.

    `gpudash sync` states nothing about room.
    """
    renewed = _last_renewal()
    if renewed is None:
        return None
    found = _later(_later(pulse, *renewed), *_last_word())
    room = capacity()
    return msgspec.structs.replace(found, lack=room.lack) if room.workers else found


def _measuring(pulse: Pulse) -> Pulse | None:
    """The usage workers, with what they do not get to; None when there is nothing to measure. One query."""
    age = ExpressionWrapper(Now() - Max("expires_at"), output_field=DurationField())
    overdue = Q(due_at__lt=Now() - OVERDUE) & free()
    found = UsageSource.objects.aggregate(
        sources=Count("pk"),
        end=Max("expires_at"),
        age=age,
        overdue=Count("pk", filter=overdue),
        since=Min("due_at", filter=overdue),
    )
    if not found["sources"]:
        return None
    if found["end"] is not None:
        lease = timedelta(seconds=ROUND_LEASE_S)
        pulse = _later(pulse, found["end"] - lease, found["age"] + lease)
    lack = ""
    if found["overdue"]:
        lack = sentence(
            "exporters of {overdue} of {sources} clusters not read in time, overdue since {moment} UTC: start "
            "another usage worker ({start}), or check that Prometheus responds",
            overdue=found["overdue"],
            sources=found["sources"],
            moment=f"{found['since']:%Y-%m-%d %H:%M:%S}",
            start=START[Role.USAGE],
        )
    return msgspec.structs.replace(pulse, lack=lack, overdue_since=found["since"])


def _pulse(role: Role, row: Any) -> Pulse:
    """row: a Heartbeat with its `age`, None for never."""
    if row is None:
        return Pulse(role)
    age: timedelta = row.age
    return Pulse(role, row.beat_at, max(age.total_seconds(), 0.0))


def _last_renewal() -> tuple[datetime | None, timedelta | None] | None:
    """When a lease of any watcher was renewed last, and its age; None when there is nothing to watch."""
    age = ExpressionWrapper(Now() - Max("expires_at"), output_field=DurationField())
    found = Watch.objects.aggregate(watches=Count("pk"), end=Max("expires_at"), age=age)
    if not found["watches"]:
        return None
    lease = timedelta(seconds=settings.LEASE_S)
    return (found["end"] - lease, found["age"] + lease) if found["end"] else (None, None)


def _last_word() -> tuple[datetime | None, timedelta | None]:
    """When a worker last said how much room it has, also one that holds nothing yet, and how long ago."""
    age = ExpressionWrapper(Now() - Max("beat_at"), output_field=DurationField())
    found = Worker.objects.aggregate(at=Max("beat_at"), age=age)
    return found["at"], found["age"]


def _later(pulse: Pulse, seen_at: datetime | None, age: timedelta | None) -> Pulse:
    if seen_at is None or age is None:
        return pulse
    seconds = max(age.total_seconds(), 0.0)
    return Pulse(pulse.role, seen_at, seconds) if pulse.age_s is None or seconds < pulse.age_s else pulse
