"""How many cards has a campaign really looked at? Cards are counted, each once, never runs.

Three queries, whatever the number of runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
from django.db.models import Count, Q, QuerySet

from validations import missed
from validations.models import SAYS, Campaign, CampaignTarget, LevelChoice, Run

#: cluster id, node, key of the card.
_Place = tuple[int, str, str]


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """The cards of a campaign.

    targets: cards that its places name. tested: cards that a run is known to have taken with a result (passed, warning or failed),
    also cards that nobody asked for. Of these: failed (a run on the card failed), validated (passed, result checked, none failed),
    inconclusive (the rest: passed on a lower level or with an image that proves nothing, or with a warning).
    other_image: of `inconclusive`, those on which nothing but images that are not the suite's own has run.
    not_tested: cards that were asked for and that no run with a result took so far. queued: of these, the ones that may still
    be. errored: of `not_tested`, those whose run errored. why: cause (`validations.missed`) → how many cards of `not_tested`.
    runs: runs that were made. unidentified: runs with a result of which it is not known which card they took.
    """

    targets: int
    tested: int
    validated: int
    inconclusive: int
    failed: int
    not_tested: int
    queued: int
    runs: int
    unidentified: int
    other_image: int = 0
    errored: int = 0
    why: dict[str, int] = {}


def coverage(campaign: Campaign) -> Coverage:
    runs = Run.objects.filter(campaign=campaign)
    tested = _tested(runs)
    targets = CampaignTarget.objects.filter(campaign=campaign).exclude(card_key="")
    asked = dict(_asked(targets, campaign.state))
    causes = Counter(why for place, why in asked.items() if place not in tested)
    failed = sum(1 for bad, *_ in tested.values() if bad)
    validated = sum(1 for bad, right, _ in tested.values() if right and not bad)
    said = Q(verdict__in=SAYS, card_key="")
    counted: dict[str, int] = runs.aggregate(runs=Count("pk"), unidentified=Count("pk", filter=said))
    return Coverage(
        targets=len(asked),
        tested=len(tested),
        validated=validated,
        inconclusive=len(tested) - failed - validated,
        failed=failed,
        not_tested=causes.total(),
        other_image=sum(1 for bad, _, own in tested.values() if not bad and not own),
        queued=sum(causes[cause] for cause in missed.OPEN | {missed.NOT_STARTED}),
        errored=causes[missed.ERRORED],
        why=missed.ordered(causes),
        **counted,
    )


def _tested(runs: QuerySet[Run]) -> dict[_Place, tuple[int, int, int]]:
    """Card → how many runs failed on it, how many proved it, how many ran the suite's own image."""
    rows = (
        runs.filter(verdict__in=SAYS).exclude(card_key="").order_by().values_list("cluster_id", "node_name", "card_key")
    )
    right = Q(verdict="passed", level=LevelChoice.CHECKED)
    counted = rows.annotate(
        bad=Count("pk", filter=Q(verdict="failed")),
        right=Count("pk", filter=right),
        own=Count("pk", filter=Q(own_image=True)),
    )
    return {(cluster, node, key): (bad, good, own) for cluster, node, key, bad, good, own in counted}


def _asked(targets: QuerySet[CampaignTarget], state: str) -> Iterator[tuple[_Place, str]]:
    """Places with a card, and the cause for which each would not be reached."""
    rows = targets.values_list("cluster_id", "node_name", "card_key", *missed.COLUMNS)
    for cluster, node, key, *columns in rows.iterator(5000):
        yield (cluster, node, key), missed.cause(missed.Place(*columns), state)
