"""All cards of a reader as readings: parts brought together, memory of slices summed, holders that are gone left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporters.engine.cards import STALE_S, Card
from exporters.engine.identity import normal_uuid
from exporters.engine.measures import MEASURES, MEMORY_TOTAL, MEMORY_USED
from exporters.engine.readings import CardReading, Holder, Report, Source, Throttle, Value
from exporters.engine.samples import LabelSets

if TYPE_CHECKING:
    from exporters.engine.reader import Reader

#: By so much more than the card's memory may be said to be used: rounding to whole MiB, several times.
_ROUNDING = 64 << 20
#: Measures that cannot be more than the card has.
_OF_MEMORY = ("memory_used", "memory_free", "memory_reserved", "process_memory")


def summed_up(reader: Reader, samples: int, unknown: int) -> Report:
    """The report of a reader. The cards are taken out of it one by one, so that the memory is needed once."""
    # All rows are read: what their labels were is needed no more.
    reader.sets = LabelSets()
    finish = reader.format.finish
    if finish is not None:
        for card in list(reader.cards.values()):
            finish(card, reader)
    _inherit(reader)
    if reader.format.slices_add:
        _sum_slices(reader)
    version = reader.context.version or ", ".join(sorted(reader.versions))
    sources: dict[str, Source] = {}
    readings: list[CardReading] = []
    for key in list(reader.cards):
        card = reader.cards.pop(key)
        source = sources.get(card.dialect)
        if source is None:
            source = Source(format=reader.format.name, version=version, dialect=card.dialect)
            sources[card.dialect] = source
        readings.append(_reading(card, reader, source))
    return Report(readings=tuple(readings), problems=reader.told.problems(), samples=samples, unknown=unknown)


def _inherit(reader: Reader) -> None:
    """What rows of a slice do not tell and those of its card do."""
    for card in reader.cards.values():
        parent = reader.cards.get(card.parent_key) if card.parent_key else None
        if parent is not None:
            card.node = card.node or parent.node
            card.model = card.model or parent.model
            card.pci = card.pci or parent.pci
            card.index = parent.index if card.index is None else card.index


def _sum_slices(reader: Reader) -> None:
    """The used memory of a card whose own rows do not tell it, from its slices: one row of each, and only when each tells it."""
    slices: dict[str, list[Card]] = {}
    for card in reader.cards.values():
        if card.parent_key:
            slices.setdefault(card.parent_key, []).append(card)
    for parent_key, parts in slices.items():
        parent = reader.cards.get(parent_key)
        if parent is not None and MEMORY_USED.name in parent.values:
            continue
        newest = max(part.newest for part in parts)
        fresh = [part for part in parts if newest - part.newest <= STALE_S]
        values = [part.value(MEMORY_USED) for part in fresh]
        known = [value for value in values if value is not None]
        if not known:
            continue
        if len(known) < len(values):
            reader.told.tell("partly-summed", card=parent_key)
            continue
        parent = reader.parent(fresh[0])
        parent.put(MEMORY_USED, sum(value.value for value in known), min(value.at for value in known))
        parent.refused = parent.refused or {}
        parent.refused.pop(MEMORY_USED.name, None)
        parent.derived += (MEMORY_USED.name,)


def _reading(card: Card, reader: Reader, source: Source) -> CardReading:
    values = card.values
    for name in card.parts or ():
        measure = MEASURES[name]
        found = card.value(measure)
        if found is not None and measure.low <= found.value <= measure.high:
            values[name] = found
        elif found is not None:  # a sum of parts that are each believed
            card.refuse(name, "implausible")
            reader.told.tell("implausible", f"{name} {found.value!r}", card.key)
    refused = {name: code for name, code in card.refused.items() if name not in values} if card.refused else {}
    _check_memory(card, reader, values, refused)
    for name in card.disagree or ():
        if name in values:
            reader.told.tell("rows-disagree", name, card.key)
    if card.node is None:
        reader.told.tell("node-unknown", card.key, card.key)
    elif card.node in reader.failed:
        reader.told.tell("exporter-failed", card.node, card.key)
    if card.hidden:
        reader.told.tell("holders-hidden", card=card.key)
    return CardReading(
        source=source,
        key=card.key,
        node=card.node,
        uuid=card.uuid,
        serial=card.serial,
        pci_bus_id=card.pci,
        index=card.index,
        model=card.model,
        gpu_instance=card.instance,
        mig_uuid=card.mig_uuid,
        profile=card.profile,
        values=values,
        refused=refused,
        derived=card.derived,
        holders=_holders(card, reader, values) if card.held else (),
        holders_hidden=card.hidden,
        processes=tuple(sorted(card.processes.values(), key=lambda item: (-item.memory_used, item.pid)))
        if card.processes
        else (),
        xids=tuple(item for _, item in sorted(card.xids.items())) if card.xids else (),
        watches=tuple(item for _, item in sorted(card.watches.items())) if card.watches else (),
        throttles=_throttles(card) if card.throttles else (),
    )


def _throttles(card: Card) -> tuple[Throttle, ...]:
    return tuple(
        Throttle(reason=reason, active=active, count=count, window_s=window)
        for reason, (active, count, window) in sorted((card.throttles or {}).items())
    )


def _most(card: Card, reader: Reader, values: dict[str, Value]) -> float | None:
    """Bytes of the card: as its own rows say, else as the caller knows; None for slices of which neither says it."""
    total = values.get(MEMORY_TOTAL.name)
    if total is not None:
        return total.value
    sizes = reader.context.sizes
    size = sizes.get(normal_uuid(card.uuid) or "") if card.uuid and sizes else None
    return float(size) if size is not None else None


def _check_memory(card: Card, reader: Reader, values: dict[str, Value], refused: dict[str, str]) -> None:
    most = _most(card, reader, values)
    for name in _OF_MEMORY:
        found = values.get(name)
        if found is not None and most is not None and found.value > most + _ROUNDING:
            del values[name]
            refused[name] = "more-than-total"
            reader.told.tell("more-than-total", f"{name} {found.value:.0f} of {most:.0f}", card.key)


def _holders(card: Card, reader: Reader, values: dict[str, Value]) -> tuple[Holder, ...]:
    """Those of the newest rows; one whose newest row is of an older scrape is gone."""
    most = _most(card, reader, values)
    found: list[Holder] = []
    for (namespace, pod, container), held in sorted((card.held or {}).items()):
        if (namespace, pod) in reader.holders.targets:
            reader.told.tell("holder-not-a-user", f"{namespace}/{pod}", card.key)
            continue
        if card.newest - held.at > STALE_S:
            reader.told.tell("holder-gone", f"{namespace}/{pod}", card.key)
            continue
        memory = held.memory
        if memory is not None and most is not None and memory > most + _ROUNDING:
            reader.told.tell("more-than-total", f"{namespace}/{pod} {memory:.0f} of {most:.0f}", card.key)
            memory = None
        found.append(
            Holder(
                namespace=namespace,
                pod=pod,
                container=container,
                pod_uid=held.uid,
                memory_used=memory,
                memory_of=held.memory_of if memory is not None else "",
                memory_limit=held.memory_limit,
                idle_s=held.idle_s,
                at=held.at,
            )
        )
    return tuple(found)
