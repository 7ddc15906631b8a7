"""Rows of the inventory for tests and for a shell, as the watchers and the reconciler would have written them.

    from tests.factories import make_cluster, make_fleet
    make_fleet(make_cluster("prod"), nodes=300)

Every node is made from a *trait*, a short description of one sharing system (`TRAITS`). Rows are collected in a `Batch` and
written in bulk, so that 300 nodes take less than two seconds. What a trait does not know stays None: never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec
from django.utils import timezone

from inventory.models import Allocation, Card, Cluster, Finding, Node, NodeAccount, Pod, Unreadable, Watch
from inventory.models.choices import CardState
from inventory.models.cluster import Kind, WatchState
from kube import objects as kube

GIB = 2**30
MIB = 2**20
#: Share of each card that is held, repeated over the cards of a node.
DEFAULT_LOADS = (0.0, 0.4, 1.0, 0.8)


@dataclass(frozen=True)
class Trait:
    """One sharing system as rows. card_units: memory of a card in `unit`; None when the system does not know it.

    placed: whether the card of a pod is known. shares: holders that a card admits, for shared cards.
    """

    stack: str
    mode: str
    resource: str
    model: str
    card_units: int | None
    unit_bytes: int = GIB
    unit: str = ""
    unit_source: str = ""
    evidence: str = "count-only"
    placed: bool = True
    shares: int | None = None
    os: str = "linux"

    @property
    def card_bytes(self) -> int | None:
        return None if self.card_units is None else self.card_units * self.unit_bytes

    @property
    def metered(self) -> bool:
        """Whether a hold says how much memory it takes."""
        return self.mode in ("memory", "whole") and self.card_units is not None


_GIB_SOURCE, _MIB_SOURCE = "DaemonSet argument --memory-unit=GiB", "node label aliyun.accelerator/nvidia_mem"
TRAITS: dict[str, Trait] = {
    "gpushare": Trait(
        "gpushare", "memory", "aliyun.com/gpu-mem", "Tesla-T4", 15, GIB, "GiB", _GIB_SOURCE, evidence="annotation-v1"
    ),
    "gpushare-mib": Trait(
        "gpushare", "memory", "aliyun.com/gpu-mem", "Tesla-P4", 7611, MIB, "MiB", _MIB_SOURCE, evidence="annotation-v2"
    ),
    "nvidia": Trait("nvidia", "whole", "nvidia.com/gpu", "A100-SXM4-80GB", 81920, MIB, evidence="device-status"),
    "nvidia-count": Trait("nvidia", "whole", "nvidia.com/gpu", "A100-SXM4-80GB", 81920, MIB, placed=False),
    "time-sliced": Trait(
        "nvidia", "shares", "nvidia.com/gpu.shared", "A10", 23028, MIB, shares=4, evidence="device-status"
    ),
    "directx": Trait(
        "directx-alibaba",
        "shares",
        "windows.alibabacloud.com/directx",
        "",
        None,
        os="windows",
        evidence="count-only",
        shares=16,
    ),
    "unknown": Trait("kubernetes-alpha", "whole", "alpha.kubernetes.io/nvidia-gpu", "", None, placed=False),
}
FLEET = ("gpushare", "nvidia", "gpushare-mib", "nvidia-count", "time-sliced", "directx", "unknown")


@dataclass
class Batch:
    """Rows that are written together, in the order that foreign keys need."""

    cluster: Cluster
    now: datetime = field(default_factory=timezone.now)
    nodes: list[Node] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    allocations: list[Allocation] = field(default_factory=list)
    accounts: list[NodeAccount] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def write(self) -> None:
        Node.objects.bulk_create(self.nodes, batch_size=2000)
        Pod.objects.bulk_create(self.pods, batch_size=2000)
        Card.objects.bulk_create(self.cards, batch_size=2000)
        Allocation.objects.bulk_create(self.allocations, batch_size=2000)
        Finding.objects.bulk_create(self.findings, batch_size=2000)
        tiles: dict[str, list[list[object]]] = {}
        for card in self.cards:
            tiles.setdefault(card.node_name, []).append(_tile(card))
        for account in self.accounts:
            account.tiles = tiles.get(account.node_name, [])
        NodeAccount.objects.bulk_create(self.accounts, batch_size=2000)


def make_cluster(name: str = "prod", *, synced: bool = True, age_s: float = 2.0, held: bool = True) -> Cluster:
    """A cluster with its four watches: in step, or (synced=False) still at the first list. held: by a watcher that lives."""
    cluster = Cluster.objects.create(name=name, server=f"https://{name}.example:6443")
    now = timezone.now()
    state = WatchState.WATCHING if synced else WatchState.LISTING
    Watch.objects.bulk_create(
        Watch(
            cluster=cluster,
            kind=kind,
            state=state,
            holder="test" if held else "",
            expires_at=now + timedelta(hours=1) if held else None,
            state_since=now - timedelta(hours=1),
            synced_at=now - timedelta(hours=1) if synced else None,
            last_event_at=now - timedelta(seconds=age_s) if synced else None,
            resource_version="1000" if synced else "",
        )
        for kind in Kind
    )
    return cluster


def make_node(
    cluster: Cluster,
    name: str = "gpu-1",
    stack: str = "gpushare",
    cards: int = 8,
    *,
    loads: Sequence[float] = DEFAULT_LOADS,
    ready: bool | None = True,
    batch: Batch | None = None,
) -> Node:
    """One node with cards, holders and account. stack: a key of TRAITS. loads: held share of each card, repeated."""
    own = Batch(cluster) if batch is None else batch
    trait = TRAITS[stack]
    node = _node(own, name, trait, cards, ready)
    own.nodes.append(node)
    made = [_card(own, name, trait, index) for index in range(cards)]
    holds = [_fill(own, trait, card, loads[position % len(loads)]) for position, card in enumerate(made)]
    own.cards.extend(made)
    own.accounts.append(_account(own, name, trait, made, [hold for group in holds for hold in group]))
    if batch is None:
        own.write()
    return node


def make_fleet(
    cluster: Cluster, nodes: int = 3, cards: int = 8, *, stacks: Sequence[str] = FLEET, waiting: int = 2
) -> Batch:
    """Nodes of all traits in turn, waiting pods, and a finding on every tenth node."""
    batch = Batch(cluster)
    for number in range(nodes):
        name = f"gpu-{number:05d}"
        make_node(cluster, name, stacks[number % len(stacks)], cards, batch=batch)
        if number % 10 == 0:
            _add_finding(batch, "card-over-committed", "error", name, "0")
    for number in range(waiting):
        batch.pods.append(_waiting_pod(batch, f"waiting-{number}", "aliyun.com/gpu-mem", 8, number + 1))
    batch.write()
    return batch


def make_waiting_pod(cluster: Cluster, name: str = "waiting", *, minutes: int = 5, quantity: int = 8) -> Pod:
    """A pod that no node takes yet."""
    pod = _waiting_pod(Batch(cluster), name, "aliyun.com/gpu-mem", quantity, minutes)
    pod.save()
    return pod


def make_finding(
    cluster: Cluster,
    code: str = "card-over-committed",
    severity: str = "error",
    node_name: str = "",
    card_key: str = "",
) -> Finding:
    batch = Batch(cluster)
    finding = _add_finding(batch, code, severity, node_name, card_key)
    finding.save()
    return finding


def make_unreadable(cluster: Cluster, name: str = "strange") -> Unreadable:
    """An object that did not decode."""
    return Unreadable.objects.create(
        cluster=cluster,
        kind=Kind.PODS,
        namespace="default",
        name=name,
        error="spec: expected object",
        seen_at=timezone.now(),
    )


def end_allocation(allocation: Allocation, *, minutes_ago: float = 1.0) -> None:
    """Make it history, as the reconciler does when its pod goes. The sums of the account stay as they were."""
    allocation.ended_at = timezone.now() - timedelta(minutes=minutes_ago)
    allocation.save(update_fields=["ended_at"])


def lose_card(card: Card) -> None:
    """The card is gone from its node; its row and its history stay."""
    card.gone_at = timezone.now()
    card.save(update_fields=["gone_at"])


def _node(batch: Batch, name: str, trait: Trait, cards: int, ready: bool | None) -> Node:
    amounts: kube.Quantities = {trait.resource: str(cards * (trait.shares or 1))}
    if trait.mode == "memory" and trait.card_units is not None:
        amounts = {trait.resource: str(cards * trait.card_units), "aliyun.com/gpu-count": str(cards)}
    number = len(batch.nodes)
    address = f"10.{number // 62500}.{number // 250 % 250}.{number % 250 + 1}"
    facts = kube.Node(
        metadata=kube.Metadata(name=name, uid=f"node-{name}"),
        status=kube.NodeStatus(
            capacity=amounts, allocatable=amounts, addresses=[kube.NodeAddress(type="InternalIP", address=address)]
        ),
    )
    return Node(
        cluster=batch.cluster,
        uid=f"node-{name}",
        name=name,
        created_at=batch.now - timedelta(days=30),
        facts=msgspec.json.encode(facts).decode(),
        digest=0,
        ready=ready,
        ready_reason="" if ready else "KubeletNotReady: container runtime is down",
        os=trait.os,
        kubelet="v1.33.1",
        instance_type="ecs.gn6i-c4g1.xlarge",
        zone="zone-a",
        address=address,
        driver_version="550.54.15" if trait.stack == "nvidia" else "",
        driver_source="node label nvidia.com/cuda.driver-version.full" if trait.stack == "nvidia" else "",
        has_gpu=True,
    )


def _card(batch: Batch, node_name: str, trait: Trait, index: int) -> Card:
    uuid = f"GPU-{node_name}-{index}" if trait.stack == "nvidia" and trait.placed else ""
    return Card(
        cluster=batch.cluster,
        node_name=node_name,
        key=uuid or str(index),
        index=index,
        uuid=uuid,
        model=trait.model,
        model_source="node label" if trait.model else "",
        stack=trait.stack,
        mode=trait.mode,
        health="healthy",
        state=CardState.UNKNOWN,
        memory_total_bytes=trait.card_bytes,
        memory_physical_bytes=trait.card_bytes,
        memory_source="node label" if trait.card_bytes is not None else "",
        shares=trait.shares,
        first_seen_at=batch.now - timedelta(days=30),
        changed_at=batch.now - timedelta(minutes=5),
        digest=0,
    )


def _fill(batch: Batch, trait: Trait, card: Card, load: float) -> list[Allocation]:
    """Give the card holders worth `load` and set what follows from them."""
    if trait.mode == "memory" and trait.card_units is not None:
        units = round(trait.card_units * load)
        parts = [part for part in (units // 2, units - units // 2) if part]
    elif trait.mode == "shares":
        parts = [1] * round(load * (trait.shares or 1))
    else:
        parts = [1] if load else []
    holds = [_hold(batch, trait, card, number, part) for number, part in enumerate(parts)]
    if not trait.placed:
        return holds
    card.holders_count = len(holds)
    if trait.mode == "shares":
        card.state = CardState.SHARED if holds else CardState.FREE
    elif trait.metered:
        total = trait.card_bytes or 0
        held = sum(hold.memory_bytes or 0 for hold in holds)
        card.memory_allocated_bytes, card.memory_free_bytes = held, total - held
        card.state = _state(held, total)
    return holds


def _state(held: int, total: int) -> CardState:
    if held == 0:
        return CardState.FREE
    if held > total:
        return CardState.OVER
    return CardState.FULL if held == total else CardState.PARTLY


def _hold(batch: Batch, trait: Trait, card: Card, number: int, quantity: int) -> Allocation:
    pod = _pod(batch, trait, card, number, quantity)
    batch.pods.append(pod)
    allocation = Allocation(
        cluster=batch.cluster,
        node_name=card.node_name,
        card=card if trait.placed else None,
        card_key=card.key if trait.placed else "",
        pod_uid=pod.uid,
        namespace=pod.namespace,
        pod=pod.name,
        container="main",
        owner_kind=pod.owner_kind,
        owner_name=pod.owner_name,
        resource=trait.resource,
        stack=trait.stack,
        mode=trait.mode,
        quantity=quantity,
        memory_bytes=_memory(trait, quantity),
        evidence=trait.evidence,
        started_at=batch.now - timedelta(minutes=10 + (card.index or 0)),
        digest=0,
    )
    batch.allocations.append(allocation)
    return allocation


def _memory(trait: Trait, quantity: int) -> int | None:
    if not trait.metered:
        return None
    return quantity * trait.unit_bytes if trait.mode == "memory" else trait.card_bytes


def _pod(batch: Batch, trait: Trait, card: Card, number: int, quantity: int) -> Pod:
    index, namespace = card.index or 0, ("default", "team-a", "team-b")[(card.index or 0) % 3]
    name = f"train-{card.node_name}-{index}-{number}"
    annotations: dict[str, str] = {}
    if trait.evidence == "annotation-v1":
        annotations = {"ALIYUN_COM_GPU_MEM_IDX": str(index), "ALIYUN_COM_GPU_MEM_ASSIGNED": "true"}
    elif trait.evidence == "annotation-v2":
        annotations = {"scheduler.framework.gpushare.allocation": f'{{"0":{{"{index}":{quantity}}}}}'}
    resources = kube.Resources(limits={trait.resource: str(quantity)})
    facts = kube.Pod(
        metadata=kube.Metadata(name=name, namespace=namespace, uid=f"pod-{name}", annotations=annotations or None),
        spec=kube.PodSpec(nodeName=card.node_name, containers=[kube.Container(name="main", resources=resources)]),
        status=kube.PodStatus(phase="Running"),
    )
    return Pod(
        cluster=batch.cluster,
        uid=f"pod-{name}",
        name=name,
        namespace=namespace,
        node_name=card.node_name,
        phase="Running",
        owner_kind="ReplicaSet",
        owner_name=f"train-{namespace}",
        requests={trait.resource: quantity},
        created_at=batch.now - timedelta(minutes=11 + index),
        facts=msgspec.json.encode(facts).decode(),
        digest=0,
    )


def _waiting_pod(batch: Batch, name: str, resource: str, quantity: int, minutes: int) -> Pod:
    facts = kube.Pod(
        metadata=kube.Metadata(name=name, namespace="team-a", uid=f"pod-{name}"),
        status=kube.PodStatus(phase="Pending"),
    )
    return Pod(
        cluster=batch.cluster,
        uid=f"pod-{name}",
        name=name,
        namespace="team-a",
        phase="Pending",
        owner_kind="Job",
        owner_name="batch",
        requests={resource: quantity},
        waiting=True,
        waiting_reason="Unschedulable",
        waiting_message="0/3 nodes are available: 3 Insufficient GPU Memory in one device.",
        created_at=batch.now - timedelta(minutes=minutes),
        facts=msgspec.json.encode(facts).decode(),
        digest=0,
    )


def _account(batch: Batch, name: str, trait: Trait, cards: list[Card], holds: list[Allocation]) -> NodeAccount:
    total = None if trait.card_bytes is None else trait.card_bytes * len(cards)
    metered = trait.metered and trait.placed
    held = sum(hold.memory_bytes or 0 for hold in holds) if metered else None
    counted = trait.mode != "shares" or trait.placed
    in_use = sum(1 for card in cards if card.holders_count) if trait.placed else len(holds)
    return NodeAccount(
        cluster=batch.cluster,
        node_name=name,
        stacks=[trait.stack],
        pool=f"{trait.stack} · {trait.model}" if trait.model else trait.stack,
        model=trait.model,
        unit=trait.unit,
        unit_source=trait.unit_source,
        cards_total=len(cards),
        cards_allocated=in_use if counted else None,
        cards_free=len(cards) - in_use if counted else None,
        memory_total_bytes=total,
        memory_allocated_bytes=held,
        memory_free_bytes=None if total is None or held is None else total - held,
        largest_gap_bytes=max((card.memory_free_bytes or 0 for card in cards), default=0) if metered else None,
        memory_unplaced_bytes=0 if metered else None,
        unplaced_count=0 if trait.placed else len(holds),
        holders_count=len(holds),
        digest=0,
        changed_at=batch.now - timedelta(minutes=5),
    )


def _add_finding(batch: Batch, code: str, severity: str, node_name: str, card_key: str) -> Finding:
    finding = Finding(
        cluster=batch.cluster,
        code=code,
        severity=severity,
        node_name=node_name,
        card_key=card_key,
        text=f"{code} on {node_name or 'the cluster'}: see the holders and move one of them.",
        first_seen_at=batch.now - timedelta(minutes=30),
    )
    batch.findings.append(finding)
    if batch.accounts and batch.accounts[-1].node_name == node_name:
        account = batch.accounts[-1]
        account.findings_count, account.worst_severity = account.findings_count + 1, severity
    return finding


def _tile(card: Card) -> list[object]:
    percent = None
    if card.memory_total_bytes and card.memory_allocated_bytes is not None:
        percent = card.memory_allocated_bytes * 100 // card.memory_total_bytes
    return [card.pk, str(card.index), percent, card.state, card.worst_severity]
