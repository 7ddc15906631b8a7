"""The Prometheus scrape of the inventory. A value that is not known is absent, never 0; gone cards are absent.

Card families are written as text here, the labels of a card once for all its values: with 40,000 cards that takes a fraction of
what sample objects take. Names, labels and units are an interface: add, never rename. Knows nothing of requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from django.db.models import Count

from inventory.catalogue import CATALOGUE
from inventory.condition import State, condition_of, sync_of
from inventory.condition import watches as watches_now
from inventory.models import Card, Cluster, Component, Finding, NodeTotals, Watch
from inventory.models.choices import CardState, ComponentState, UnavailableReason
from inventory.processes import pulses
from inventory.queries import free
from inventory.queries.measured import measured_now

_ESCAPE = re.compile(r'[\\"\n]')
_ESCAPED = {"\\": r"\\", '"': r"\"", "\n": r"\n"}
#: Columns of what is measured → name and help of the family.
_MEASURED = {
    "memory_used_bytes": ("gpudash_card_memory_used_bytes", "Used memory of the card, in bytes"),
    "utilization_ratio": (
        "gpudash_card_utilization_ratio",
        "Utilization: share of time with activity on the card, 0 to 1",
    ),
    "activity_ratio": ("gpudash_card_activity_ratio", "Activity on the card by its best metric, 0 to 1"),
    "temperature_celsius": ("gpudash_card_temperature_celsius", "Temperature of the card, in degrees Celsius"),
    "power_watts": ("gpudash_card_power_watts", "Power draw of the card, in watts"),
}


@dataclass
class Family:
    """One metric as text: help, type, lines."""

    name: str
    help: str
    type: str = "gauge"
    lines: list[str] = field(default_factory=list)

    def add(self, labels: str, value: float) -> None:
        self.lines.append(f"{self.name}{{{labels}}} {value}\n")

    def text(self) -> str:
        return f"# HELP {self.name} {self.help}\n# TYPE {self.name} {self.type}\n{''.join(self.lines)}"


def families() -> Iterator[str]:
    """The whole exposition, family by family, in a constant number of queries."""
    names = dict(Cluster.objects.values_list("pk", "name"))
    watches = list(watches_now().order_by("cluster_id", "kind"))
    parts = (
        _cards(names),
        _counts(names),
        _nodes(names),
        _components(names),
        _mirror(names, watches),
        _audits(names, watches),
        _findings(names, watches),
        _processes(),
    )
    for part in parts:
        yield from (one.text() for one in part)


def labels_of(**labels: str) -> str:
    """`a="x",b="y"`, escaped as the text format wants it."""
    return ",".join(f'{name}="{escaped(value)}"' for name, value in labels.items())


def escaped(text: str) -> str:
    """As the text format wants the value of a label."""
    return _ESCAPE.sub(lambda found: _ESCAPED[found[0]], text) if _ESCAPE.search(text) else text


@lru_cache(maxsize=1000)
def escaped_again(text: str) -> str:
    """The same, for what stands on many lines: a verdict, a suite."""
    return escaped(text)


class CardLabels:
    """Labels of cards, which are asked for in the order of their ids: of two of one index on a node the later has its key besides.

    A scrape with one series twice would be refused as a whole. names: cluster id → name.
    """

    def __init__(self, names: Mapping[int, str]) -> None:
        self._clusters = {pk: escaped(name) for pk, name in names.items()}
        self._seen: set[str] = set()

    def next(self, cluster: int, node: str, index: int | None, key: str, uuid: str, model: str, stack: str) -> str:
        place = f'cluster="{self._clusters.get(cluster, "")}",node="{escaped_again(node)}",card="'
        rest = f'",uuid="{escaped(uuid)}",model="{escaped_again(model)}",stack="{escaped_again(stack)}"'
        labels = f"{place}{escaped(key) if index is None else index}{rest}"
        if labels in self._seen:
            labels = f"{place}{index}:{escaped(key)}{rest}"
        self._seen.add(labels)
        return labels


def _cards(names: dict[int, str]) -> Iterable[Family]:
    total = Family("gpudash_card_memory_bytes", "Memory of the card that its stack can allocate, in bytes.")
    allocated = Family(
        "gpudash_card_memory_allocated_bytes", "Memory of the card allocated by the scheduler, in bytes."
    )
    measured = [Family(name, f"{text}, measured by its exporter.") for name, text in _MEASURED.values()]
    known = {card: values for card, *values in measured_now().values_list("card_id", *_MEASURED)}
    nothing: list[float | None] = []
    health = Family(
        "gpudash_card_health", "1 for the current health of the card: healthy, degraded, unhealthy or unknown."
    )
    holds = Family("gpudash_card_allocations", "Pods with an allocation on the card.")
    labels_of_cards = CardLabels(names)
    columns = ("cluster_id", "node_name", "index", "key", "uuid", "model", "stack", "state", "health")
    figures = ("memory_total_bytes", "memory_allocated_bytes", "allocations_count")
    rows = Card.objects.filter(removed_at=None).order_by("id").values_list("id", *columns, *figures)
    for row in rows.iterator(5000):
        card, cluster, node, index, key, uuid, model, stack, state, well, total_bytes, allocated_bytes, holders = row
        labels = labels_of_cards.next(cluster, node, index, key, uuid, model, stack)
        health.add(f'{labels},state="{escaped_again(well)}"', 1)
        if total_bytes is not None:
            total.add(labels, total_bytes)
        if allocated_bytes is not None:
            allocated.add(labels, allocated_bytes)
        if state != CardState.UNKNOWN:
            holds.add(labels, holders)
        for family, value in zip(measured, known.get(card, nothing), strict=False):
            if value is not None:
                family.add(labels, value)
    return total, allocated, *measured, holds, health


def _counts(names: dict[int, str]) -> Iterable[Family]:
    """Cards as lists and pages count them; a cluster whose cards were not counted yet is absent."""
    states = Family("gpudash_cards", "Cards by state: free, unavailable, partly, full, over, shared, unknown.")
    unavailable = Family("gpudash_cards_unavailable", "Unavailable cards, by reason.")
    unidentified = Family(
        "gpudash_cards_unidentified",
        "Unidentified cards on nodes that report only a count, by state: free or unavailable.",
    )
    more = free.unidentified(None)
    for cluster, own in free.cards_by_cluster(None).items():
        labels = labels_of(cluster=names.get(cluster, ""))
        for state, number in own.states.items():
            states.add(f'{labels},state="{state}"', number)
        for reason in UnavailableReason.values:
            unavailable.add(f'{labels},reason="{reason}"', own.unavailable.get(reason, 0))
        loose = more.get(cluster, free.FreeCards())
        unidentified.add(f'{labels},state="{CardState.FREE.value}"', loose.unidentified)
        unidentified.add(f'{labels},state="{CardState.UNAVAILABLE.value}"', loose.unavailable_unidentified)
    return states, unavailable, unidentified


def _nodes(names: dict[int, str]) -> Iterable[Family]:
    unplaced = Family(
        "gpudash_node_memory_unplaced_bytes",
        "Memory allocated on the node to pods with an unidentified card, in bytes.",
    )
    health = Family(
        "gpudash_node_health",
        "1 for the current health of the node and its cards: healthy, degraded, unhealthy or unknown.",
    )
    rows = NodeTotals.objects.order_by("cluster_id", "node_name")
    columns = ("cluster_id", "node_name", "memory_unplaced_bytes", "health")
    for cluster, node, value, well in rows.values_list(*columns).iterator(5000):
        labels = labels_of(cluster=names.get(cluster, ""), node=node)
        health.add(f'{labels},state="{escaped_again(well)}"', 1)
        if value is not None:
            unplaced.add(labels, value)
    return unplaced, health


#: Versions of one component in one cluster that have a series each: those that most nodes have. The rest is OTHER.
VERSIONS = 30
OTHER = "other"


def _components(names: dict[int, str]) -> Iterable[Family]:
    """What is not needed is left out. Custom resources are components of their own: as many as an administrator makes."""
    states = Family(
        "gpudash_component_state",
        "1 for the current state of a GPU software component. An empty node: the component exists once in the cluster.",
    )
    info = Family(
        "gpudash_component_info",
        "Nodes with this version of the component. 1 for a component that exists once in the cluster.",
    )
    versions: dict[tuple[int, str], dict[str, int]] = {}
    rows = Component.objects.exclude(state=ComponentState.NOT_NEEDED).order_by("id")
    columns = ("cluster_id", "node_name", "name", "state", "version")
    for cluster, node, name, state, version in rows.values_list(*columns).iterator(5000):
        labels = (
            f'cluster="{escaped_again(names.get(cluster, ""))}",node="{escaped_again(node)}",'
            f'component="{escaped_again(name)}",state="{state}"'
        )
        states.add(labels, 1)
        if version:
            counted = versions.setdefault((cluster, name), {})
            counted[version] = counted.get(version, 0) + 1
    for (cluster, name), counted in versions.items():
        for version, number in _bounded(counted):
            info.add(labels_of(cluster=names.get(cluster, ""), component=name, version=version), number)
    return states, info


def _bounded(counted: dict[str, int]) -> list[tuple[str, int]]:
    """The versions that most nodes have, and "other" for the sum of those beyond `VERSIONS`."""
    rest = counted.pop(OTHER, 0)
    most = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    rest += sum(number for _, number in most[VERSIONS:])
    return most[:VERSIONS] + ([(OTHER, rest)] if rest else [])


def _mirror(names: dict[int, str], watches: list[Watch]) -> Iterable[Family]:
    last = Family(
        "gpudash_mirror_last_event_timestamp_seconds",
        "Time of the last update from the cluster, unix time.",
    )
    synced = Family("gpudash_mirror_synced", "1 if the initial list of this kind is complete, else 0.")
    states = Family("gpudash_mirror_state", "1 for the current state of the watch, 0 for the other states.")
    since = Family(
        "gpudash_mirror_state_since_timestamp_seconds", "Start of the current state of the watch, unix time."
    )
    for watch in watches:
        labels = labels_of(cluster=names.get(watch.cluster_id, ""), kind=watch.kind)
        condition = condition_of(watch)
        for state in State:
            states.add(f'{labels},state="{state.value}"', int(state == condition.state))
        if condition.since is not None:
            since.add(labels, condition.since.timestamp())
        synced.add(labels, int(watch.synced_at is not None))
        if watch.last_event_at is not None:
            last.add(labels, watch.last_event_at.timestamp())
    return last, synced, states, since


def _audits(names: dict[int, str], watches: list[Watch]) -> Iterable[Family]:
    """Absent for a kind that was never audited; the cards are not."""
    last = Family("gpudash_mirror_audit_timestamp_seconds", "End of the last audit, unix time.")
    took = Family("gpudash_mirror_audit_seconds", "Duration of the last audit, in seconds.")
    found = Family("gpudash_mirror_audit_differences_total", "Differences that audits found and corrected.", "counter")
    for watch in watches:
        if watch.audited_at is not None and watch.audit_seconds is not None:
            labels = labels_of(cluster=names.get(watch.cluster_id, ""), kind=watch.kind)
            last.add(labels, watch.audited_at.timestamp())
            took.add(labels, watch.audit_seconds)
            found.add(labels, watch.audit_differences_total)
    return last, took, found


def _processes() -> Iterable[Family]:
    """A role that was never seen is absent."""
    seen = Family("gpudash_heartbeat_timestamp_seconds", "Last activity of the background process, unix time.")
    for pulse in pulses():
        if pulse.seen_at is not None:
            seen.add(labels_of(role=pulse.role.value), pulse.seen_at.timestamp())
    return (seen,)


def _findings(names: dict[int, str], watches: list[Watch]) -> Iterable[Family]:
    """A code without findings is 0 once the cluster is counted; before, it is not known."""
    count = Family("gpudash_findings", "Current findings, by code.")
    rows = Finding.objects.filter(ended_at=None).order_by("cluster_id", "code", "severity")
    seen: set[tuple[int, str]] = set()
    for cluster, code, severity, found in rows.values_list("cluster_id", "code", "severity").annotate(Count("id")):
        seen.add((cluster, code))
        count.add(labels_of(cluster=names.get(cluster, ""), code=code, severity=severity), found)
    for cluster, name in names.items():
        if sync_of(watch for watch in watches if watch.cluster_id == cluster).synced:
            for code, entry in CATALOGUE.items():
                if (cluster, code) not in seen:
                    count.add(labels_of(cluster=name, code=code, severity=entry.severity), 0)
    return (count,)
