"""Which nodes wait for their account, and whose turn it is.

A mark for many nodes becomes one for each of them, except where one waits already: who waits keeps its place, so a flood of marks for
all nodes keeps nobody waiting for ever. Half of each chunk is kept for nodes with a mark of their own, so a change of one node
is not behind a recount of all. All inside the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from django.db.models import QuerySet

from inventory import bulk
from inventory.mirror.kinds import stack_context
from inventory.models import DirtyNode, Finding, NodeAccount
from inventory.models import Node as NodeRow
from inventory.models import Pod as PodRow
from inventory.stacks import concerned
from kube.objects import Node

#: Nodes per transaction: small enough that an event waits less than half a second behind a full recount.
CHUNK = 100
#: The same before the cards are in step for the first time: nobody waits for an event yet, and each transaction costs.
FIRST_CHUNK = 400
#: Marks that are looked at for a chunk; a busy node may have many.
MARKS = 1000
#: The code of the finding of a node whose account could not be made.
NOT_ACCOUNTED = "not-accounted"

_node = msgspec.json.Decoder(Node)


def marks(cluster_id: int, last: int) -> QuerySet[DirtyNode]:
    """The marks of a cluster up to `last`: later ones speak of what is not read yet."""
    return DirtyNode.objects.filter(cluster_id=cluster_id, id__lte=last)


def chunk_of(waiting: QuerySet[DirtyNode], first: bool = False) -> list[str]:
    """The nodes whose turn it is, oldest first: half of them those with a mark of their own, as far as there are any.

    first: the cards were never in step.
    """
    size = FIRST_CHUNK if first else CHUNK
    own, rest = _oldest(waiting.filter(among_all=False), size), _oldest(waiting.filter(among_all=True), size)
    room = max(size // 2, size - len(rest))
    return list(dict.fromkeys([*own[:room], *rest]))[:size]


def _oldest(waiting: QuerySet[DirtyNode], size: int) -> list[str]:
    names = waiting.exclude(node_name="").order_by("id").values_list("node_name", flat=True)[:MARKS]
    return list(dict.fromkeys(names))[:size]


def expand(cluster_id: int, last: int) -> int:
    """Marks for many nodes become one for each that does not wait already. Returns how many nodes wait then.

    The marks are deleted before the names are read: what is committed in between is then among the names.
    """
    many = marks(cluster_id, last).filter(node_name="")
    stacks = set(many.values_list("stack", flat=True))
    many.delete()
    names = _all_nodes(cluster_id) if "" in stacks else _nodes_of(cluster_id, stacks)
    wait_already = set(marks(cluster_id, last).values_list("node_name", flat=True))
    columns = ("cluster_id", "node_name", "among_all")
    bulk.insert(DirtyNode, columns, [(cluster_id, name, True) for name in sorted(names - wait_already)])
    return len(names | wait_already)


def _all_nodes(cluster_id: int) -> set[str]:
    """Those that only the books or the pods know too."""
    names = set(NodeRow.objects.filter(cluster_id=cluster_id).values_list("name", flat=True))
    names |= set(NodeAccount.objects.filter(cluster_id=cluster_id).values_list("node_name", flat=True))
    pods = PodRow.objects.filter(cluster_id=cluster_id).exclude(node_name="")
    return names | set(pods.values_list("node_name", flat=True).distinct())


def _nodes_of(cluster_id: int, stacks: Iterable[str]) -> set[str]:
    """Nodes that one of the stacks has to do with: by what they offer, by their account, or none could be made.

    A pod that holds what its node does not offer is in the account.
    """
    wanted = set(stacks)
    accounts = NodeAccount.objects.filter(cluster_id=cluster_id).values_list("node_name", "stacks")
    names = {name for name, used in accounts.iterator() if wanted & set(used)}
    failed = Finding.objects.filter(cluster_id=cluster_id, code=NOT_ACCOUNTED, ended_at=None)
    names |= set(failed.values_list("node_name", flat=True))
    rows = NodeRow.objects.filter(cluster_id=cluster_id).values_list("name", "facts")
    return names | {name for name, facts in rows.iterator() if wanted & _stacks_of(facts)}


def _stacks_of(facts: str) -> set[str]:
    node = _node.decode(facts)
    status = node.status
    offered = {**(status.capacity or {}), **(status.allocatable or {})} if status else {}
    return {stack.name for stack in concerned(node, offered, stack_context())}
