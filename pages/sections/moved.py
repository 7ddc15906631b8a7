"""By how much measurements moved from before to after: a line for each group of cards, with both distributions drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.frame import amounts
from pages.frame.labels import pool_words
from pages.frame.links import card_url
from pages.rows.runs import card_short
from pages.sections.measured import figure
from pages.words.names import plain_html
from pages.words.runs import Shown, suite_title
from validations.policies.measured import FASTER, SAME, SLOWER, TOO_FEW, Moved, Quartiles

_LOOKS = {
    SLOWER: ("warning", "!", gettext_lazy("slower")),
    FASTER: ("good", "✓", gettext_lazy("faster")),
    SAME: ("none", "·", gettext_lazy("no shift")),
    TOO_FEW: ("none", "·", gettext_lazy("too few cards")),
}
#: Outliers that a line names.
_NAMED = 3


@dataclass(frozen=True)
class Box:
    """A distribution from left to right, 0 to 100. words: its numbers."""

    least: str
    p25: str
    median: str
    p75: str
    most: str
    width: str
    words: str


@dataclass(frozen=True)
class MovedLine:
    """A measurement of a group. shift: "" where it is not judged. outliers: (name, address, by how much)."""

    cluster: str
    suite: str
    name: str
    unit: str
    pool: str
    model: str
    cards: str
    before: str
    after: str
    boxes: tuple[Box, Box]
    shift: str
    counts: str
    shown: Shown
    outliers: list[tuple[str, str, str]]
    more: int


def named(found: list[Moved]) -> list[int]:
    """The cards that `lines` names."""
    return [odd.card_id for one in found for odd in one.outliers[:_NAMED]]


def lines(found: list[Moved], clusters: Mapping[int, str], cards: Mapping[int, str]) -> list[MovedLine]:
    """clusters: their names; those of several clusters have them. cards: names of the cards of `named`."""
    several = len({one.cluster_id for one in found}) > 1
    return [_line(one, clusters[one.cluster_id] if several else "", cards) for one in found]


def _line(one: Moved, cluster: str, cards: Mapping[int, str]) -> MovedLine:
    level, sign, text = _LOOKS[one.judged]
    return MovedLine(
        cluster=cluster,
        suite=suite_title(one.suite),
        name=plain_html(one.name),
        unit=one.unit,
        pool=pool_words(one.pool),
        model=one.model,
        cards=amounts.count(one.cards),
        before=figure(one.before.median),
        after=figure(one.after.median),
        boxes=_boxes(one),
        shift="" if one.percent is None else _signed(one.percent, 1),
        counts=_counts(one),
        shown=Shown(level, sign, str(text)),
        outliers=[
            (
                f"{odd.node} {cards.get(odd.card_id) or card_short(odd.card)}",
                card_url(odd.card_id),
                _signed(odd.percent, 0),
            )
            for odd in one.outliers[:_NAMED]
        ],
        more=max(0, one.outliers_count - _NAMED),
    )


def _counts(one: Moved) -> str:
    """ "39 of 41 cards slower, by chance 0.01%"."""
    if one.chance is None:
        return ""
    number = max(one.slower, one.faster)
    told = {"n": amounts.count(number), "all": amounts.count(one.cards), "chance": _chance(one.chance)}
    if one.slower >= one.faster:
        return _("%(n)s of %(all)s cards slower, by chance %(chance)s") % told
    return _("%(n)s of %(all)s cards faster, by chance %(chance)s") % told


def _chance(value: float) -> str:
    return "< 0.01%" if value < 0.0001 else f"{value:.2%}"


def _signed(percent: float, places: int) -> str:
    return f"{percent:+.{places}f}%".replace("-", "−")


def _boxes(one: Moved) -> tuple[Box, Box]:
    """On one scale."""
    low, high = min(one.before.least, one.after.least), max(one.before.most, one.after.most)
    return _box(one.before, low, high), _box(one.after, low, high)


def _box(of: Quartiles, low: float, high: float) -> Box:
    def x(value: float) -> float:
        return (value - low) / (high - low) * 100 if high > low else 50.0

    return Box(
        least=f"{x(of.least):.2f}",
        p25=f"{x(of.p25):.2f}",
        median=f"{x(of.median):.2f}",
        p75=f"{x(of.p75):.2f}",
        most=f"{x(of.most):.2f}",
        width=f"{x(of.p75) - x(of.p25):.2f}",
        words=" – ".join(map(figure, (of.least, of.p25, of.median, of.p75, of.most))),
    )
