"""One sample of one series, wherever it was read: the common ground of answers of Prometheus and pages of exporters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

#: Longest value of a label that is read. The longest that exporters write are lists of firmware versions.
LABEL_CHARS = 4096
#: Most labels of one series. With pod labels as labels of metrics there are some dozens.
MOST_LABELS = 128
#: Sets of labels that are kept parsed: a cluster of 40,000 cards has 40,000 to 80,000, of 500 bytes each.
MOST_SETS = 200_000
MOST_SET_BYTES = 64 << 20


#: No time: nobody has looked when samples were taken.
NOT_LOOKED = -1.0


class Labels(dict[str, str]):
    """A set of labels that several samples share, since a card has the same in each of its metrics.

    position: its place in the `LabelSets`. taken_at: when its samples were taken, by another answer. The rest is what a reader found
    out of them, so that it need not look again: the reader, the card, the holder, the moment of the row before, and the standing of
    rows with these labels.
    """

    __slots__ = ("at", "card", "holder", "position", "reader", "standing", "taken_at")

    def __init__(self, labels: Mapping[str, str], position: int) -> None:
        super().__init__(labels)
        self.position = position
        self.reader: Any = None
        self.card: Any = None
        self.holder: Any = 0
        self.at = -1.0
        self.standing = 0
        self.taken_at: float | None = NOT_LOOKED


class LabelSets:
    """Parsed sets of labels by their text, of a bounded number and size. Values that are the same are one object.

    order: (text before the name, text after it, labels) as they came, since the next metric's mostly come in the same order.
    """

    def __init__(self) -> None:
        self.order: list[tuple[bytes, bytes, Labels]] = []
        #: Hash of a text → its place. Whether it is that text is looked at.
        self._places: dict[int, int] = {}
        self._texts: dict[str, str] = {}
        self._bytes = 0

    def find(self, head: bytes, tail: bytes = b"") -> Labels | None:
        """The labels of this text, which may have a name in its middle."""
        place = self._places.get(hash((head, tail)))
        if place is None:
            return None
        known_head, known_tail, labels = self.order[place]
        return labels if known_head == head and known_tail == tail else None

    def keep(self, labels: Mapping[str, str], head: bytes, tail: bytes = b"") -> Labels:
        """The labels that a text was parsed to, to be found by it from now on."""
        if len(self.order) >= MOST_SETS or self._bytes > MOST_SET_BYTES:
            self.__init__()  # type: ignore[misc]
        texts = self._texts
        shared = {name: texts.setdefault(value, value) for name, value in labels.items()}
        kept = Labels(shared, len(self.order))
        self._places[hash((head, tail))] = len(self.order)
        self.order.append((head, tail, kept))
        self._bytes += len(head) + len(tail)
        return kept


class Sample(msgspec.Struct, frozen=True, gc=False):
    """A value of a series. labels: without the name. timestamp_s: unix seconds; None where the page does not say.

    The time in an answer of Prometheus is that of the evaluation: up to five minutes after the sample, unless `stamped`.
    """

    name: str
    labels: Mapping[str, str]
    value: float
    timestamp_s: float | None = None


def stamped(samples: Iterable[Sample], times: Iterable[Sample]) -> Iterator[Sample]:
    """The samples with their own times. times: the answer to `timestamp(METRIC)`, whose values are those times.

    A sample that has no time there keeps the one it has: it came or went between the two questions.
    """
    known = {frozenset(sample.labels.items()): sample.value for sample in times}
    for sample in samples:
        at = known.get(frozenset(sample.labels.items()))
        yield sample if at is None else Sample(sample.name, sample.labels, sample.value, at)
