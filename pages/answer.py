"""Does every card work, and who says so? The figures of the first lines, for the pages of validations and the overview."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from inventory import querysets as mirror
from inventory.models import Card
from inventory.shared import shared
from pages.frame import amounts
from validations import proof

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
    def unproven(self) -> int:
        return self.ran + self.seen + self.never

    @property
    def sure(self) -> int:
        """Proven of late, on a driver that is known to be the present one."""
        return self.recent - self.unsure

    @property
    def width(self) -> str:
        return amounts.width(self.recent, self.cards)

    @property
    def failed_width(self) -> str:
        return amounts.width(self.failed, self.cards)


def answer(cluster_ids: Collection[int] | None = None) -> Answer:
    """Over these clusters, or all: three queries, whatever the number of cards."""
    ids = None if cluster_ids is None else tuple(sorted(cluster_ids))
    return shared("proofs", ids, lambda: _answer(ids))


def _answer(cluster_ids: tuple[int, ...] | None) -> Answer:
    found = proof.tally_since(_cards(cluster_ids), timezone.now() - timedelta(days=FRESH_DAYS))
    return Answer(
        cards=found.cards,
        recent=found.fresh,
        stale=found.states[proof.PROVEN] - found.fresh,
        unsure=found.fresh - found.sure,
        changed=found.states[proof.DRIVER_CHANGED],
        failed=found.states[proof.FAILED],
        ran=found.states[proof.RAN],
        seen=found.states[proof.SEEN],
        never=found.states[proof.NEVER],
    )


def _cards(cluster_ids: Collection[int] | None) -> QuerySet[Card]:
    cards = mirror.cards_present()
    return cards if cluster_ids is None else cards.filter(cluster_id__in=cluster_ids)
