"""The look over failed pods and the activity of jobs of each cluster: the one writer of `FailureLook`, which `read` reads.

It counts the workloads of all cards over DAYS, which takes seconds on a large cluster: once per EVERY, not per page.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db.models import Case, Count, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Concat

from inventory.failures.gaps import LEAST_CARDS, Gap, Watched, gaps
from inventory.failures.rule import Suspicion, Use, suspicions
from inventory.history import packed
from inventory.models import Allocation, Cluster, FailureLook, HistoryMinute, PodFailure, Subject
from runtime.clock import database_now
from stacks.engine.base import WHOLE

#: How far back is looked, and how often.
DAYS, EVERY = 14, timedelta(hours=1)
#: Suspects that are kept of a cluster.
MOST = 100
#: Activity of jobs is compared over the last hours: one minute of each STEP.
HOURS, STEP = 2, timedelta(minutes=5)
_OOM = "OOMKilled"
#: A workload: an owner in a namespace; a bare pod is its own.
_WORKLOAD = Concat(
    *("namespace", Value("/"), "owner_kind", Value("/")),
    Case(When(owner_name="", then="pod_uid"), default="owner_name"),
    output_field=TextField(),
)
#: Of each pod that failed: exit code, reason, time.
_Failed = dict[str, list[tuple[int, str, datetime]]]


class Kept(msgspec.Struct, frozen=True):
    """A suspect as it is kept. card: its id; None: the whole node. oom: pods that exceeded their host memory."""

    card: int | None
    node: str
    found: Suspicion
    oom: int
    exit_codes: tuple[int, ...]


class KeptGap(msgspec.Struct, frozen=True):
    """A card whose activity is far from that of the other cards of its job, as it is kept. card: its id."""

    card: int
    node: str
    gap: Gap


def look(now: datetime | None = None) -> int:
    """Look over clusters whose last look is old. Returns how many. Called by the schedule."""
    now = now or database_now()
    due = Cluster.objects.exclude(failure_look__looked_at__gt=now - EVERY)
    done = 0
    for cluster in due.values_list("pk", flat=True):
        found = _of_cluster(cluster, now) | {"gaps": msgspec.to_builtins(_gaps(cluster, now))}
        FailureLook.objects.update_or_create(cluster_id=cluster, defaults=found)
        done += 1
    return done


def _of_cluster(cluster: int, now: datetime) -> dict[str, Any]:
    """Four queries at most, one where no pod failed."""
    since = now - timedelta(days=DAYS)
    rows = PodFailure.objects.filter(cluster_id=cluster, at__gte=since).order_by("at")
    failed: _Failed = defaultdict(list)
    for uid, code, reason, at in rows.values_list("pod_uid", "exit_code", "reason", "at"):
        failed[uid].append((code, reason, at))
    first = next(iter(failed.values()), None)
    if first is None:
        return {"looked_at": now, "days": 0, "failures": 0, "suspects": []}
    held = Allocation.objects.filter(
        Q(ended_at=None) | Q(ended_at__gte=since), cluster_id=cluster, card__removed_at=None, card__isnull=False
    ).order_by()
    uses = list(_uses(held.filter(pod_uid__in=rows.order_by().values("pod_uid")), failed))
    found = _shown(suspicions(_workloads(held), uses))[:MOST]
    return {
        "looked_at": now,
        "days": (now - first[0][2]).days + 1,
        "failures": len(failed),
        "suspects": [msgspec.to_builtins(_kept(one, uses, failed)) for one in found],
    }


def _gaps(cluster: int, now: datetime) -> list[KeptGap]:
    """The largest first. Two queries, one where no job has enough cards."""
    since = now - timedelta(hours=HOURS)
    held = Allocation.objects.filter(cluster_id=cluster, ended_at=None, mode=WHOLE, started_at__lte=since)
    held = held.filter(card__removed_at=None, card__isnull=False).exclude(owner_name="").order_by()
    jobs: dict[Any, dict[int, str]] = defaultdict(dict)
    columns = ("namespace", "owner_kind", "owner_name", "card__model", "card_id", "card__node_name")
    for *job, card, node in held.values_list(*columns).iterator(5000):
        jobs[tuple(job)][card] = node
    jobs = {job: cards for job, cards in jobs.items() if len(cards) >= LEAST_CARDS}
    samples = _activity(cluster, since, now) if jobs else {}
    watched = [
        Watched(job, (card, node), tuple(samples.get(card, ())))
        for job, cards in jobs.items()
        for card, node in cards.items()
    ]
    found = sorted(gaps(watched).items(), key=lambda one: (-abs(one[1].activity - one[1].others), one[0][1], one[0][0]))
    return [KeptGap(card, node, gap) for (card, node), gap in found[:MOST]]


def _activity(cluster: int, since: datetime, until: datetime) -> dict[int, list[float]]:
    """Card → its activity, where it is known. One query: of the minutes that are kept those of each STEP."""
    at = since.replace(minute=since.minute // 5 * 5, second=0, microsecond=0) + STEP
    times = [at + STEP * place for place in range((until - at) // STEP + 1)]
    found: dict[int, list[float]] = defaultdict(list)
    rows = HistoryMinute.objects.filter(cluster_id=cluster, subject=Subject.CARD, at__in=times).order_by("at")
    for data in rows.values_list("data", flat=True).iterator(100):
        try:
            minute = packed.unpack_minute(data)
        except packed.Unreadable:
            continue
        for key, value in zip(minute.keys, minute.columns.get(packed.ACTIVITY, ()), strict=False):
            if value is not None:
                found[int(key)].append(value / 1000)
    return found


def _workloads(held: QuerySet[Allocation]) -> dict[Any, dict[Any, int]]:
    """Group → subject → workloads. A subject: (node, id of the card), with None for the whole node. Two queries."""
    found: dict[Any, dict[Any, int]] = defaultdict(dict)
    count = Count(_WORKLOAD, distinct=True)
    of_cards = held.values_list("card__node_name", "card_id", "card__model").annotate(workloads=count)
    for node, card, model, workloads in of_cards:
        found["card", model][node, card] = workloads
    for node, model, workloads in held.values_list("card__node_name", "card__model").annotate(workloads=count):
        found["node", model][node, None] = workloads
    return found


def _uses(held: QuerySet[Allocation], failed: _Failed) -> Iterator[Use]:
    pods: dict[Any, set[str]] = defaultdict(set)
    columns = ("card__node_name", "card_id", "card__model", "namespace", "owner_kind", "owner_name", "pod_uid")
    for node, card, model, namespace, kind, name, uid in held.values_list(*columns).distinct():
        owner = namespace, kind, name or uid
        pods[(node, card), ("card", model), owner].add(uid)
        pods[(node, None), ("node", model), owner].add(uid)
    for (subject, group, owner), uids in pods.items():
        days = frozenset(at.date().isoformat() for uid in uids for _, _, at in failed[uid])
        yield Use(subject, group, owner, frozenset(uids), days)


def _shown(found: list[Suspicion]) -> list[Suspicion]:
    """A node with one suspect card is told of by its card alone."""
    cards = Counter(node for node, card in (one.subject for one in found) if card is not None)
    return [one for one in found if one.subject[1] is not None or cards[one.subject[0]] != 1]


def _kept(one: Suspicion, uses: list[Use], failed: _Failed) -> Kept:
    """By the last end of each pod that failed there."""
    ends = [failed[uid][-1] for uid in {uid for use in uses if use.subject == one.subject for uid in use.failed}]
    codes = Counter(code for code, _, _ in ends)
    return Kept(
        card=one.subject[1],
        node=one.subject[0],
        found=one,
        oom=sum(reason == _OOM for _, reason, _ in ends),
        exit_codes=tuple(code for code, _ in sorted(codes.items(), key=lambda each: (-each[1], each[0]))[:3]),
    )
