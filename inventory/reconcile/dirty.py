"""Which nodes are dirty, and whose turn it is.

A row for many nodes becomes one for each of them, except where one is dirty already: it keeps its place, so a flood of rows for
all nodes keeps nobody waiting for ever. Half of each chunk is kept for nodes with a row of their own, so a change of one node
is not behind all others.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from django.db.models import QuerySet

from inventory.models import DirtyNode, Finding, NodeTotals
from inventory.models import Node as NodeRow
from inventory.models import Pod as PodRow
from inventory.models.software import CLUSTER_SOFTWARE
from inventory.stack_context import stack_context
from kube.decoders import decoder
from kube.objects import Node
from runtime import bulk
from stacks import concerned

#: Nodes per transaction: small enough that an event waits less than half a second while all nodes are looked at.
CHUNK = 100
#: Rows that are looked at for a chunk; a busy node may have many.
ROWS = 1000
#: The code of the finding of a node of which no report could be made.
NOT_ACCOUNTED = "not-accounted"

_node = decoder(Node)


def dirty_nodes(cluster_id: int) -> QuerySet[DirtyNode]:
    return DirtyNode.objects.filter(cluster_id=cluster_id)


def software_is_dirty(cluster_id: int) -> QuerySet[DirtyNode]:
    """That an object changed by which the cluster's components are judged."""
    return dirty_nodes(cluster_id).filter(node_name="", stack=CLUSTER_SOFTWARE)


def next_chunk(cluster_id: int, without: Container[str] = ()) -> list[str]:
    """The nodes whose turn it is, oldest first: half of them those with a row of their own, as far as there are any.

    without: nodes that are being written at this moment.
    """
    dirty = dirty_nodes(cluster_id)
    own = _oldest(dirty.filter(among_all=False), without)
    rest = _oldest(dirty.filter(among_all=True), without)
    room = max(CHUNK // 2, CHUNK - len(rest))
    return list(dict.fromkeys([*own[:room], *rest]))[:CHUNK]


def _oldest(dirty: QuerySet[DirtyNode], without: Container[str]) -> list[str]:
    names = dirty.exclude(node_name="").order_by("id").values_list("node_name", flat=True)[:ROWS]
    return list(dict.fromkeys(name for name in names if name not in without))[:CHUNK]


def expand(cluster_id: int) -> int:
    """Rows for many nodes become one for each that is not dirty already. Returns how many nodes are dirty then.

    Inside the caller's transaction. The rows are deleted before the names are read: what is committed in between is then among
    the names.
    """
    many = dict(dirty_nodes(cluster_id).filter(node_name="").exclude(stack=CLUSTER_SOFTWARE).values_list("id", "stack"))
    dirty_nodes(cluster_id).filter(id__in=many).delete()
    stacks = set(many.values())
    names = _all_nodes(cluster_id) if "" in stacks else _nodes_of(cluster_id, stacks)
    already = set(dirty_nodes(cluster_id).exclude(node_name="").values_list("node_name", flat=True))
    columns = ("cluster_id", "node_name", "among_all")
    bulk.insert(DirtyNode, columns, [(cluster_id, name, True) for name in sorted(names - already)])
    return len(names | already)


def _all_nodes(cluster_id: int) -> set[str]:
    """Those too that only the totals or the pods know."""
    names = set(NodeRow.objects.filter(cluster_id=cluster_id).values_list("name", flat=True))
    names |= set(NodeTotals.objects.filter(cluster_id=cluster_id).values_list("node_name", flat=True))
    pods = PodRow.objects.filter(cluster_id=cluster_id).exclude(node_name="")
    return names | set(pods.values_list("node_name", flat=True).distinct())


def _nodes_of(cluster_id: int, stacks: Iterable[str]) -> set[str]:
    """Nodes that one of the stacks has to do with: by what they offer, by their totals, or no report could be made.

    A pod that holds what its node does not offer is in the totals.
    """
    wanted = set(stacks)
    totals_of_nodes = NodeTotals.objects.filter(cluster_id=cluster_id).values_list("node_name", "stacks")
    names = {name for name, used in totals_of_nodes.iterator() if wanted & set(used)}
    failed = Finding.objects.filter(cluster_id=cluster_id, code=NOT_ACCOUNTED, ended_at=None)
    names |= set(failed.values_list("node_name", flat=True))
    rows = NodeRow.objects.filter(cluster_id=cluster_id).values_list("name", "facts")
    return names | {name for name, facts in rows.iterator() if wanted & _stacks_of(facts)}


def _stacks_of(facts: str) -> set[str]:
    node = _node.decode(facts)
    status = node.status
    offered = {**(status.capacity or {}), **(status.allocatable or {})} if status else {}
    return {stack.name for stack in concerned(node, offered, stack_context())}
