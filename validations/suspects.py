"""Suspect cards and nodes: what failed pods, activity within jobs and measurements of runs say against them. Never a verdict.

One ranking: those with most kinds of evidence first, then the least likely by chance, then the slowest. Counts are of all namespaces
of the clusters in scope and name no pod; measurements are of the runs in scope.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import NamedTuple

from inventory.failures.gaps import Gap
from inventory.failures.look import HOURS, MOST
from inventory.failures.read import Suspect as Row
from inventory.failures.read import findings_of
from inventory.failures.read import suspects as of_inventory
from inventory.failures.rule import Suspicion
from inventory.models import Card, Cluster
from validations.baseline import is_odd
from validations.models import LastResult, Measurement
from validations.spread import NORMAL, Spread
from wording.said import Said, sentence

#: The newest measurements that are looked at.
_MOST_READ = 5000


class Slow(NamedTuple):
    """A measurement of the last result of a suite on the card, an outlier of its pool and model. run: its id.

    deviations: how many robust standard deviations (MAD × 1.4826) worse than the median of `targets` targets; None: all are alike.
    """

    suite: str
    name: str
    unit: str
    value: float
    median: float
    targets: int
    deviations: float | None
    run: str

    @property
    def share(self) -> float:
        """How far from the median, as a share of it."""
        return abs(self.value - self.median) / abs(self.median) if self.median else 0.0


class Suspect(NamedTuple):
    """of: the card or node, its failed workloads and its gap. slow: the worst first."""

    of: Row
    slow: tuple[Slow, ...] = ()

    @property
    def evidence(self) -> list[Said]:
        """One sentence for each kind, with its counts."""
        found = [_failures(self.of.found)] if self.of.found else []
        found += [_slow(self.slow[0])] if self.slow else []
        return found + ([_gap(self.of.gap)] if self.of.gap else [])

    @property
    def rank(self) -> tuple[float | int | str, ...]:
        chance = self.of.found.chance if self.of.found else 1.0
        failed = self.of.found.failed if self.of.found else 0
        gap = abs(self.of.gap.activity - self.of.gap.others) if self.of.gap else 0.0
        slow = self.slow[0].share if self.slow else 0.0
        return (
            -len(self.evidence),
            chance,
            -failed,
            -slow,
            -gap,
            self.of.cluster,
            self.of.node,
            self.of.card.key if self.of.card else "",
        )


class Suspects(NamedTuple):
    """days: from the first recorded failure until the look. failures: pods that failed in that time.

    looked_at: of the oldest look; None: there was none yet.
    """

    rows: tuple[Suspect, ...]
    days: int
    failures: int
    looked_at: datetime | None


def suspects() -> Suspects:
    """Seven queries at most, whatever the size."""
    told, slow = of_inventory(), _measured()
    found: dict[tuple[int, str, str], Suspect] = {}
    for row in told.rows:
        place = row.cluster_id, row.node, row.card.key if row.card else ""
        found[place] = Suspect(row, tuple(slow.pop(place, ())))
    rows = sorted([*found.values(), *_others(slow)], key=lambda one: one.rank)
    return Suspects(tuple(rows[:MOST]), told.days, told.failures, told.looked_at)


def _measured() -> dict[tuple[int, str, str], list[Slow]]:
    """(cluster, node, key of a card) → outliers among the measurements of its last results. One query."""
    last = LastResult.objects.filter(verdict="warning").exclude(card_key="").values("run_id")
    rows = Measurement.objects.filter(run_id__in=last).exclude(pool_median=None).order_by("-id")
    columns = ("run__cluster_id", "run__node_name", "run__card_key", "run__suite", "name", "unit", "value")
    numbers = ("pool_median", "pool_spread", "pool_targets", "run_id")
    found: dict[tuple[int, str, str], list[Slow]] = defaultdict(list)
    for cluster, node, key, suite, name, unit, value, median, mad, targets, run in rows.values_list(*columns, *numbers)[
        :_MOST_READ
    ]:
        if is_odd(value, unit, Spread(median, mad, targets)):
            deviations = abs(value - median) / (NORMAL * mad) if mad else None
            found[cluster, node, key].append(Slow(suite, name, unit, value, median, targets, deviations, run))
    return {place: sorted(slow, key=lambda one: (-one.share, one.suite, one.name)) for place, slow in found.items()}


def _others(slow: dict[tuple[int, str, str], list[Slow]]) -> list[Suspect]:
    """Cards that only measurements speak against. Three queries; none without such a card."""
    if not slow:
        return []
    worst = sorted(slow.items(), key=lambda one: (-one[1][0].share, one[0]))[:MOST]
    places = dict(worst)
    names = dict(Cluster.objects.values_list("pk", "name"))
    cards = Card.objects.filter(node_name__in={node for _, node, _ in places}, removed_at=None)
    reported = findings_of({node for _, node, _ in places})
    return [
        Suspect(
            Row(card.cluster_id, names[card.cluster_id], card.node_name, card, findings=tuple(sorted(reported[place]))),
            tuple(places[place]),
        )
        for card in cards
        if (place := (card.cluster_id, card.node_name, card.key)) in places
    ]


def _failures(found: Suspicion) -> Said:
    return sentence(
        "{pods} of {of_pods} failed pods, of {namespaces} namespaces; {failed} of {workloads} workloads; by chance {chance}",
        pods=found.pods,
        of_pods=found.of_pods,
        failed=found.failed,
        workloads=found.workloads,
        namespaces=found.namespaces,
        chance="< 0.01%" if found.chance < 0.0001 else f"{found.chance:.2%}",
    )


def _slow(one: Slow) -> Said:
    amounts: dict[str, str | int] = {
        "suite": one.suite,
        "name": one.name,
        "value": f"{one.value:.4g}",
        "unit": one.unit,
        "median": f"{one.median:.4g}",
        "targets": one.targets,
    }
    if one.deviations is None:
        return sentence("{suite}: {name} {value} {unit}; median of {targets} others {median} {unit}", **amounts)
    return sentence(
        "{suite}: {name} {value} {unit}; median of {targets} others {median} {unit}; {z} deviations worse",
        z=f"{one.deviations:.1f}",
        **amounts,
    )


def _gap(one: Gap) -> Said:
    return sentence(
        "{activity} active in {hours} h; {cards} other cards of its job {others}",
        activity=f"{one.activity:.0%}",
        cards=one.cards,
        others=f"{one.others:.0%}",
        hours=HOURS,
    )
