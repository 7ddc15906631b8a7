"""Does every card work, and who says so? The figures of the first lines, for the pages of validations and the overview."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from inventory.models import Cluster
from inventory.queries.free import cards_by_cluster
from inventory.queries.totals import PoolKey
from runtime.cached import once, shared
from validations import validity, validity_counts
from validations.validity_counts import Tally

#: A proof older than this is still one, and no longer fresh.
FRESH_DAYS = 14


@dataclass(frozen=True)
class Answer:
    """Cards present, by proof. recent: proven within FRESH_DAYS and not on another driver; stale: proven, longer ago.

    ran, seen: never proven, but work was done on them whose result was not checked, or their driver answered. never: nothing
    is known of them. unproven: these three together.
    unsure: how many of `recent` have a driver that the mirror does not know, so that "present driver" cannot be checked.
    """

    cards: int
    recent: int
    stale: int
    unsure: int
    changed: int
    failed: int
    ran: int
    seen: int
    never: int
    days: int = FRESH_DAYS

    @property
    def not_validated(self) -> int:
        return self.ran + self.seen + self.never

    @property
    def sure(self) -> int:
        """Proven of late, on a driver that is known to be the present one."""
        return self.recent - self.unsure


def answer(cluster_ids: Collection[int] | None = None) -> Answer:
    """Over these clusters, or all: four queries, whatever the number of cards."""
    ids = tuple(Cluster.objects.values_list("pk", flat=True)) if cluster_ids is None else tuple(cluster_ids)
    found = validity_counts.added(tallies(ids).values())
    cards = sum(sum(one.states.values()) for one in cards_by_cluster(tuple(sorted(ids))).values())
    states = found.of(cards)
    return Answer(
        cards=cards,
        recent=found.fresh,
        stale=states[validity.VALIDATED] - found.fresh,
        unsure=found.fresh - found.sure,
        changed=states[validity.DRIVER_CHANGED],
        failed=states[validity.FAILED],
        ran=states[validity.RAN],
        seen=states[validity.DETECTED],
        never=states[validity.NEVER],
    )


def tallies(cluster_ids: Collection[int]) -> dict[PoolKey, Tally]:
    """Pool → how many of its cards are in each state; a pool none of whose cards was ever tested is absent. One query."""
    ids = tuple(sorted(cluster_ids))
    return once(f"proofs {ids}", lambda: shared("proofs", ids, lambda: _tallies(ids)))


def _tallies(ids: tuple[int, ...]) -> dict[PoolKey, Tally]:
    return validity_counts.by_pool(ids, timezone.now() - timedelta(days=FRESH_DAYS))
