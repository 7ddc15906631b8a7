"""What several exporters say of one card, as one: for each measure the first in the order of the formats that has it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from exporters.engine import measures
from exporters.engine.format import Found
from exporters.engine.identity import normal_pci, normal_uuid
from exporters.engine.readings import POD, CardReading, Holder, Report
from inventory.collect.cards import Cards, Known

#: A sample that is older is of a card or an exporter that says nothing any more: Prometheus answers with it for five minutes.
MOST_AGE_S = 300.0
#: Signs of work, best first. Utilization is the share of time in which any kernel ran, so it says less.
ACTIVITY = (measures.GRAPHICS_ACTIVE.name, measures.SM_ACTIVE.name, measures.UTILIZATION.name)
#: Holders that are kept of one card.
MOST_HOLDERS = 64


class Measured(msgspec.Struct, kw_only=True):
    """One card or slice as all exporters together tell it. values: by measure, in base units.

    age_s: of the newest value of the first exporter. holders: as `CardUsage.holders`. told: what is more than a number. by: names of
    values and of what is told that are not of `format` → the exporter that says them.
    """

    node: str
    ident: str
    uuid: str = ""
    index: int | None = None
    card: Known | None = None
    format: str = ""
    version: str = ""
    age_s: float = 0.0
    values: dict[str, float] = {}
    holders: list[dict[str, Any]] = []
    told: dict[str, Any] = {}
    pci: str = ""
    by: dict[str, str] = {}

    @property
    def activity(self) -> tuple[float | None, str]:
        """The best sign of work, and its measure."""
        for name in ACTIVITY:
            if name in self.values:
                return self.values[name], name
        return None, ""


class Merged(msgspec.Struct, kw_only=True):
    """homeless: cards whose node is not known, so they are not kept."""

    cards: list[Measured] = []
    homeless: int = 0
    stale: int = 0


def merge(reports: Iterable[tuple[Found, Report]], cards: Cards, now: float) -> Merged:
    """now: the clock of the samples, unix seconds."""
    found: dict[tuple[str, str], Measured] = {}
    result = Merged()
    for _, report in reports:
        for reading in report.readings:
            known = cards.find(reading)
            node = reading.node or (known.node_name if known else None)
            if node is None:
                result.homeless += 1
                continue
            age_s = _age(reading, now)
            if age_s is None:
                result.stale += 1
                continue
            key = (node, _ident(reading))
            entry = found.get(key)
            if entry is None:
                found[key] = entry = _begun(reading, node, key[1], age_s)
            entry.card = entry.card or known
            _add(entry, reading, now)
    result.cards = list(found.values())
    return result


def _begun(reading: CardReading, node: str, ident: str, age_s: float) -> Measured:
    return Measured(
        node=node,
        ident=ident,
        uuid=reading.uuid or "",
        index=reading.index,
        format=reading.source.format,
        version=reading.source.version,
        age_s=age_s,
        values={},
        holders=[],
        told={},
        by={},
    )


def _ident(reading: CardReading) -> str:
    """Stable within the node, the same for all exporters that name the card in the same way."""
    name = normal_uuid(reading.uuid) or normal_pci(reading.pci_bus_id) or reading.serial
    if name is None:
        name = f"#{reading.index}" if reading.index is not None else reading.key
    return f"{name[:120]}/{reading.gpu_instance[:32]}" if reading.gpu_instance else name[:150]


def _age(reading: CardReading, now: float) -> float | None:
    """Of the newest value; None when nothing is new enough."""
    times = [value.at for value in reading.values.values()] or [held.at for held in reading.holders if held.at]
    if not times:
        return 0.0
    age_s = max(now - max(times), 0.0)
    return age_s if age_s <= MOST_AGE_S else None


def _add(entry: Measured, reading: CardReading, now: float) -> None:
    for name, value in reading.values.items():
        if name not in measures.ALLOCATIONS and now - value.at <= MOST_AGE_S and name not in entry.values:
            entry.values[name] = value.value
            _by(entry, reading, name)
    entry.pci = entry.pci or normal_pci(reading.pci_bus_id) or ""
    known = {(one["namespace"], one["pod"], one["container"]) for one in entry.holders}
    for held in reading.holders:
        if (held.namespace, held.pod, held.container) in known:
            _add_memory(entry, held, reading.source.format)
        elif len(entry.holders) < MOST_HOLDERS and (held.at is None or now - held.at <= MOST_AGE_S):
            entry.holders.append(_holder(held, reading.source.format))
    _tell(entry, reading)


def _by(entry: Measured, reading: CardReading, name: str) -> None:
    if reading.source.format != entry.format:
        entry.by[name] = reading.source.format[:32]


def _holder(held: Holder, format: str) -> dict[str, Any]:
    return {
        "namespace": held.namespace,
        "pod": held.pod,
        "container": held.container,
        "uid": held.pod_uid,
        "memory": None if held.memory_used is None else int(held.memory_used),
        "of_pod": held.memory_of == POD,
        "format": format,
    }


def _add_memory(entry: Measured, held: Holder, format: str) -> None:
    """One exporter names the holder, another knows its memory."""
    if held.memory_used is None:
        return
    for one in entry.holders:
        if (one["namespace"], one["pod"], one["container"]) == (held.namespace, held.pod, held.container):
            if one["memory"] is None:
                one.update(memory=int(held.memory_used), of_pod=held.memory_of == POD, format=format)
            return


def _tell(entry: Measured, reading: CardReading) -> None:
    """What is more than a number, from the first exporter that has it."""
    had = set(entry.told)
    if reading.xids and "xids" not in entry.told:
        entry.told["xids"] = [
            {"code": one.code, "kind": one.kind, "count": one.count, "last_at": one.last_at} for one in reading.xids
        ]
    if reading.watches and "watches" not in entry.told:
        entry.told["watches"] = [{"name": one.name, "state": one.state, "code": one.code} for one in reading.watches]
    if reading.throttles and "throttles" not in entry.told:
        entry.told["throttles"] = sorted(one.reason for one in reading.throttles if one.active)
        # A count of events in a window that has just gone by; counts since the exporter began say nothing of now.
        lately = sorted(one.reason for one in reading.throttles if one.count and one.window_s is not None)
        if lately:
            entry.told["throttles_lately"] = lately
    for name in entry.told.keys() - had:
        _by(entry, reading, name)
    if reading.holders_hidden:
        entry.told["holders_hidden"] = True
