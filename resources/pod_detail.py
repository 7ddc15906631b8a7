"""One pod; while it waits also the nodes that come closest, and the pods that would have to move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any

from inventory.placement.pending.blockers import Blocked, Blocker
from inventory.placement.pending.closest import Lack
from inventory.placement.pending.detail import Closest, Detail
from inventory.placement.pending.words import lack_text
from resources.declared import Shape, fact, filled
from resources.pod import Pod

#: Pods that are told of one lack.
MOST = 100


class BlockingPod(Shape):
    """A pod that would have to end or move. Names are null outside the scope of the reader."""

    namespace: str | None
    pod: str | None
    amount: Annotated[int, fact("Of what is missing, in its unit.")]
    started_at: datetime


class NodeLack(Shape):
    """What a node lacks for the pod."""

    code: Annotated[
        str,
        fact(
            "short, block: allocated to pods, see blocking. too-few, too-small: more than the node has. not-offered, unknown, "
            "taint, cordoned, not-ready."
        ),
    ]
    text: str
    what: Annotated[str | None, fact("Resource, request of a claim, or taint.")]
    wanted: Annotated[int | None, fact("In units of the resource; of one card in bytes for block and too-small.")]
    there: Annotated[int | None, fact("What the node has of it, or has left, in the same unit.")]
    card: Annotated[str | None, fact("Key of the card that the blocking pods are on; null: any.")]
    pods_total: Annotated[int | None, fact("Pods to which any of it is allocated; null: pods do not matter.")]
    blocking: Annotated[list[BlockingPod], fact(f"The fewest pods that have what is missing; at most {MOST}.")]
    enough: Annotated[
        bool | None, fact("Whether these pods are enough; false: some of it is allocated to unknown pods.")
    ]


class CountedResource(Shape):
    """What a node has of a requested resource."""

    allocatable: Annotated[int, fact(of="there")]
    free: Annotated[int, fact("Less what pods on the node request; negative: overcommitted.")]


class ClosestNode(Shape):
    """A node that comes close."""

    node: str
    model: str | None
    largest_gap_bytes: Annotated[int | None, fact("Largest free block on one card; null: unknown.")]
    counted: Annotated[dict[str, CountedResource], fact("Requested resources, by name.")]
    lacks: Annotated[list[NodeLack], fact("What keeps the pod off; empty: nothing in the synced data.")]


class PodDetail(Pod):
    """A pod, and while it is pending the nodes that come closest."""

    closest: Annotated[list[ClosestNode], fact("Closest nodes first; empty: not pending, or none.")]


def closest_of(detail: Detail | None) -> list[ClosestNode]:
    return [_node(one) for one in detail.nodes] if detail is not None else []


def _node(one: Closest) -> ClosestNode:
    offer, held = one.near.offer, {(each.lack.code, each.lack.what): each for each in one.blocked}
    return ClosestNode(
        node=offer.node,
        model=offer.model or None,
        largest_gap_bytes=offer.gap,
        counted=_counted(one.near.counted),
        lacks=[_lack(lack, held.get((lack.code, lack.what))) for lack in one.near.lacks],
    )


def _counted(found: Mapping[str, Any]) -> dict[str, CountedResource]:
    return {name: filled(CountedResource, number) for name, number in sorted(found.items())}


def _lack(lack: Lack, held: Blocked | None) -> NodeLack:
    return NodeLack(
        code=lack.code,
        text=lack_text(lack),
        what=lack.what or None,
        wanted=lack.wanted or None,
        there=lack.there if lack.wanted else None,
        card=held.card.key if held is not None and held.card is not None else None,
        pods_total=held.holders if held is not None else None,
        blocking=_blocking(held.pods) if held is not None else [],
        enough=held.enough if held is not None else None,
    )


def _blocking(pods: Iterable[Blocker]) -> list[BlockingPod]:
    return [
        BlockingPod(
            namespace=None if one.row.foreign else one.row.namespace,
            pod=one.row.pod or None,
            amount=one.amount,
            started_at=one.started_at,
        )
        for one in list(pods)[:MOST]
    ]
