"""What an exporter's format declares of itself: the metrics it has, how they are read, and by what it is recognised.

Whatever is said of one exporter anywhere is said in its own module. `registration` refuses a declaration that lacks something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from exporters.engine.context import Context
from exporters.engine.holders import NoHolders, PodLabels
from exporters.engine.measures import MEASURES, Measure
from exporters.engine.readings import Report
from exporters.engine.samples import Sample

if TYPE_CHECKING:
    from exporters.engine.cards import Card
    from exporters.engine.reader import Reader


class Gauge(msgspec.Struct, frozen=True):
    """A metric whose value is a measure of the card in its labels.

    scale: what the exporter's number is multiplied with to give the base unit. order: of several metrics for one measure, that
    with the lowest counts. part, part_labels: which part of the card (a link, a memory module) the row is of, in general and by
    labels. when: values that labels must have, else the row is of something else. zero_is_none: 0 means that nothing is
    measured. of_pod: rows of pods may carry the pod's own figure, and not the card's. dialect: which set of names it belongs
    to.
    """

    measure: Measure
    scale: float = 1.0
    order: int = 0
    part: str = ""
    part_labels: tuple[str, ...] = ()
    when: tuple[tuple[str, str], ...] = ()
    zero_is_none: bool = False
    of_pod: bool = False
    dialect: str = ""


class Row(msgspec.Struct):
    """One sample that is more than a value of a measure, with its card (None for those of the exporter itself)."""

    reader: Reader
    card: Card | None
    name: str
    labels: Mapping[str, str]
    value: float
    at: float


class Special(msgspec.Struct, frozen=True):
    """A metric that is read by a function. gives: the measures it can give. whole: it is of the exporter, not of a card."""

    take: Callable[[Row], None]
    gives: tuple[Measure, ...] = ()
    whole: bool = False
    dialect: str = ""


Metric = Gauge | Special


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """By which labels an exporter names a card; of several the first that is not empty counts.

    uuid, serial: unique in the world. said: a UUID that is told and not relied on, since slices have their own.
    pci, index: unique on a node only. instance, mig: the number of a slice within its card, and its UUID.
    """

    uuid: tuple[str, ...] = ()
    serial: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    pci: tuple[str, ...] = ()
    index: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    instance: tuple[str, ...] = ()
    mig: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()


class Target(msgspec.Struct, frozen=True):
    """Where an exporter's page is, where no Prometheus has found it out.

    selectors: label selectors of the API; its pods fulfil one of them. port: where no port of its containers is called "metrics".
    """

    selectors: tuple[str, ...]
    port: int


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """One exporter.

    name: unique, stands in tables and metrics. label: for people. metrics: by name, in the order in which they are best asked
    for. marks: names of metrics by which it is recognised; at least one is there wherever it exports. shared: names that
    another format has as well, so that they alone do not say which it is. bare: names are words that anything may be called, so
    only a page that is known to be this exporter's is read, and Prometheus is not asked. prefixed: an administrator may put a
    prefix before all names. pods: labels by which it names holders; no_holders: pods that these may name and that use no card.
    slice_of: the number of the slice that a row is of, where a label alone does not say it; "" for the whole card. slices_add:
    each slice has memory of its own, so theirs add up to the card's. finish: what is made of a card once all its rows are read.
    from_object: an object of the API → samples, for those that are no pages. verified: upstream's version whose source or data
    was read; not_verified: what was not, in words; "" for nothing. target: where its pages are; None where it has none of its
    own, or nobody knows how its pods are labelled. beside: what its page has besides, of which nothing is read; a page with only
    these is its page, and says nothing of cards.
    """

    name: str
    label: str
    metrics: Mapping[str, Metric]
    identity: Identity
    marks: frozenset[str]
    verified: str
    not_verified: str = ""
    shared: frozenset[str] = frozenset()
    bare: bool = False
    prefixed: bool = False
    slice_of: Callable[[Mapping[str, str]], str] | None = None
    slices_add: bool = False
    pods: PodLabels = PodLabels()
    no_holders: NoHolders = NoHolders()
    finish: Callable[[Card, Reader], None] | None = None
    from_object: Callable[[bytes, Reader], list[Sample]] | None = None
    target: Target | None = None
    beside: frozenset[str] = frozenset()

    @property
    def measures(self) -> frozenset[str]:
        """Names of the measures that it can give."""
        found: set[str] = set()
        for metric in self.metrics.values():
            found.update([metric.measure.name] if isinstance(metric, Gauge) else [item.name for item in metric.gives])
        return frozenset(found & MEASURES.keys())

    def reader(self, context: Context, prefix: str = "") -> Reader:
        """One that samples are given to piece by piece. prefix: what an administrator put before the names."""
        from exporters.engine.reader import Reader

        return Reader(self, context, prefix)

    def read(self, samples: Iterable[Sample], context: Context, prefix: str = "") -> Report:
        """What these samples say. It never raises, whatever they hold."""
        reader = self.reader(context, prefix)
        reader.add(samples)
        return reader.report()


class Found(msgspec.Struct, frozen=True):
    """A format that was recognised. prefix: what stands before its names here. sure: no other format has all of what was seen."""

    format: Format
    prefix: str = ""
    sure: bool = True

    def reader(self, context: Context) -> Reader:
        """One that samples are given to; it tells when it is not sure whose they are."""
        made = self.format.reader(context, self.prefix)
        if not self.sure:
            made.told.tell("format-ambiguous", self.format.name)
        return made

    def names(self, present: Iterable[str]) -> tuple[str, ...]:
        """Those of the format's metrics that are there, in the order in which they are best asked for."""
        here = frozenset(present)
        return tuple(full for name in self.format.metrics if (full := f"{self.prefix}{name}") in here)


def selector(names: Iterable[str]) -> str:
    """The PromQL selector of these metrics: what a collector asks for in one piece."""
    return '{__name__=~"' + "|".join(names) + '"}'
