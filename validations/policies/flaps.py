"""Cards that fail and pass again and again: a finding of their cluster, with the counts. A single verdict does not show them."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from django.db.models import Count, Q

from inventory import stated
from inventory.catalogue import CATALOGUE
from inventory.models import Cluster, Finding
from validations.declared import FLAPS
from validations.ids import new_id
from validations.models import Run
from validations.suites import registry
from wording.said import Said, sentence, series

#: How far back runs count, and how often a card must have passed after a failure in that time.
SPAN = timedelta(days=14)
LEAST = 2
#: Cards that are named in one finding.
NAMED = 5


class Flap(NamedTuple):
    """times: how often it passed after a failure."""

    node: str
    card: str
    failed: int
    runs: int
    times: int


def find(at: datetime) -> dict[int, list[Flap]]:
    """Cluster id → its cards that fail and pass again, the most often first. Two queries."""
    recent = Run.objects.filter(suite__in=list(registry()), pk__gte=new_id(at - SPAN)).exclude(card_key="").order_by()
    failed = recent.filter(verdict="failed").values("cluster_id", "node_name", "card_key").annotate(times=Count("pk"))
    suspects = {
        (one["cluster_id"], one["node_name"], one["card_key"]) for one in failed.filter(times__gte=LEAST).iterator(2000)
    }
    if not suspects:
        return {}
    mine = recent.filter(Q(verdict="passed") | Q(verdict="failed"), node_name__in={node for _, node, _ in suspects})
    verdicts: dict[tuple[int, str, str], list[str]] = defaultdict(list)
    columns = ("cluster_id", "node_name", "card_key", "verdict")
    for cluster, node, card, verdict in mine.order_by("ended_at", "pk").values_list(*columns).iterator(2000):
        if (cluster, node, card) in suspects:
            verdicts[cluster, node, card].append(verdict or "")
    found: dict[int, list[Flap]] = defaultdict(list)
    for (cluster, node, card), said in verdicts.items():
        times = sum(1 for before, after in pairwise(said) if (before, after) == ("failed", "passed"))
        if times >= LEAST:
            found[cluster].append(Flap(node, card, said.count("failed"), len(said), times))
    return {
        cluster: sorted(cards, key=lambda one: (-one.times, one.node, one.card)) for cluster, cards in found.items()
    }


def tell(at: datetime) -> None:
    """Write the findings, and end those that are over."""
    found = find(at)
    Finding.objects.filter(code=FLAPS, ended_at=None).exclude(cluster_id__in=found).update(ended_at=at)
    for cluster in Cluster.objects.filter(pk__in=found).order_by("pk"):
        columns = stated.columns(_words(found[cluster.pk]))
        where = {"cluster": cluster, "code": FLAPS, "node_name": "", "card_key": "", "pod": "", "ended_at": None}
        made = {"severity": CATALOGUE[FLAPS].severity, "first_seen_at": at, **columns}
        row, new = Finding.objects.get_or_create(**where, defaults=made)
        if not new and row.text != columns["text"]:
            Finding.objects.filter(pk=row.pk).update(**columns)


def _words(cards: list[Flap]) -> Said:
    named = [
        sentence(
            "{node} card {card}: {failed} of {runs} runs failed.",
            node=one.node,
            card=one.card,
            failed=one.failed,
            runs=one.runs,
        )
        for one in cards[:NAMED]
    ]
    head = sentence(
        "Cards that failed and passed repeatedly within {days} days: {number}.", number=len(cards), days=SPAN.days
    )
    return series([head, *named])
