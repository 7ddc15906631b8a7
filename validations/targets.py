"""Where a run would go, as the mirror knows it: a node and maybe a card become a `Target` for the suites.

Reads the inventory's tables; makes no call to a cluster.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from django.conf import settings as django_settings
from django.db.models import Sum

from inventory.marks import TAINT as QUARANTINE_TAINT
from inventory.models import Allocation, Card, Cluster, Component, Node, NodeTotals, Pod, ResourceSlice
from inventory.stack_context import stack_context
from kube import claims
from kube import objects as kube
from kube.decoders import decoder
from kube.quantity import count
from runtime.scope import counting
from stacks import marked
from stacks.dra.cuda import cuda_driver
from stacks.engine.base import WHOLE
from stacks.engine.names import labels_of
from stacks.engine.node_facts import cuda, node_facts
from validations.models import Launcher
from validations.suites.engine.base import Facts, Resource, Target
from validations.suites.engine.placement import registry
from validations.suites.engine.target import Settings
from wording.said import sentence

UNIT_BYTES = {"GiB": 2**30, "MiB": 2**20}
#: How the model of a card is named that is an instance of another.
_MIG = re.compile(r"\bMIG[ -]\d")
_decoder = decoder(kube.Node)
_slices = decoder(claims.ResourceSlice)
_pods = decoder(kube.Pod)
#: Labels of a node, or plugins, that are kept with a run, and characters of each.
MOST_LABELS, MOST_LABEL = 60, 300
#: Name of the component, and of the label of NVIDIA's MIG manager.
_OPERATOR, _MIG_LAYOUT = "gpu-operator", "nvidia.com/mig.config"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A node of a cluster, the card of it that was asked for (None: any), and both as suites see them."""

    cluster: Cluster
    node: Node
    card: Card | None
    target: Target
    #: The only card of the node, when it has just one.
    only_card: Card | None = None


#: Code of a request for a place that is not there, or not for who asks.
NO_PLACE = "target-gone"


class NoPlace(Exception):
    """There is no such place. field: "cluster", "node" or "card"."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def find_cluster(name: str) -> Cluster:
    """The cluster of this name; "" when there is only one. Raises NoPlace."""
    rows = list(Cluster.objects.filter(name=name)[:1] if name else Cluster.objects.all()[:2])
    if len(rows) == 1:
        return rows[0]
    known = ", ".join(Cluster.objects.values_list("name", flat=True)[:20]) or "none yet"
    raise NoPlace(
        "cluster",
        sentence("No cluster {name}. Clusters: {known}.", name=f"{name[:64]!r}", known=known)
        if name
        else sentence("Must be one of: {known}.", known=known),
    )


def find_place(cluster: str, node: str, card: str = "") -> Place:
    """Look a place up in the mirror. card: key, UUID or index. Raises NoPlace."""
    where = find_cluster(cluster)
    row = Node.objects.filter(cluster=where, name=node).first()
    if row is None:
        raise NoPlace(
            "node",
            sentence("Cluster {name} has no node {node}.", name=where.name, node=f"{node[:253]!r}"),
        )
    cards = list(Card.objects.filter(cluster=where, node_name=row.name, removed_at=None).order_by("index", "id"))
    chosen = _chosen(cards, card, row.name) if card else None
    only = cards[0] if len(cards) == 1 else None
    return Place(cluster=where, node=row, card=chosen, target=_target(row, cards, chosen), only_card=only)


def _chosen(cards: list[Card], wanted: str, node: str) -> Card:
    """By key or UUID, else by index, so that an index never hides a key."""
    found = [one for one in cards if wanted in (one.key, one.uuid)] or [
        one for one in cards if str(one.index) == wanted
    ]
    if len(found) == 1:
        return found[0]
    known = ", ".join(one.key for one in cards[:16]) or sentence("none identified")
    raise NoPlace(
        "card",
        sentence(
            "Node {node} has no card {wanted}. Cards: {known}.", node=node, wanted=f"{wanted[:128]!r}", known=known
        ),
    )


def _target(row: Node, cards: list[Card], card: Card | None) -> Target:
    node = _node_of(row)
    node_totals = NodeTotals.objects.filter(cluster_id=row.cluster_id, node_name=row.name).first()
    unit = UNIT_BYTES.get(node_totals.unit) if node_totals else None
    launcher = Launcher.objects.filter(cluster_id=row.cluster_id).first()
    stack, settings = _stack(node, node_totals), stack_context().settings
    taints = tuple((node.spec.taints if node.spec else None) or ())
    return Target(
        node=row.name,
        os=row.os,
        hostname=labels_of(node).get("kubernetes.io/hostname", ""),
        facts=_facts(row, node, cards),
        ready=row.ready,
        taints=taints,
        stack=stack,
        resources=_resources(node, row, unit, stack, settings),
        settings=settings,
        card_key=card.key if card else None,
        card_index=card.index if card else None,
        card_uuid=(card.uuid or None) if card else None,
        card_units=_units(card.memory_total_bytes, unit) if card else None,
        card_free=free_units(card, node_totals, unit) if card else None,
        cards_total=node_totals.cards_total if node_totals else len(cards) or None,
        whole_cards=sum(map(_whole, cards)) if cards else None,
        runtime_classes=tuple(str(name) for name in launcher.runtime_classes) if launcher else (),
        # Without the last no run could prove that a card is good again.
        tolerated=(*django_settings.TOLERATED_TAINTS, QUARANTINE_TAINT),
    )


def _node_of(row: Node) -> kube.Node:
    try:
        return _decoder.decode(row.facts)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return kube.Node()


def _facts(row: Node, node: kube.Node, cards: list[Card]) -> Facts:
    """Versions of what is on the node. A slice is published by what runs there now, a label may be left over.

    The label of the compute capability tells of one card: of several kinds nothing is known.
    """
    said, found = node_facts(node), cuda(node)
    windows = said.os.lower() == "windows"
    return Facts(
        driver=_driver_of_slices(row) or found.driver,
        cuda=found.newest,
        capability=found.capability if len({card.model for card in cards}) <= 1 else "",
        windows_build=said.windows_build or (said.kernel if windows else ""),
        runtime=said.container_runtime,
        kubelet=said.kubelet_version,
    )


def _driver_of_slices(row: Node) -> str:
    """NVIDIA's driver by what a driver of dynamic resource allocation offers on the node; "" where none does."""
    rows = ResourceSlice.objects.filter(cluster_id=row.cluster_id, node_name=row.name)
    try:
        return cuda_driver([_slices.decode(facts) for facts in rows.values_list("facts", flat=True)])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def _whole(card: Card) -> bool:
    """Whether the card is given out to one pod as it is: not shared, and no instance of a card in MIG mode."""
    return card.mode == WHOLE and not card.uuid.startswith("MIG-") and not _MIG.search(card.model)


def _units(memory: int | None, unit: int | None) -> int | None:
    return None if memory is None or not unit else memory // unit


def free_units(card: Card, node_totals: NodeTotals | None, unit: int | None) -> int | None:
    """Memory units of the card that nobody holds; None when not known. What is held on an unknown card may be held on this one."""
    if node_totals is None or card.memory_free_bytes is None or node_totals.memory_unplaced_bytes is None:
        return None
    # Kept apart it may be, and is tested all the same: cards of cordoned nodes are.
    free = card.memory_free_bytes + (card.memory_unavailable_bytes or 0)
    return _units(max(free - node_totals.memory_unplaced_bytes, 0), unit)


def _stack(node: kube.Node, node_totals: NodeTotals | None) -> str:
    if own := marked(node):
        return own[0].name
    stacks: list[Any] = node_totals.stacks if node_totals else []
    return str(stacks[0]) if stacks else ""


def _resources(node: kube.Node, row: Node, unit: int | None, stack: str, settings: Settings) -> tuple[Resource, ...]:
    """Extended resources with what is free of them: allocatable less what the mirror's allocations hold."""
    offered = (node.status.allocatable if node.status else None) or {}
    with counting():
        rows = Allocation.objects.filter(cluster_id=row.cluster_id, node_name=row.name, ended_at=None)
    held = dict(rows.values_list("resource").annotate(Sum("quantity")))
    found = []
    for name, value in sorted(offered.items()):
        family = registry.serving(name, stack, settings)
        counted = unit if family is not None and family.counts_memory else None
        found.append(_resource(name, count(value), held.get(name, 0), counted))
    return tuple(found)


def _resource(name: str, allocatable: int | None, held: int, unit: int | None) -> Resource:
    return Resource(
        name=name,
        allocatable=allocatable,
        free=None if allocatable is None else max(allocatable - held, 0),
        unit_bytes=unit,
    )


def snapshot(place: Place) -> dict[str, Any]:
    """What the node was when the run was asked for: kept with the run, since the node changes. Two queries.

    labels: those that do not come from Kubernetes itself, as the systems that give out cards write them. plugins: image of each
    plugin or operator component on the node. cordoned: "yes" or "no". operator: version of the GPU Operator of the cluster.
    mig_layout: the name under which the MIG manager knows it, once it has been applied.
    """
    node = place.node
    labels = labels_of(_node_of(node))
    found: dict[str, Any] = {
        "os": node.os,
        "os_image": node.os_image,
        "kernel": node.kernel,
        "kubelet": node.kubelet,
        "runtime": node.runtime,
        "instance_type": node.instance_type,
        "zone": node.zone,
        "driver_version": node.driver_version,
        "driver_source": node.driver_source,
        "stack": place.target.stack,
        "node_uid": node.uid,
        "cordoned": "yes" if node.unschedulable else "no",
        "labels": _labels(labels),
        "plugins": _plugins(node),
        "operator": _operator(node.cluster_id),
        "mig_layout": labels.get(_MIG_LAYOUT, "") if labels.get(f"{_MIG_LAYOUT}.state") == "success" else "",
    }
    return {name: value for name, value in found.items() if value}


def _labels(labels: dict[str, str]) -> dict[str, str]:
    own = {name: value for name, value in labels.items() if not name.partition("/")[0].endswith("kubernetes.io")}
    return {name: own[name][:MOST_LABEL] for name in sorted(own)[:MOST_LABELS] if "timestamp" not in name}


def _operator(cluster: int) -> str:
    rows = Component.objects.filter(cluster_id=cluster, node_name="", name=_OPERATOR).values_list("version", flat=True)
    return next(iter(rows), "")


def _plugins(node: Node) -> dict[str, str]:
    with counting():
        rows = Pod.objects.filter(cluster_id=node.cluster_id, node_name=node.name).exclude(component="")
    found = {}
    for component, facts in rows.order_by("component", "name").values_list("component", "facts")[:MOST_LABELS]:
        try:
            pod = _pods.decode(facts)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        images = [one.image for one in (pod.spec.containers if pod.spec else None) or () if one.image]
        if images:
            found[component] = ", ".join(images)[:MOST_LABEL]
    return found
