"""Before and after a change: counts, cards that lost, and measurements."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from resources.csv_export import harmless
from resources.declared import Shape, fact
from validations.policies.compare import Compared
from validations.policies.measured import CHANCE, LEAST_PERCENT, MOST_NAMED, TEST
from validations.spread import LEAST


class ComparedCounts(Shape):
    """Cards by state at the end of an hour."""

    cards: int
    valid: int
    due: int
    running: int
    failed: int
    excluded: int
    valid_ratio: Annotated[float | None, fact("Valid cards of all; null: no card was counted.")]


class ComparedLosses(Shape):
    """Cards that got worse, each counted once, by its worst loss."""

    failed: Annotated[int, fact("A pass before, a failure after.")]
    slower: Annotated[int, fact("A pass before, slower after by more than the suite allows.")]
    not_tested: Annotated[int, fact("A pass before, no result after.")]


class ComparedSide(Shape):
    """A driver, image, kernel, GPU Operator, MIG layout or day."""

    name: Annotated[str, fact("Version, image, layout or day.")]
    at: Annotated[datetime | None, fact("Start of the last hour of its counts; null: no card was counted.")]
    counts: Annotated[ComparedCounts | None, fact("Of the groups with both sides; null: there is none.")]


class ComparedGroup(Shape):
    """Cards of one cluster, pool and model."""

    cluster: str
    pool: str | None
    model: str | None
    before: Annotated[ComparedCounts | None, fact("null: no card of the group was counted.")]
    before_at: Annotated[datetime | None, fact("Start of the hour of these counts.")]
    after: Annotated[ComparedCounts | None, fact("null: no card of the group was counted.")]
    after_at: Annotated[datetime | None, fact("Start of the hour of these counts.")]
    lost: ComparedLosses


class ComparedCard(Shape):
    """A card that lost. The measurement is the one that fell most, of those that both runs have."""

    cluster: str
    node: str
    card: Annotated[str, fact("Key of the card.")]
    card_id: int
    pool: str | None
    model: str | None
    suite: str
    lost: Annotated[str, fact("failed, slower or not-tested.")]
    run_before: Annotated[str | None, fact("Run that passed; null: not in your scope.")]
    run_after: Annotated[str | None, fact("Run after; null: none, or not in your scope.")]
    measurement: Annotated[str | None, fact("null: unknown.")]
    unit: str | None
    value_before: float | None
    value_after: float | None
    slower_percent: Annotated[float | None, fact("By how much longer the same work takes.")]


class ComparedQuartiles(Shape):
    """In the unit of the measurement."""

    least: float
    p25: float
    median: float
    p75: float
    most: float


class ComparedOutlier(Shape):
    """A card that got slower than the other cards of its group did."""

    node: str
    card: Annotated[str, fact("Key of the card.")]
    card_id: int
    value_before: Annotated[float, fact(of="before")]
    value_after: Annotated[float, fact(of="after")]
    slower_percent: Annotated[float, fact("By how much longer the same work takes; below 0: faster.", of="percent")]


class ComparedMeasurement(Shape):
    """One measurement on the cards of one cluster, pool and model that passed the same work on both sides."""

    cluster: str
    pool: str | None
    model: str | None
    suite: str
    measurement: Annotated[str, fact(of="name")]
    unit: str
    cards: Annotated[int, fact("Cards with a value on both sides.")]
    cards_slower: Annotated[int, fact(of="slower")]
    cards_faster: Annotated[int, fact(of="faster")]
    before: ComparedQuartiles
    after: ComparedQuartiles
    result: Annotated[
        str,
        fact(
            f"slower, faster, same, or too-few (fewer than {LEAST} cards: not judged). slower and faster: a median of at least "
            f"{LEAST_PERCENT:g}%, and by chance at most {CHANCE:.0%} in any of the groups ({TEST}).",
            of="judged",
        ),
    ]
    slower_percent: Annotated[
        float | None,
        fact("Median: by how much longer the same work takes; below 0: faster. null: too few.", of="percent"),
    ]
    chance: Annotated[
        float | None,
        fact("Probability of so many cards on one side without a change, in any of the groups; null: too few."),
    ]
    outliers_count: int
    outliers: Annotated[list[ComparedOutlier], fact(f"The worst first, at most {MOST_NAMED}.")]


class PolicyComparison(Shape):
    """Before and after of a change."""

    by: Annotated[str, fact("driver, image, kernel, operator, mig-layout or day.")]
    before: ComparedSide
    after: ComparedSide
    lost: ComparedLosses
    groups_compared: Annotated[int, fact("Groups with both sides.")]
    groups: Annotated[
        list[ComparedGroup], fact("Drivers and days. Largest loss of valid cards first; groups with one side last.")
    ]
    measurements: Annotated[list[ComparedMeasurement], fact("What got slower first; too few cards last.")]
    cards: Annotated[list[ComparedCard], fact("Cards that got worse, the worst first, at most `limit`.")]
    next: Annotated[str | None, fact("`cursor` of the next cards; null: no more.")]


_QUARTILES = ("least", "p25", "median", "p75", "most")
HEAD = (
    *("cluster", "pool", "model", "suite", "measurement", "unit", "cards", "cards_slower", "cards_faster", "result"),
    *(
        "slower_percent",
        "chance",
        *(f"{side}_{name}" for side in ("before", "after") for name in _QUARTILES),
        "outliers",
    ),
)


def as_csv(found: Compared, names: Mapping[int, str]) -> str:
    """A line for each group of cards and measurement. names: of clusters."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEAD)
    for one in found.measurements:
        place = (names[one.cluster_id], one.pool, one.model, one.suite, one.name, one.unit)
        judged = (one.judged, *("" if value is None else f"{value:.6g}" for value in (one.percent, one.chance)))
        values = (f"{getattr(side, name):.6g}" for side in (one.before, one.after) for name in _QUARTILES)
        odd = "; ".join(f"{card.node} {card.card} {card.percent:+.1f}%" for card in one.outliers)
        cells = (*map(harmless, place), one.cards, one.slower, one.faster, *judged, *values, harmless(odd))
        writer.writerow(cells)
    return text.getvalue()
