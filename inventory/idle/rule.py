"""The rule: when an allocation counts as idle. Pure; times are seconds since 1970.

It speaks of what was seen, over which time, by which sign. Where a card was not watched, or somebody else may be who works on it,
nothing is said: a card that works proves only that somebody works there, while one that does nothing proves it of all its pods.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from exporters.engine import measures

#: Signs that an exporter has averaged over the time between two scrapes. All others are of a moment: a short kernel may be missed.
AVERAGED = frozenset({measures.GRAPHICS_ACTIVE.name, measures.SM_ACTIVE.name})


class Card(msgspec.Struct, frozen=True):
    """What is known of a card's work. measure: by which sign; "" where none is collected now.

    watched_since: since when it is watched without a gap. active_at: when work was seen last in that time; None: never.
    """

    measure: str = ""
    watched_since: float | None = None
    active_at: float | None = None
    holders: int = 0


class Verdict(StrEnum):
    """The result for an allocation."""

    IDLE = "idle"
    WORKS = "works"
    #: Somebody works on its card, and there are others who may be it.
    SHARED = "shared"
    #: It was not watched for as long as the rule wants, or it has not held for so long.
    TOO_SHORT = "too-short"
    NOT_COLLECTED = "not-collected"
    #: Its pod does not run (yet), or is about to go.
    NOT_RUNNING = "not-running"


class Judged(msgspec.Struct, frozen=True):
    """since: no work was seen from then on. sure: the sign cannot have missed work that was there for the time between two looks."""

    verdict: Verdict
    since: float = 0.0
    sure: bool = False
    measure: str = ""


def judge(cards: Sequence[Card], held_since: float, now: float, window_s: float) -> Judged:
    """A pod that runs. cards: the one that it holds, or all of its node where it is not known which; at least `window_s` counts."""
    if not cards or any(not card.measure or card.watched_since is None for card in cards):
        return Judged(Verdict.NOT_COLLECTED)
    seen = [_seen(card) for card in cards]
    last = max(seen)
    if now - last < window_s:
        if any(card.active_at is not None and now - card.active_at < window_s for card in cards):
            alone = len(cards) == 1 and cards[0].holders == 1
            return Judged(Verdict.WORKS if alone else Verdict.SHARED)
        return Judged(Verdict.TOO_SHORT)
    since = max(last, held_since)
    if now - since < window_s:
        return Judged(Verdict.TOO_SHORT)
    worst = next((card for card in cards if card.measure not in AVERAGED), cards[0])
    return Judged(Verdict.IDLE, since, all(card.measure in AVERAGED for card in cards), worst.measure)


def _seen(card: Card) -> float:
    """The last moment of which it cannot be said that nothing ran."""
    return card.active_at if card.active_at is not None else card.watched_since or 0.0
