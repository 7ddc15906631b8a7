"""A plan as text to copy: shell comments, so that pasting it runs nothing. Names of the cluster are quoted."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from inventory.placement.moves.plan import Plan, Planned
from inventory.placement.moves.pods import Pod
from inventory.placement.moves.read import named
from wording.printable import one_line

_GIB = 2**30
#: What the plan does not rest on, in English.
NOT_READ = (
    "PodDisruptionBudgets, node selectors, tolerations and affinity of pods are not synced. "
    "Moved pods stay in their pool, on nodes without further taints."
)


def plan_text(planned: Planned, names: dict[int, str]) -> str:
    """Shell comments; "" without a plan. names: of the clusters, by id."""
    return (
        ""
        if planned.plan is None
        else "\n".join(f"# {one_line(line)}" for line in _lines(planned, planned.plan, names))
    )


def _lines(planned: Planned, plan: Plan, names: dict[int, str]) -> Iterator[str]:
    cluster, node = names[plan.place[0]], shlex.quote(plan.place[1])
    bare = f", {plan.cost.bare} without a controller" if plan.cost.bare else ""
    yield f"Cluster {cluster}: {plan.cost.pods} pods ({plan.cost.memory / _GIB:.1f} GiB{bare}) leave node {node}."
    yield "" if planned.exact else "The search was cut: a cheaper plan may exist."
    yield NOT_READ
    yield f"kubectl cordon {node}"
    for move in plan.moves:
        if named(move.pod):
            target = f"kubectl delete pod --namespace {shlex.quote(move.pod.namespace)} {shlex.quote(move.pod.name)}"
        else:
            target = f"one pod of another namespace, which you may not see ({move.pod.memory / _GIB:.1f} GiB)"
        yield f"{target}  -> {move.to[1]}; {again(move.pod)}"
    yield f"kubectl uncordon {node}"


def again(pod: Pod) -> str:
    """Who creates the pod again, in English."""
    if pod.bare:
        return "bare pod: no controller creates it again"
    return f"recreated by its {pod.owner_kind}" if named(pod) else "recreated by its controller"
