"""Why pods wait, told of each in one line: for a page of pods a constant number of queries, whatever they request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from inventory.models import Node, Pod
from inventory.placement.pending.asked import asks_of
from inventory.placement.pending.board import Board, boards
from inventory.placement.pending.closest import LOOKED, UNKNOWN, Near, nearest, with_taints
from inventory.placement.pending.deciding import NOTHING, Waiting, deciding
from inventory.placement.pending.devices import alike, wanted_of
from inventory.queries.claimed import with_claims
from inventory.stack_context import stack_context
from kube import objects as kube
from kube.decoders import decoder
from kube.unschedulable import read
from stacks.engine.base import Context

#: Nodes of each pod whose taints are read: the first without one that keeps the pod off decides.
_CLOSE = 3
_decoder = decoder(kube.Node)


def with_deciding(pods: Iterable[Pod]) -> list[Pod]:
    """The same pods with their claims, each with what decides that it waits (`deciding`). Four queries at most."""
    found = with_claims(pods)
    read_of = _read(found, _CLOSE)
    cards = alike(pod.cluster_id for pod, waiting, _board, _near in read_of if waiting.wanted)
    for pod in found:
        pod.deciding = NOTHING  # type: ignore[attr-defined]
    for pod, waiting, board, near in read_of:
        pod.deciding = deciding(waiting, board, near, cards.get(pod.cluster_id, ()))  # type: ignore[attr-defined]
    return found


def where_they_fit(pods: Iterable[Pod]) -> set[tuple[int, str]]:
    """(id of a cluster, node) where one of these pods fits, as far as is known: of each pod the closest nodes. Two queries.

    What claims request is not looked at. A node whose free memory is not known may be one.
    """
    return {
        (pod.cluster_id, one.node)
        for pod, _waiting, _board, near in _read(list(pods), LOOKED)
        for one in near
        if all(lack.code == UNKNOWN for lack in one.lacks)
    }


def _read(pods: list[Pod], most: int) -> list[tuple[Pod, Waiting, Board, list[Near]]]:
    """Those that wait, each with the board of its cluster and so many of the closest nodes, with their taints. Two queries."""
    context = stack_context()
    pending = [(pod, waiting_of(pod, context)) for pod in pods if pod.pending]
    known = boards(pod.cluster_id for pod, _ in pending)
    closest: dict[object, list[Near]] = {}  # replicas request the same, and each look is at all nodes
    near = []
    for pod, waiting in pending:
        key = pod.cluster_id, tuple((ask.resource, ask.quantity) for ask in waiting.asks)
        if key not in closest:
            closest[key] = nearest(waiting.asks, known[pod.cluster_id], most)
        near.append(closest[key])
    nodes = nodes_of((pod.cluster_id, one.node) for (pod, _), close in zip(pending, near, strict=True) for one in close)
    tainted = [
        with_taints(close, nodes[pod.cluster_id], {ask.resource for ask in waiting.asks}, waiting.told)
        for (pod, waiting), close in zip(pending, near, strict=True)
    ]
    return [
        (pod, waiting, known[pod.cluster_id], close) for (pod, waiting), close in zip(pending, tainted, strict=True)
    ]


def waiting_of(pod: Pod, context: Context | None = None) -> Waiting:
    """pod: with its claims."""
    claims = tuple(getattr(pod, "claimed", ()))
    return Waiting(asks_of(pod, context), claims, wanted_of(claims), read(pod.pending_message))


def nodes_of(places: Iterable[tuple[int, str]]) -> Mapping[int, dict[str, kube.Node]]:
    """places: (id of a cluster, name). By both what the node says of itself, its taints above all. One query, none for none."""
    wanted = set(places)
    found: dict[int, dict[str, kube.Node]] = defaultdict(dict)
    rows = Node.objects.filter(cluster__in={one for one, _ in wanted}, name__in={name for _, name in wanted})
    for cluster, name, facts in rows.values_list("cluster_id", "name", "facts") if wanted else ():
        if (cluster, name) in wanted:
            found[cluster][name] = _decoded(facts)
    return found


def _decoded(facts: str) -> kube.Node:
    try:
        return _decoder.decode(facts)
    except msgspec.DecodeError:  # somebody wrote into the table
        return kube.Node()
