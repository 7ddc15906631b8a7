"""Why was a card of a campaign not reached? One code for each place, so that cards can be counted by cause. Pure: asks no table."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from validations.models import ACTIVE, SAYS, CampaignState
from validations.suites import reasons

#: Causes besides the reason codes of the suites (`not-ready`, `taint`, `no-free` …), in the order in which they are told.
ERRORED, CANCELLED, NOTHING = "errored", "cancelled", "skipped"
ANOTHER_CARD, CARD_UNKNOWN, NOT_APPLICABLE = "another-card", "card-unknown", "not-applicable"
NOT_STARTED, ACTIVE_RUN, QUEUED = "not-started", "active", "queued"
CAUSES = (ERRORED, CANCELLED, NOTHING, ANOTHER_CARD, CARD_UNKNOWN, NOT_APPLICABLE, NOT_STARTED, ACTIVE_RUN, QUEUED)
#: Causes of cards that may still be reached.
OPEN = frozenset((ACTIVE_RUN, QUEUED))
#: How a refusal ends: "… is not ready. (not-ready)".
_CODE = re.compile(r"\(([a-z][a-z-]*)\)\s*$")
#: The columns of a place that `cause` reads.
COLUMNS = ("run__state", "run__verdict", "run__card_key", "run__ending", "skipped", "not_tested", "tried__card_key")


class Place(msgspec.Struct, frozen=True):
    """`COLUMNS` of a place, in their order. None where it has no run."""

    state: str | None
    verdict: str | None
    tested_card: str | None
    ending: Any
    skipped: str
    not_tested: str
    tried_card: str | None


def cause(place: Place, campaign_state: str) -> str:
    """Why no run with a result took the card of this place; for one that is reached it says nothing of use."""
    if place.state is not None:
        return _of_run(place)
    if place.not_tested:
        return ANOTHER_CARD if place.tried_card else CARD_UNKNOWN
    if place.skipped:
        found = _CODE.search(place.skipped)
        return found[1] if found and found[1] in reasons() else NOT_APPLICABLE
    return QUEUED if campaign_state in (CampaignState.RUNNING, CampaignState.PAUSED) else NOT_STARTED


def _of_run(place: Place) -> str:
    if place.state in ACTIVE:
        return ACTIVE_RUN
    if place.verdict in SAYS:
        return ANOTHER_CARD if place.tested_card else CARD_UNKNOWN
    if isinstance(place.ending, list) and place.ending[:1] == ["cancelled"]:
        return CANCELLED
    return ERRORED if place.verdict == "errored" else NOTHING


def ordered(counts: dict[str, int]) -> dict[str, int]:
    """Causes that stay first, the most frequent before the others; then those that may pass by themselves."""
    return dict(sorted(counts.items(), key=lambda one: (one[0] in OPEN, -one[1], one[0])))
