"""Single rows of a node of some trait, put into a batch."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from inventory.models import Allocation, Card, Finding, Node, NodeAccount, Pod
from inventory.models.choices import CardState
from kube import objects as kube
from tests.factories.batch import Batch
from tests.factories.traits import Trait


def node_row(batch: Batch, name: str, trait: Trait, cards: int, ready: bool | None) -> Node:
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


def card_row(batch: Batch, node_name: str, trait: Trait, index: int) -> Card:
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


def filled(batch: Batch, trait: Trait, card: Card, load: float) -> list[Allocation]:
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


def waiting_pod_row(batch: Batch, name: str, resource: str, quantity: int, minutes: int) -> Pod:
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


def account_row(batch: Batch, name: str, trait: Trait, cards: list[Card], holds: list[Allocation]) -> NodeAccount:
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


def add_finding(batch: Batch, code: str, severity: str, node_name: str, card_key: str) -> Finding:
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
