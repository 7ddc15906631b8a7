"""What can be wrong with what an exporter says, and how it is counted. Nothing is dropped without one of these codes.

Codes are stable; sentences are English for the developer and the keys of translation.
"""

from __future__ import annotations

import msgspec

from wording.said import gettext_noop

#: How many of the cards that a problem is about are named.
NAMED_CARDS = 5
#: Longest text of an example that is kept.
EXAMPLE_CHARS = 200

#: Code → what it means. Those of a value that was refused stand in `CardReading.refused` as well.
CODES = {
    # of a page or an answer
    "not-an-answer": gettext_noop("The response is not from Prometheus."),
    "answer-too-large": gettext_noop("The response has too many series or labels. Add matchers to select fewer."),
    "bad-series": gettext_noop("Invalid series in the response."),
    "no-page": gettext_noop("The metrics page does not belong to the exporter that the pod labels name."),
    "bad-line": gettext_noop("Invalid line on the metrics page."),
    "bad-value": gettext_noop("The value is not a number."),
    "line-too-long": gettext_noop("A line of the metrics page is too long."),
    "label-too-long": gettext_noop("A label value is too long."),
    "too-many-labels": gettext_noop("A series has too many labels."),
    "too-many-samples": gettext_noop("The metrics page has too many samples. The rest is ignored."),
    "not-utf8": gettext_noop("A line of the metrics page is not UTF-8."),
    "page-cut": gettext_noop("The metrics page is truncated. Its last line is ignored, and more lines may be missing."),
    # of a sample
    "bad-time": gettext_noop("A sample has an invalid time or a time in the future."),
    "card-unknown": gettext_noop("A sample has no card label, or its node is unknown."),
    "too-many-cards": gettext_noop("Too many cards. The rest is ignored."),
    # of a value
    "not-a-number": gettext_noop("The exporter reports NaN or infinity."),
    "sentinel": gettext_noop("The exporter reports a code for unknown, not supported or failed instead of a value."),
    "implausible": gettext_noop("The value is out of range for any card."),
    "more-than-total": gettext_noop("The used memory exceeds the memory of the card."),
    "unit-ambiguous": gettext_noop(
        "The unit of the metric differs between exporter versions, and the version is unknown."
    ),
    "rows-disagree": gettext_noop(
        "Two series of one card have different values at the same time. The higher value is used."
    ),
    # of cards, nodes, holders
    "node-unknown": gettext_noop("No label of the card is the name of a known node."),
    "node-disagrees": gettext_noop("The series of one card name two nodes."),
    "format-ambiguous": gettext_noop("Two exporters publish these metric names. The exporter is unknown."),
    "exporter-failed": gettext_noop("The exporter reports that its last collection failed. Its values may be stale."),
    "holders-hidden": gettext_noop("The exporter reports several pods on the card without their names."),
    "holder-unproved": gettext_noop(
        "Values with pod labels may belong to the whole card. They are used as values of the card."
    ),
    "holder-gone": gettext_noop("An older sample names another pod. That pod is treated as deleted."),
    "holder-not-a-user": gettext_noop(
        "The pod is an exporter, a reservation or a validation. It is not shown as an allocation."
    ),
    "too-many-holders": gettext_noop(
        "A card has too many pods, processes, error codes or health checks. The rest is ignored."
    ),
    "partly-summed": gettext_noop("The memory of the slices is not added up: one slice does not report it."),
}


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of thing that was wrong, over everything that was read at once.

    count: how often. example: a piece of what was read, cut. cards: keys of some of the cards that it is about.
    """

    code: str
    count: int
    example: str = ""
    cards: tuple[str, ...] = ()


class ProblemCounts:
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
