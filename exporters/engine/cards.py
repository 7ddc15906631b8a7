"""A card while its rows are read, and how a further row changes it.

The rule: of the rows of one card and measure the newest counts; of one moment that without a pod, else the highest; never a sum
over rows of pods. Rows of different parts of a card are brought together when all are read.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from exporters.engine.measures import ADDED, Measure
from exporters.engine.problems import ProblemCounts
from exporters.engine.readings import CONTAINER, MOST_ENTRIES, Process, Value, Watch, XidCount

#: Rows this much apart in time, in seconds, are of one scrape.
SAME_SCRAPE_S = 1.0
#: Metrics are asked for one after another, so two of one scrape may be this far apart; a row that is older is of a pod or
#: exporter that is gone.
STALE_S = 60.0

#: Most parts of one measure of a card. Windows has a process for every window that draws.
MOST_PARTS = 4096

#: (namespace, pod, container).
Key = tuple[str, str, str]


class Held(msgspec.Struct, gc=False):
    """What is known of one holder."""

    at: float
    uid: str = ""
    memory: float | None = None
    memory_of: str = CONTAINER
    memory_limit: float | None = None
    idle_s: float | None = None


class Card(msgspec.Struct, gc=False, kw_only=True):
    """One card, or one slice of it. Mutable; `summary` makes the reading of it.

    parent_key: that of the whole card, where this is a slice; "" else. place_label, place_text: the label that named the node,
    and its value, which further rows of the card must have. overfull: measures with more parts than are kept. derived: measures
    that were added up from other rows of the card. pod_rows: holder → (value, at), of the metric of memory, whose rows of pods may be
    the pods' own. throttles: reason → (active, count, window_s).

    There may be 40,000 of them, so none is looked at by the collector of cycles: nothing in a card refers to it.
    """

    key: str
    parent_key: str = ""
    instance: str = ""
    uuid: str | None = None
    serial: str | None = None
    pci: str | None = None
    index: int | None = None
    model: str | None = None
    profile: str = ""
    mig_uuid: str | None = None
    dialect: str = ""
    node: str | None = None
    place_label: str = ""
    place_text: str | None = None
    newest: float = 0.0
    hidden: bool = False
    values: dict[str, Value] = msgspec.field(default_factory=dict)
    parts: dict[str, dict[str, Value]] | None = None
    overfull: frozenset[str] | None = None
    derived: tuple[str, ...] = ()
    refused: dict[str, str] | None = None
    disagree: set[str] | None = None
    held: dict[Key, Held] | None = None
    pod_rows: dict[Key, tuple[float, float]] | None = None
    processes: dict[tuple[str, str], Process] | None = None
    xids: dict[tuple[int, str], XidCount] | None = None
    watches: dict[str, Watch] | None = None
    throttles: dict[str, tuple[bool | None, float | None, float | None]] | None = None

    def put(self, measure: Measure, value: float, at: float, standing: int = 0, part: str = "") -> None:
        """A row of a measure, in base units and in its range."""
        if part:
            if self.parts is None:
                self.parts = {}
            values = self.parts.setdefault(measure.name, {})
            name = part
            if len(values) >= MOST_PARTS and name not in values:
                # A sum without some of its parts would be a wrong number.
                self.overfull = (self.overfull or frozenset()) | {measure.name}
                self.refuse(measure.name, "too-many-holders")
                return
        else:
            values, name = self.values, measure.name
        old = values.get(name)
        if old is None or self.outweighs(measure, old, value, at, standing):
            values[name] = Value(value, at, standing)

    def outweighs(self, measure: Measure, old: Value, value: float, at: float, standing: int) -> bool:
        """Whether a further row counts instead of the one before."""
        old_at, old_standing = old.at, old.standing
        if old_standing >> 1 != standing >> 1:  # another metric of the same measure
            if abs(at - old_at) > STALE_S:
                return at > old_at
            return standing >> 1 < old_standing >> 1
        if abs(at - old_at) > SAME_SCRAPE_S:
            return at > old_at
        if old_standing != standing:
            return standing < old_standing
        if abs(value - old.value) > measure.apart:
            if self.disagree is None:
                self.disagree = set()
            self.disagree.add(measure.name)
        return value > old.value

    def refuse(self, measure: str, code: str) -> None:
        """A row of this measure was not believed. The first reason is kept; a row that is believed outweighs it in the end."""
        if self.refused is None:
            self.refused = {}
        self.refused.setdefault(measure, code)

    def holder(self, key: Key, at: float, told: ProblemCounts) -> Held | None:
        """The entry of a holder; None when there are too many."""
        if self.held is None:
            self.held = {}
        found = self.held.get(key)
        if found is None:
            if len(self.held) >= MOST_ENTRIES:
                told.tell("too-many-holders", card=self.key)
                return None
            self.held[key] = found = Held(at)
        elif at > found.at:
            found.at = at
        return found

    def value(self, measure: Measure) -> Value | None:
        """What the rows so far say, parts brought together; None when there is none."""
        found = self.values.get(measure.name)
        if found is not None:
            return found
        parts = (self.parts or {}).get(measure.name)
        if self.overfull is not None and measure.name in self.overfull:
            return None
        return gathered(measure, parts) if parts else None


def gathered(measure: Measure, parts: Mapping[str, Value]) -> Value:
    """The parts of a card as one value. A sum is as old as its oldest part; parts of an older scrape are of a card that was cut
    otherwise.
    """
    newest = max(found.at for found in parts.values())
    fresh = [
        (found.value, found.at)
        for name, found in parts.items()
        # Where a kind is told as a whole ("flit"), its parts ("flit:3") are in it.
        if newest - found.at <= STALE_S and not (":" in name and name.partition(":")[0] in parts)
    ]
    if measure.parts == ADDED:
        return Value(sum(value for value, _ in fresh), min(at for _, at in fresh))
    return Value(*max(fresh))
