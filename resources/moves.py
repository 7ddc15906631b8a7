"""The cheapest pods to move for a request, for programs: REST, and `fit --moves --json`."""

from __future__ import annotations

from typing import Annotated

from inventory.placement.moves.plan import Move, Planned
from inventory.placement.moves.read import named
from inventory.placement.moves.text import NOT_READ, plan_text
from resources.declared import Shape, fact


class MovingPod(Shape):
    """A pod that would move."""

    namespace: Annotated[str | None, fact("null: a namespace that you may not see.")]
    pod: str | None
    owner_kind: Annotated[str | None, fact("null: a bare pod, or not visible; see `recreated`.")]
    owner_name: str | None
    recreated: Annotated[bool, fact("Whether a controller creates it again.")]
    priority: int
    memory_bytes: Annotated[int, fact("Allocated memory, as far as it is metered.")]
    to: Annotated[str, fact("A node of the same pool where it fits.")]


class MovePlan(Shape):
    """The cheapest pods to move for a request to fit on one node. gpudash moves nothing."""

    whole_node: bool
    already: Annotated[str | None, fact("A node that needs no move: cluster/node.")]
    cluster: str | None
    node: Annotated[str | None, fact("The node to free; null: no plan.")]
    pods: Annotated[
        int, fact("Pods that move. Costs are compared in this order: pods, memory, priority, bare pods, owners.")
    ]
    memory_bytes: int
    priority: Annotated[int, fact("The highest priority of them.")]
    bare: Annotated[int, fact("Pods that no controller creates again.")]
    owners: int
    hidden: Annotated[int, fact("Pods that move and may not be named to you.")]
    exact: Annotated[bool, fact("Whether no cheaper plan exists; false: the search was cut.")]
    moves: list[MovingPod]
    text: Annotated[str, fact("The plan as shell comments with kubectl commands.")]
    not_read: Annotated[str, fact("What the plan does not rest on.")]


def moves_of(planned: Planned, names: dict[int, str], whole_node: bool) -> MovePlan:
    """names: of the clusters, by id. Pods outside the scope have no names."""
    plan, already = planned.plan, planned.already
    made = [_pod(one) for one in plan.moves] if plan else []
    return MovePlan(
        whole_node=whole_node,
        already=f"{names[already[0]]}/{already[1]}" if already else None,
        cluster=names[plan.place[0]] if plan else None,
        node=plan.place[1] if plan else None,
        pods=plan.cost.pods if plan else 0,
        memory_bytes=plan.cost.memory if plan else 0,
        priority=plan.cost.priority if plan else 0,
        bare=plan.cost.bare if plan else 0,
        owners=plan.cost.owners if plan else 0,
        hidden=sum(one.namespace is None for one in made),
        exact=planned.exact,
        moves=made,
        text=plan_text(planned, names),
        not_read=NOT_READ,
    )


def _pod(one: Move) -> MovingPod:
    pod, seen = one.pod, named(one.pod)
    return MovingPod(
        namespace=pod.namespace if seen else None,
        pod=pod.name if seen else None,
        owner_kind=(pod.owner_kind or None) if seen else None,
        owner_name=(pod.owner_name or None) if seen else None,
        recreated=not pod.bare,
        priority=pod.priority,
        memory_bytes=pod.memory,
        to=one.to[1],
    )
