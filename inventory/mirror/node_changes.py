"""What changed of a node, kept for its page and for programs: from two states of its object. One writer: the watcher of nodes.

what: "cordoned", "ready", "driver", "kernel", "kubelet", "os", "runtime", "boot", "offers RESOURCE" (allocatable) or "label NAME".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec
from django.db.models import Count

from inventory.mirror.values import Columns, plain
from inventory.models import NodeChange
from kube.decoders import decoder
from kube.objects import Node
from runtime import bulk
from runtime.clock import database_now
from stacks.engine.node_facts import node_facts

CORDONED, READY, DRIVER, BOOT, OFFERS, LABEL = "cordoned", "ready", "driver", "boot", "offers ", "label "
YES, NO, UNKNOWN = "yes", "no", "unknown"
#: Of one node at once; of one of its labels in a day: one that a program writes each minute says nothing.
MOST, MOST_A_DAY = 50, 20
#: Labels with times: their writers change them at each start.
_TIMES = (".timestamp", "-timestamp")
_COLUMNS = ("cluster_id", "node_name", "what", "before", "after", "at")
_node = decoder(Node)


def traits(node: Node) -> dict[str, str]:
    """what → its value; without what is not there, or as it usually is. Pure, never raises."""
    facts, status = node_facts(node), node.status
    info = status.nodeInfo if status else None
    found = {
        CORDONED: YES if facts.unschedulable else "",
        READY: {True: "", False: NO, None: UNKNOWN}[facts.ready],
        DRIVER: facts.driver_version,
        "kernel": facts.kernel,
        "kubelet": facts.kubelet_version,
        "os": facts.os_image,
        "runtime": facts.container_runtime,
        BOOT: (info.bootID if info else "") or "",
    }
    offered = (status.allocatable if status else None) or {}
    found |= {f"{OFFERS}{name}": str(amount) for name, amount in offered.items()}
    labels = node.metadata.labels or {}
    found |= {f"{LABEL}{name}": value for name, value in labels.items() if not name.endswith(_TIMES)}
    return {plain(what, 320): plain(value, 253) for what, value in found.items() if value}


def note(cluster_id: int, before: Mapping[str, str], after: Mapping[str, Columns]) -> None:
    """Write what changed of nodes that were known. before: name → facts as they are stored; after: name → columns of the new row.

    At most two queries. Inside the caller's transaction.
    """
    changes = {
        (name, *one)
        for name, facts in before.items()
        if after[name]["has_gpu"]
        for one in _differences(facts, after[name]["facts"])
    }
    if not changes:
        return
    now = database_now()
    often = (
        _often(cluster_id, {name for name, *_ in changes}, now) if any(_is_label(one[1]) for one in changes) else set()
    )
    rows = [(cluster_id, *one, now) for one in sorted(changes) if one[:2] not in often]
    bulk.insert(NodeChange, _COLUMNS, rows)


def _differences(before: str, after: str) -> list[tuple[str, str, str]]:
    """(what, before, after)"""
    try:
        old, new = (traits(_node.decode(facts)) for facts in (before, after))
    except (msgspec.MsgspecError, ValueError):  # somebody wrote into the table
        return []
    found = [(what, old.get(what, ""), new.get(what, "")) for what in (old | new) if old.get(what) != new.get(what)]
    return sorted(found, key=lambda one: (_is_label(one[0]), one))[:MOST]


def _is_label(what: str) -> bool:
    return what.startswith(LABEL)


def _often(cluster_id: int, names: set[str], now: datetime) -> set[tuple[str, str]]:
    """(node, label) of labels that changed too often to be kept."""
    rows = NodeChange.objects.filter(
        cluster_id=cluster_id, node_name__in=names, at__gt=now - timedelta(days=1), what__startswith=LABEL
    )
    counted = rows.order_by().values_list("node_name", "what").annotate(n=Count("id")).filter(n__gte=MOST_A_DAY)
    return {(name, what) for name, what, _ in counted}
