"""Takes samples of one format, in as many pieces as they come, and keeps for each card what counts: never the samples themselves.

The memory is bounded by the number of cards, not by that of samples: some 3 KB a card with 20 measures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter

from exporters.engine.cards import Card
from exporters.engine.context import Context
from exporters.engine.format import Format, Gauge, Row, Special
from exporters.engine.holders import EXPORTER, NOBODY, NOT_A_USER, SEVERAL, Holders
from exporters.engine.identity import NAME_CHARS, index_of, names_a_card, normal_pci
from exporters.engine.measures import RATIO
from exporters.engine.places import Places
from exporters.engine.problems import ProblemCounts
from exporters.engine.readings import Report, Value
from exporters.engine.samples import Labels, LabelSets, Sample
from exporters.engine.summary import summed_up
from exporters.engine.values import FIRST_SENTINEL, is_sentinel, reason

#: Clocks of nodes may be ahead by so many seconds; a later time is none.
AHEAD_S = 300.0
#: Most cards and slices of one reader.
MOST_CARDS = 500_000
#: Versions of an exporter that are told apart while a new one is rolled out.
_MOST_VERSIONS = 8
#: Between the parts of a key.
_IN_KEY = "/"
_name = attrgetter("name")


class Reader:
    """One format's rows of one cluster (or of one target). Give it samples with `add`, then take the `report` once."""

    def __init__(self, format: Format, context: Context, prefix: str = "") -> None:
        self.format = format
        self.context = context
        self.told = ProblemCounts()
        self.places = Places(context)
        self.versions: set[str] = set()
        #: Nodes (or targets) whose exporter says that its last collection failed.
        self.failed: set[str] = set()
        self.cards: dict[str, Card] = {}
        self.holders = Holders(context, format.pods, format.no_holders)
        #: Of the labels of samples that this reader gets.
        self.sets = LabelSets()
        self._metrics = {f"{prefix}{name}": metric for name, metric in format.metrics.items()}
        self._prefix = prefix
        self._by_text: dict[str, Card] = {}
        self._samples = self._unknown = 0
        self._uuids, self._instances = format.identity.uuid, format.identity.instance
        self._slice_of = format.slice_of

    def add(self, samples: Iterable[Sample]) -> None:
        """Read more rows. Never raises."""
        for name, rows in groupby(samples, key=_name):
            metric = self._metrics.get(name)
            if isinstance(metric, Gauge):
                self._gauges(metric, rows)
            elif metric is not None:
                self._specials(metric, name.removeprefix(self._prefix), rows)
            else:
                number = sum(1 for _ in rows)
                self._samples += number
                self._unknown += number

    def report(self) -> Report:
        """What all rows say. The reader is empty afterwards."""
        return summed_up(self, self._samples, self._unknown)

    def _gauges(self, metric: Gauge, rows: Iterable[Sample]) -> None:
        """Rows of one metric. Nearly all rows go this way, so it looks at as little as it can."""
        measure, scale, when, zero_is_none = metric.measure, metric.scale, metric.when, metric.zero_is_none
        name, low, high, base = measure.name, measure.low, measure.high, metric.order << 1
        in_parts, clamped = bool(metric.part_labels or metric.part), measure.unit == RATIO
        noted = bool(metric.dialect or metric.of_pod)
        last_at = now = self.context.now
        # Cards of a node often say the same of a moment, such as no errors: one object for them.
        same = Value(-1.0, now)
        latest = now + AHEAD_S
        count = 0
        for row in rows:
            count += 1
            labels, value, at = row.labels, row.value, row.timestamp_s
            # One object for the many rows of one moment.
            if at is None:
                at = now
            elif at == last_at:
                at = last_at
            elif 0 <= at <= latest:
                last_at = at
            else:
                self.told.tell("bad-time", f"{row.name} {at}")
                continue
            if when and any(labels.get(label) != wanted for label, wanted in when):
                continue
            if not isinstance(labels, Labels):
                labels = Labels(labels, -1)
            if labels.reader is not self:
                self._look(labels)
            card = labels.card
            if card is None:
                self._unknown += 1
                continue
            if labels.at != at:
                self._note(labels, at)
            scaled = value * scale
            if (
                not low <= scaled <= high
                or (value == 0 and zero_is_none)
                or (value >= FIRST_SENTINEL and is_sentinel(value))
            ):
                if value != 0 or not zero_is_none:
                    self._refuse(card, metric, value)
                continue
            if scaled > 1.0 and clamped:
                scaled = 1.0
            if in_parts:
                card.put(measure, scaled, at, base + labels.standing, _part(metric, labels))
                continue
            old = card.values.get(name)
            if old is None or card.outweighs(measure, old, scaled, at, base + labels.standing):
                standing = base + labels.standing
                if same.value != scaled or same.at is not at or same.standing != standing:
                    same = Value(scaled, at, standing)
                card.values[name] = same
            if noted:
                self._noted(metric, card, labels, scaled, at)
        self._samples += count

    def _specials(self, metric: Special, name: str, rows: Iterable[Sample]) -> None:
        now = self.context.now
        for row in rows:
            self._samples += 1
            at = now if row.timestamp_s is None else row.timestamp_s
            if not 0 <= at <= now + AHEAD_S:
                self.told.tell("bad-time", f"{row.name} {at}")
                continue
            if metric.whole:
                metric.take(Row(self, None, name, row.labels, row.value, at))
                continue
            card = self.card(row.labels)
            if card is None:
                self._unknown += 1
                continue
            card.newest = max(card.newest, at)
            if metric.dialect:
                card.dialect = metric.dialect
            metric.take(Row(self, card, name, row.labels, row.value, at))

    def _look(self, labels: Labels) -> None:
        """Find the card and the holder of rows with these labels, once for all metrics."""
        card = self.card(labels)
        labels.reader, labels.at = self, -1.0
        labels.card = card
        labels.holder = self.holders.of(labels)
        # A row of a pod is outweighed by one of the card itself.
        labels.standing = 0 if labels.holder in (NOBODY, EXPORTER) else 1

    def _note(self, labels: Labels, at: float) -> None:
        """There is a row of this moment: of the card, and of the pod that holds it."""
        card, holder = labels.card, labels.holder
        labels.at = at
        if at > card.newest:
            card.newest = at
        if holder == SEVERAL:
            card.hidden = True
        elif holder == NOT_A_USER:
            self.told.tell("holder-not-a-user", card=card.key)
        elif isinstance(holder, tuple):
            held = card.holder(holder, at, self.told)
            if held is not None and not held.uid:
                held.uid = labels.get(self.holders.uid, "")[:NAME_CHARS]

    def _noted(self, metric: Gauge, card: Card, labels: Labels, value: float, at: float) -> None:
        if metric.dialect:
            card.dialect = metric.dialect
        if metric.of_pod and isinstance(labels.holder, tuple):
            if card.pod_rows is None:
                card.pod_rows = {}
            card.pod_rows[labels.holder] = (value, at)

    def _refuse(self, card: Card, metric: Gauge, value: float) -> None:
        """A value is not believed: it is told, and kept with the card."""
        code = reason(value)
        self.told.tell(code, f"{metric.measure.name} {value!r}", card.key)
        card.refuse(metric.measure.name, code)

    def holder_of(self, labels: Mapping[str, str]) -> tuple[str, str, str] | None:
        """The user's container that a row names, for metrics that are of holders."""
        found = self.holders.of(labels)
        return found if isinstance(found, tuple) else None

    def card(self, labels: Mapping[str, str]) -> Card | None:
        """The card that a row is of, made when it is new; None when the row does not name one, which is told."""
        uuid = instance = ""
        for label in self._uuids:
            uuid = labels.get(label, "")
            if uuid:
                break
        if self._slice_of is not None:
            instance = self._slice_of(labels)
        else:
            for label in self._instances:
                instance = labels.get(label, "")
                if instance:
                    break
        card = self._by_text.get(f"{uuid}{_IN_KEY}{instance}" if instance else uuid) if uuid else None
        if card is None:
            return self._looked_up(labels, uuid, instance)
        if card.place_label:
            if labels.get(card.place_label) != card.place_text:
                self._moved(card, labels)
        elif card.node is None:
            self._place(card, labels)
        return card

    def _looked_up(self, labels: Mapping[str, str], uuid: str, instance: str) -> Card | None:
        parent_key = self._key(labels, uuid)
        if parent_key is None or len(instance) > NAME_CHARS:
            self.told.tell("card-unknown", str(dict(labels)))
            return None
        key = f"{parent_key}{_IN_KEY}{instance}" if instance else parent_key
        card = self.cards.get(key)
        if card is None:
            if len(self.cards) >= MOST_CARDS:
                self.told.tell("too-many-cards", key)
                return None
            card = self.cards[key] = Card(
                key=key,
                parent_key=parent_key if instance else "",
                instance=instance,
                uuid=uuid or None,
            )
            self._place(card, labels)
        elif card.node is None and not card.place_label:
            self._place(card, labels)
        # Only a name that is unique in the world stands for the card alone.
        if uuid and key.startswith(uuid):
            self._by_text[f"{uuid}{_IN_KEY}{instance}" if instance else uuid] = card
        self.describe(card, labels)
        return card

    def _key(self, labels: Mapping[str, str], uuid: str) -> str | None:
        """What the card is called in this reader: its UUID or serial number, else its slot or number within its node."""
        if uuid and names_a_card(uuid):
            return uuid
        identity = self.format.identity
        serial = _first(labels, identity.serial)
        if serial and serial.strip("0-"):
            return serial if len(serial) <= NAME_CHARS else None
        node, _ = self.places.node(labels)
        scope = node or labels.get("instance", "")[:NAME_CHARS]
        within = normal_pci(_first(labels, identity.pci)) or _first(labels, identity.index) or uuid
        return f"{scope}{_IN_KEY}{within}" if scope and within and len(within) <= NAME_CHARS else None

    def parent(self, part: Card) -> Card:
        """The whole card of a slice; it is made where no row is of it."""
        found = self.cards.get(part.parent_key)
        if found is None:
            found = self.cards[part.parent_key] = Card(
                key=part.parent_key,
                uuid=part.uuid,
                serial=part.serial,
                pci=part.pci,
                index=part.index,
                model=part.model,
                dialect=part.dialect,
                node=part.node,
                newest=part.newest,
            )
        return found

    def _place(self, card: Card, labels: Mapping[str, str]) -> None:
        card.node, card.place_label = self.places.node(labels)
        card.place_text = labels.get(card.place_label) if card.place_label else None

    def _moved(self, card: Card, labels: Mapping[str, str]) -> None:
        """Another node is named than before: by another row of the same card, or of another card with the same UUID."""
        node, _ = self.places.node(labels)
        if node is not None and node != card.node and card.node is not None:
            self.told.tell("node-disagrees", f"{card.node}, {node}", card.key)
            # No row has this label, so nothing is compared any more.
            card.node, card.place_label, card.place_text = None, "-", None

    def describe(self, card: Card, labels: Mapping[str, str]) -> None:
        """What labels say of the card, as far as it is not known yet."""
        identity = self.format.identity
        card.uuid = card.uuid or (_first(labels, identity.said) or "")[:NAME_CHARS] or None
        card.serial = card.serial or (_first(labels, identity.serial) or "")[:NAME_CHARS] or None
        card.pci = card.pci or normal_pci(_first(labels, identity.pci))
        card.model = card.model or (_first(labels, identity.model) or "")[:NAME_CHARS] or None
        card.profile = card.profile or (_first(labels, identity.profile) or "")[:NAME_CHARS]
        card.mig_uuid = card.mig_uuid or (_first(labels, identity.mig) or "")[:NAME_CHARS] or None
        if card.index is None:
            card.index = index_of(_first(labels, identity.index))

    def version(self, text: str | None) -> None:
        """A version of the exporter that a row names."""
        if text and len(text) <= NAME_CHARS and len(self.versions) < _MOST_VERSIONS:
            self.versions.add(text)


def _part(metric: Gauge, labels: Mapping[str, str]) -> str:
    """The part of the card that a row is of: "kind:which", "kind" for all of a kind, "" for the whole card."""
    which = "/".join(labels.get(label, "")[:NAME_CHARS] for label in metric.part_labels).strip("/")
    return f"{metric.part}:{which}" if which else metric.part


def _first(labels: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    for name in names:
        text = labels.get(name)
        if text:
            return text
    return None
