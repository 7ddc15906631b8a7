"""Some dirty nodes, read: what the mirror has of them, what the stacks make of it, and the rows that are stored now.

Nothing is written here, so it may run in any thread and before the transaction that writes: `seen` are the dirty-node rows that
were there before the first read. What is committed after that has left a row of its own and is looked at again.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from django.db.models import QuerySet

from inventory.compared.entries import FINDINGS
from inventory.components import NodeComponents
from inventory.health import judge, signs
from inventory.mirror.values import Columns
from inventory.models import Allocation, Card, CardUsage, Component, DirtyNode, Discrepancy, Finding, NodeTotals, Watch
from inventory.models import ConfigMap as ConfigMapRow
from inventory.models import Device as DeviceRow
from inventory.models import DeviceTaintRule as TaintRuleRow
from inventory.models import Node as NodeRow
from inventory.models import Pod as PodRow
from inventory.models import ResourceClaim as ClaimRow
from inventory.models import ResourceSlice as SliceRow
from inventory.models.cluster import Kind
from inventory.queries.availability import of_node as what_keeps_off
from inventory.reconcile.causes import is_cause, with_cause
from inventory.reconcile.offers import Host, Requested, offer_columns
from inventory.reconcile.software import StoredComponent, components_of, read_daemonsets, read_software
from kube.claims import DeviceTaintRule, ResourceClaim, ResourceSlice
from kube.decoders import decoder
from kube.devices import Device
from kube.objects import Node, Pod
from runtime.clock import database_now
from stacks.engine import base
from stacks.engine.node_report import node_report
from stacks.engine.requests import holds
from wording.said import restored

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=msgspec.Struct)

#: Dirty-node rows that one chunk takes away; a node that has more is looked at again.
SEEN = 10_000

_node = decoder(Node)
_pod = decoder(Pod)
_slice = decoder(ResourceSlice)
_taint_rule = decoder(DeviceTaintRule)
_claim = decoder(ResourceClaim)
_config_map = decoder(base.ReadConfigMap)
_device = decoder(Device)


class StoredTotals(msgspec.Struct, frozen=True):
    """Of a node's totals, what a difference needs. Fields of these structs are columns: only they are read."""

    node_name: str
    id: int
    digest: int
    unit: str


class StoredCard(msgspec.Struct, frozen=True):
    """Of a card."""

    node_name: str
    id: int
    key: str
    digest: int
    uuid: str
    removed_at: datetime | None


class StoredAllocation(msgspec.Struct, frozen=True):
    """Of an allocation that has not ended."""

    node_name: str
    id: int
    pod_uid: str
    container: str
    resource: str
    card_key: str
    evidence: str
    digest: int


class StoredFinding(msgspec.Struct, frozen=True):
    """Of a finding that has not ended."""

    node_name: str
    id: int
    code: str
    card_key: str
    pod: str
    severity: str
    text: str
    wording: dict[str, Any] | None
    cause: str


class NodeChunk(msgspec.Struct, kw_only=True):
    """One node: what is to be stored, and what is.

    report: what the stacks say; None when the node is gone or has nothing to do with GPUs. health: of it and its cards.
    unavailable_reason: what keeps pods off it, "" when nothing does. components: its GPU software. pods: by uid, ended
    ones too. offers: columns of its totals, what the scheduler counts. The rest is what is stored: cards by key (removed ones
    too), allocations and findings that have not ended.
    """

    name: str
    report: base.NodeReport | None
    pods: dict[str, Pod]
    totals: StoredTotals | None
    cards: dict[str, StoredCard]
    allocations: list[StoredAllocation]
    findings: list[StoredFinding]
    stored_components: list[StoredComponent] = []
    components: NodeComponents = NodeComponents()
    health: judge.Judged | None = None
    unavailable_reason: str = ""
    offers: Columns = {}


class Chunk(msgspec.Struct, kw_only=True):
    """failed: nodes of which no report could be made; what is stored of them stays."""

    cluster_id: int
    now: datetime
    names: list[str]
    seen: list[int]
    nodes: list[NodeChunk] = []
    failed: list[str] = []


def read(cluster_id: int, names: list[str], context: base.Context) -> Chunk:
    """Read some nodes of a cluster, in a number of queries that does not depend on how many there are."""
    of_these = {"cluster_id": cluster_id, "node_name__in": names}
    seen = list(DirtyNode.objects.filter(**of_these).order_by("id").values_list("id", flat=True)[:SEEN])
    chunk = Chunk(cluster_id=cluster_id, now=database_now(), names=names, seen=seen)
    totals = _by_node(StoredTotals, NodeTotals.objects.filter(**of_these))
    cards = _by_node(StoredCard, Card.objects.filter(**of_these))
    allocations = _by_node(StoredAllocation, Allocation.objects.filter(**of_these, ended_at=None))
    findings = _by_node(StoredFinding, Finding.objects.filter(**of_these, ended_at=None))
    components = _by_node(StoredComponent, Component.objects.filter(**of_these))
    told_of = NodeRow.objects.filter(cluster_id=cluster_id, name__in=names)
    found = list(told_of.values_list("name", "facts", "ready", "unschedulable", "cpu_millis", "host_memory_bytes"))
    facts = {name: text for name, text, *_ in found}
    unavailable_reason = {name: next(what_keeps_off(ready, cordoned), None) for name, _, ready, cordoned, *_ in found}
    hosts = {name: Host(cpu, memory) for name, *_, cpu, memory in found}
    pods, bound = _pods(PodRow.objects.filter(**of_these).values_list(*_POD))
    daemonsets = read_daemonsets(cluster_id)
    software = read_software(cluster_id, chunk.now, daemonsets)
    context = msgspec.structs.replace(
        context, now=chunk.now.timestamp(), daemonsets=daemonsets, claims_read=_claims_read(cluster_id)
    )
    slices, claims = _slices(cluster_id, names), _claims(cluster_id, names)
    taint_rules = _taint_rules(cluster_id) if slices else ()
    measured, told = _measured(cluster_id, names, {card.id: card.key for found in cards.values() for card in found})
    config_maps, devices = _config_maps(cluster_id, names), _devices(cluster_id, names)
    compared = _compared(cluster_id, names)
    for name in names:
        mine = msgspec.structs.replace(
            context,
            known_uuids=_known_uuids(cards[name]),
            slices=(*slices[name], *slices[""]) if slices else (),
            taint_rules=taint_rules,
            claims=tuple(claims[name]) if claims else (),
            measured=tuple(measured[name]) if measured else (),
            config_maps=(*config_maps.get("", ()), *config_maps.get(name, ())),
            device=devices.get(name),
        )
        try:
            node_ = _node.decode(facts[name]) if name in facts else None
            parts = components_of(node_, pods[name].values(), software, slices.get(name, ()))
            judged = _judged(node_, pods[name], mine, told.get(name, []), parts)
            health = _with_findings(judged, compared.get(name, ()))
            health = with_cause(health, parts, components[name], context.now)
        except Exception:
            # One strange node must not stop the others.
            logger.exception("node %s of cluster %d: no report", name, cluster_id)
            chunk.failed.append(name)
            continue
        node = NodeChunk(
            name=name,
            report=health.report if health else None,
            health=health,
            unavailable_reason=unavailable_reason.get(name) or "",
            offers=offer_columns(node_, hosts.get(name, Host()), bound[name], mine),
            pods=pods[name],
            totals=next(iter(totals[name]), None),
            cards={card.key: card for card in cards[name]},
            allocations=allocations[name],
            findings=findings[name],
            stored_components=components[name],
            components=parts,
        )
        chunk.nodes.append(node)
    return chunk


def _judged(
    node: Node | None, pods: dict[str, Pod], context: base.Context, told: list[judge.Measured], parts: NodeComponents
) -> judge.Judged | None:
    """What the stacks say of a node and how well it is; None for one that has nothing to do with GPUs, or is gone.

    parts: a node whose GPU software is not ready has to do with them, whatever it offers.
    """
    if node is None:
        return None
    made = judge.judged(node_report(node, list(pods.values()), context), node, context, told)
    report, cause = made.report, parts.statements.get(parts.first_cause)
    concerned = report.stacks or report.cards or report.findings or report.unplaced
    return made if concerned or (cause is not None and is_cause(cause)) else None


def _with_findings(made: judge.Judged | None, found: Iterable[base.Finding]) -> judge.Judged | None:
    """With what a look over the cluster says of the node and of cards that it has."""
    if made is None or not found:
        return made
    cards = {one.card.key for one in made.report.cards}
    more = [one for one in found if one.card is None or one.card in cards]
    report = msgspec.structs.replace(made.report, findings=(*made.report.findings, *more))
    return msgspec.structs.replace(made, report=report)


def _by_node(kind: type[S], rows: QuerySet[Any]) -> dict[str, list[S]]:
    grouped: dict[str, list[S]] = defaultdict(list)
    for values in rows.values_list(*kind.__struct_fields__):
        grouped[values[0]].append(kind(*values))
    return grouped


_POD = ("node_name", "uid", "facts", "requests", "cpu_millis", "host_memory_bytes")


def _pods(rows: Iterable[tuple[Any, ...]]) -> tuple[dict[str, dict[str, Pod]], dict[str, list[Requested]]]:
    """(all pods by UID, what those that have not ended request), both by node."""
    grouped: dict[str, dict[str, Pod]] = defaultdict(dict)
    bound: dict[str, list[Requested]] = defaultdict(list)
    for node, uid, facts, *requested in rows:
        grouped[node][uid] = pod = _pod.decode(facts)
        if holds(pod):
            bound[node].append(Requested(*requested))
    return grouped, bound


def _slices(cluster_id: int, names: list[str]) -> dict[str, list[ResourceSlice]]:
    """By node, all slices of its pools; under "" those of no node.

    A pool may go over several nodes, and is complete with all its slices.
    """
    rows = SliceRow.objects.filter(cluster_id=cluster_id)
    pools = set(rows.filter(node_name__in=[*names, ""]).values_list("node_name", "driver", "pool"))
    if not pools:
        return {}
    found = rows.filter(pool__in={pool for _, _, pool in pools}).order_by("id")
    by_pool: dict[tuple[str, str], list[ResourceSlice]] = defaultdict(list)
    for driver, pool, facts in found.values_list("driver", "pool", "facts"):
        by_pool[driver, pool].append(_slice.decode(facts))
    grouped: dict[str, list[ResourceSlice]] = defaultdict(list)
    for node, driver, pool in sorted(pools):
        grouped[node] += by_pool[driver, pool]
    return grouped


def _taint_rules(cluster_id: int) -> tuple[DeviceTaintRule, ...]:
    rows = TaintRuleRow.objects.filter(cluster_id=cluster_id).order_by("id")
    return tuple(_taint_rule.decode(facts) for facts in rows.values_list("facts", flat=True))


def _claims(cluster_id: int, names: list[str]) -> dict[str, list[ResourceClaim]]:
    """By node; those that wait are of none."""
    rows = ClaimRow.objects.filter(cluster_id=cluster_id, node_name__in=names, allocated=True).order_by("id")
    return _decoded(rows.values_list("node_name", "facts"), _claim)


_MEASURED = ("node_name", "ident", "uuid", "index", "holders", "card_id", "format", "pci", "signs", "lost_at")


def _measured(
    cluster_id: int, names: list[str], keys: dict[int, str]
) -> tuple[dict[str, list[base.MeasuredCard]], dict[str, list[judge.Measured]]]:
    """(what its exporter says now, what it says of health, or said last), both by node. keys: of cards, by their ids."""
    grouped: dict[str, list[base.MeasuredCard]] = defaultdict(list)
    told: dict[str, list[judge.Measured]] = defaultdict(list)
    rows = CardUsage.objects.filter(cluster_id=cluster_id, node_name__in=names).order_by("id")
    for node, ident, uuid, index, holders, card, format, pci, found, lost_at in rows.values_list(*_MEASURED):
        instance = ident.partition("/")[2]
        if lost_at is None:
            who = tuple((one["namespace"], one["pod"], one["container"]) for one in holders)
            grouped[node].append(base.MeasuredCard(uuid=uuid, index=index, instance=instance, holders=who))
        said = judge.Measured(
            uuid=uuid,
            format=format,
            signs=signs.unpacked(found),
            index=index,
            pci=pci,
            instance=instance,
            card=keys.get(card),
            lost_at=lost_at.timestamp() if lost_at is not None else None,
        )
        told[node].append(said)
    return grouped, told


def _compared(cluster_id: int, names: list[str]) -> dict[str, list[base.Finding]]:
    """What is told of promises beside measurements, by node."""
    grouped: dict[str, list[base.Finding]] = defaultdict(list)
    rows = Discrepancy.objects.filter(cluster_id=cluster_id, node_name__in=names, told=True).order_by("id")
    for node, code, card, pod, text, form in rows.values_list(
        "node_name", "code", "card_key", "pod", "text", "wording"
    ):
        text = restored(text, form)
        found = base.Finding(code=code, severity=FINDINGS[code].severity, text=text, card=card or None, pod=pod or None)
        grouped[node].append(found)
    return grouped


def _config_maps(cluster_id: int, names: list[str]) -> dict[str, list[base.ReadConfigMap]]:
    """By node; under "" those that speak of no single one."""
    rows = ConfigMapRow.objects.filter(cluster_id=cluster_id, node_name__in=[*names, ""]).order_by("id")
    return _decoded(rows.values_list("node_name", "facts"), _config_map)


def _devices(cluster_id: int, names: list[str]) -> dict[str, Device]:
    rows = DeviceRow.objects.filter(cluster_id=cluster_id, name__in=names)
    return {name: _device.decode(facts) for name, facts in rows.values_list("name", "facts")}


def _decoded(rows: Iterable[tuple[str, str]], decoder: msgspec.json.Decoder[S]) -> dict[str, list[S]]:
    grouped: dict[str, list[S]] = defaultdict(list)
    for node, facts in rows:
        grouped[node].append(decoder.decode(facts))
    return grouped


def _claims_read(cluster_id: int) -> bool:
    """Whether both kinds of dynamic resource allocation were listed."""
    wanted = (Kind.RESOURCESLICES, Kind.RESOURCECLAIMS)
    return Watch.objects.filter(cluster_id=cluster_id, kind__in=wanted, synced_at__isnull=False).count() == len(wanted)


def _known_uuids(cards: list[StoredCard]) -> tuple[str, ...]:
    """UUIDs of a node's cards that are not gone, in the order in which they were first seen."""
    present = [card for card in cards if card.uuid and card.removed_at is None]
    return tuple(card.uuid for card in sorted(present, key=lambda card: card.id))
