"""Which cards have a failure that is confirmed and that nothing has taken back. The same rows of runs give the same answer.

A failure is confirmed by a policy, or by two failed runs of one suite on the card since its last pass. Runs that errored or were
skipped say nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from inventory.models import Card, Node
from runtime.clock import database_now
from validations.models import LastResult, Policy, PolicyCard, PolicyState, Run, VerdictChoice
from validations.policies.standing import CONFIRMED, FAILED
from validations.suites.engine.base import LEVELS

#: How far back the failures of a card count that has never passed.
COUNTED = timedelta(days=90)
#: (cluster id, node, key of the card)
Place = tuple[int, str, str]


class Failure(NamedTuple):
    """run: the newest one that failed. times: how many failed since the last pass. policy: that confirmed it, None for none."""

    place: Place
    run: Run
    times: int
    policy: Policy | None
    uuid: str


def confirmed(cluster_id: int | None = None) -> list[Failure]:
    """Of all cards that are there, by run. Some queries, however many cards there are."""
    rows = LastResult.objects.filter(said_verdict=VerdictChoice.FAILED).exclude(card_key="")
    if cluster_id is not None:
        rows = rows.filter(cluster_id=cluster_id)
    last = [row for row in rows.select_related("said", "said__cluster") if row.said is not None]
    standing = [row.said for row in last if row.said is not None]
    if not standing:
        return []
    long_ago = database_now() - COUNTED
    times = _times(standing, min(row.good_at or long_ago for row in last))
    policies, cards, machines = _policies(standing), _cards(standing), _machines(standing)
    found = []
    for run in standing:
        place = (run.cluster_id, run.node_name, run.card_key)
        policy = policies.get((*place, run.suite))
        if place not in cards or not (policy or times[run.pk] >= CONFIRMED):
            continue
        machine = machines.get(place[:2])
        if machine is None or (run.machine_id and machine and run.machine_id != machine):
            continue  # the node is gone, or it is another machine now
        found.append(Failure(place, run, max(times[run.pk], 1), policy, cards[place]))
    return sorted(found, key=lambda one: one.run.pk)


def level_of(run: Run) -> str:
    """That a pass must have at least to take the failure back; the highest where it is not known."""
    return run.level_possible if run.level_possible in LEVELS and run.level_possible != LEVELS[0] else LEVELS[-1]


def at_least(level: str) -> list[str]:
    return list(LEVELS[LEVELS.index(level) :]) if level in LEVELS else [LEVELS[-1]]


def _times(standing: Iterable[Run], since: datetime) -> dict[str, int]:
    """Run → failed runs of its suite on its card, from it back to the last pass of its level. since: no run before is looked at."""
    by_place = {(run.cluster_id, run.node_name, run.card_key, run.suite): run for run in standing}
    rows = Run.objects.filter(
        verdict__in=(VerdictChoice.FAILED, VerdictChoice.PASSED),
        cluster_id__in={place[0] for place in by_place},
        node_name__in={place[1] for place in by_place},
        card_key__in={place[2] for place in by_place},
        suite__in={place[3] for place in by_place},
        ended_at__gte=since,
    ).order_by("-ended_at", "-pk")
    found: dict[str, int] = defaultdict(int)
    over: set[tuple[int, str, str, str]] = set()
    columns = ("cluster_id", "node_name", "card_key", "suite", "verdict", "level")
    for *named, verdict, level in rows.values_list(*columns).iterator(2000):
        place = (named[0], named[1], named[2], named[3])
        run = by_place.get(place)
        if run is None or place in over:
            continue
        if verdict == VerdictChoice.FAILED:
            found[run.pk] += 1
        elif level in at_least(level_of(run)):
            over.add(place)
    return found


def _policies(standing: Iterable[Run]) -> dict[tuple[int, str, str, str], Policy]:
    """Those that confirmed the failure; of several the one that takes cards out."""
    rows = PolicyCard.objects.filter(
        state=PolicyState.FAILED, reason=FAILED, node_name__in={run.node_name for run in standing}
    ).select_related("policy")
    return {
        (row.cluster_id, row.node_name, row.card_key, row.policy.suite): row.policy
        for row in sorted(rows, key=lambda row: (row.policy.takes_out, row.policy_id))
    }


def _cards(standing: Iterable[Run]) -> dict[Place, str]:
    rows = Card.objects.filter(node_name__in={run.node_name for run in standing}, removed_at=None)
    return {
        (cluster, node, key): uuid
        for cluster, node, key, uuid in rows.values_list("cluster_id", "node_name", "key", "uuid")
    }


def _machines(standing: Iterable[Run]) -> dict[tuple[int, str], str]:
    rows = Node.objects.filter(name__in={run.node_name for run in standing})
    return {(cluster, name): machine for cluster, name, machine in rows.values_list("cluster_id", "name", "machine_id")}
