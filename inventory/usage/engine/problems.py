"""What can be wrong with what an exporter says, and how it is counted. Nothing is dropped without one of these codes.

Codes are stable; sentences are English for the developer and the keys of translation.
"""

from __future__ import annotations

import msgspec

#: How many of the cards that a problem is about are named.
NAMED_CARDS = 5
#: Longest text of an example that is kept.
EXAMPLE_CHARS = 200

#: Code → what it means. Those of a value that was refused stand in `CardReading.refused` as well.
CODES = {
    # of a page or an answer
    "not-an-answer": "What came is no answer of Prometheus.",
    "answer-too-large": "The answer has more series or labels than are read at once; ask for fewer.",
    "bad-series": "A series of the answer cannot be read.",
    "no-page": "What came is no page of the exporter that its pod is labelled as.",
    "bad-line": "A line of the page cannot be read.",
    "bad-value": "What stands where the value should be is no number.",
    "line-too-long": "A line of the page is longer than any that an exporter writes.",
    "label-too-long": "A label has a longer value than is read.",
    "too-many-labels": "A series has more labels than are read.",
    "too-many-samples": "The page has more samples than are read; the rest was left out.",
    "not-utf8": "A line of the page is not UTF-8.",
    "page-cut": "The page ends in the middle: its last line was left out, and more may be missing.",
    # of a sample
    "bad-time": "The time of a sample lies ahead of the clock, or is no time.",
    "card-unknown": "A sample names no card, or names it only within a node that is not known.",
    "too-many-cards": "There are more cards than are read; the rest was left out.",
    # of a value
    "not-a-number": "The exporter says NaN or infinity.",
    "sentinel": "The exporter says a number that stands for: not known, not supported, or failed.",
    "implausible": "The value is outside of what any card can have.",
    "more-than-total": "More memory is said to be used than the card has.",
    "unit-ambiguous": "The name has two units in different versions of the exporter, and nothing says which version it is.",
    "rows-disagree": "Two rows of one card, of the same moment, say different things. The higher value was taken.",
    # of cards, nodes, holders
    "node-unknown": "No label of the card's rows is the name of a node that is known.",
    "node-disagrees": "The rows of one card name two nodes.",
    "format-ambiguous": "Two exporters publish these names, and nothing says which of them it is.",
    "exporter-failed": "The exporter says that its last collection failed; its figures may be old.",
    "holders-hidden": "The exporter says that several pods hold the card, and not which.",
    "holder-unproved": "Rows of pods carry figures that are not proved to be the pods' own; they were taken for the card's.",
    "holder-gone": "A row of an older moment names another pod: it was taken for one that is gone.",
    "holder-not-a-user": "The pod of a row is an exporter, a reservation or a validation: it is not shown as a holder.",
    "too-many-holders": "A card has more holders, processes, error codes or watches than are kept.",
    "partly-summed": "The memory of a card's parts is not summed, since one part does not say it.",
}


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of thing that was wrong, over everything that was read at once.

    count: how often. example: a piece of what was read, cut. cards: keys of some of the cards that it is about.
    """

    code: str
    count: int
    example: str = ""
    cards: tuple[str, ...] = ()


class Told:
    """Counts problems, in bounded memory."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._examples: dict[str, str] = {}
        self._cards: dict[str, list[str]] = {}

    def tell(self, code: str, example: str = "", card: str = "", count: int = 1) -> None:
        self._counts[code] = self._counts.get(code, 0) + count
        if example and code not in self._examples:
            self._examples[code] = example[:EXAMPLE_CHARS]
        if card:
            named = self._cards.setdefault(code, [])
            if len(named) < NAMED_CARDS and card not in named:
                named.append(card)

    def problems(self) -> tuple[Problem, ...]:
        """All that was told, by code."""
        return tuple(
            Problem(
                code=code,
                count=count,
                example=self._examples.get(code, ""),
                cards=tuple(self._cards.get(code, ())),
            )
            for code, count in sorted(self._counts.items())
        )
