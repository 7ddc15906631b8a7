"""Labels of nodes that prices choose by."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from operator import or_

import msgspec
from django.db.models import Q

from inventory.models import Node
from kube import objects as kube
from kube.decoders import decoder

_node = decoder(kube.Node)
Place = tuple[int, str]


def labels_of(nodes: Sequence[Place] | int, keys: Collection[str]) -> dict[Place, tuple[str, ...]]:
    """Node → "key=value" of its labels with these keys. nodes: (cluster id, name), or a cluster's id for all of its nodes with a GPU.

    One query; none without keys or nodes.
    """
    if not keys or nodes == []:
        return {}
    if isinstance(nodes, int):
        chosen = Q(cluster_id=nodes, has_gpu=True)
    else:
        clusters = {cluster for cluster, _ in nodes}
        chosen = reduce(
            or_, (Q(cluster_id=one, name__in=[name for at, name in nodes if at == one]) for one in clusters)
        )
    found = {}
    for cluster, name, facts in Node.objects.filter(chosen).values_list("cluster_id", "name", "facts").iterator(2000):
        try:
            labels = _node.decode(facts).metadata.labels or {}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        found[(cluster, name)] = tuple(f"{key}={labels[key]}" for key in sorted(labels.keys() & set(keys)))
    return found
