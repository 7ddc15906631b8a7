"""Suspect cards and nodes as the last look found them. Counts are of all namespaces of the clusters in scope; no pod is named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import msgspec

from inventory.failures.gaps import Gap
from inventory.failures.look import Kept, KeptGap
from inventory.failures.rule import Suspicion
from inventory.models import Card, FailureLook, Finding
from kube.decoders import converted

S = TypeVar("S")


class Suspect(NamedTuple):
    """A card, or a whole node (card None), with what speaks against it. found: its failed workloads; gap: in the activity of its job.

    oom: of the failed pods those that exceeded their host memory. exit_codes: the most frequent.

    findings: codes of what is reported of it now.
    """

    cluster_id: int
    cluster: str
    node: str
    card: Card | None
    found: Suspicion | None = None
    oom: int = 0
    exit_codes: tuple[int, ...] = ()
    gap: Gap | None = None
    findings: tuple[str, ...] = ()


class Suspects(NamedTuple):
    """days: from the first recorded failure until the look. failures: pods that failed in that time.

    looked_at: of the oldest look; None: there was none yet.
    """

    rows: tuple[Suspect, ...]
    days: int
    failures: int
    looked_at: datetime | None


def suspects() -> Suspects:
    """In no order. Three queries at most, whatever the size."""
    looks = list(FailureLook.objects.select_related("cluster").order_by("cluster__name"))
    found: dict[tuple[int, str, int | None], Suspect] = {}
    for look in looks:
        place = look.cluster_id, look.cluster.name
        for one in _kept(look.suspects, list[Kept]):
            row = Suspect(*place, one.node, None, one.found, one.oom, one.exit_codes)
            found[look.cluster_id, one.node, one.card] = row
        for other in _kept(look.gaps, list[KeptGap]):
            key = look.cluster_id, other.node, other.card
            found[key] = found.get(key, Suspect(*place, other.node, None))._replace(gap=other.gap)
    return Suspects(
        tuple(_with_cards(found)),
        max((look.days for look in looks), default=0),
        sum(look.failures for look in looks),
        min((look.looked_at for look in looks), default=None),
    )


def _with_cards(found: Mapping[tuple[int, str, int | None], Suspect]) -> Iterator[Suspect]:
    """Cards that are there; of a node that is suspect itself too, what is reported of the node."""
    ids = [card for _, _, card in found if card is not None]
    cards = {card.pk: card for card in Card.objects.filter(pk__in=ids, removed_at=None)} if ids else {}
    reported = findings_of({one.node for one in found.values()})
    for (cluster, node, pk), one in found.items():
        card = None if pk is None else cards.get(pk)
        if pk is None or card is not None:
            yield one._replace(card=card, findings=tuple(sorted(reported[cluster, node, card.key if card else ""])))


def _kept(stored: Any, kind: type[list[S]]) -> list[S]:
    try:
        return list(converted(stored, kind))
    except msgspec.ValidationError:  # another version's, until the next look
        return []


def findings_of(names: Iterable[str]) -> dict[tuple[int, str, str], set[str]]:
    """(cluster, node, key of a card or "") → codes of findings of now."""
    told: dict[tuple[int, str, str], set[str]] = defaultdict(set)
    if names:
        now = Finding.objects.filter(ended_at=None, node_name__in=names)
        for cluster, node, key, code in now.values_list("cluster_id", "node_name", "card_key", "code"):
            told[cluster, node, key].add(code)
    return told
