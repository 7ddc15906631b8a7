"""The stacks that gpudash understands: one module (or package) each, beside `engine`, the machinery.

A stack is added by its module and its line in DECLARED; all else that is to be known of it stands in its `STACK` (see
`engine.stack`). What several systems have in common and is not machinery is in `shared`.
"""

from __future__ import annotations

from stacks import (
    amd,
    ascend,
    aws_neuron,
    cambricon,
    cloud_shares,
    directx_alibaba,
    directx_microsoft,
    directx_tensorworks,
    dra,
    enflame,
    gaia,
    gpushare,
    hami,
    hosts,
    intel,
    kai,
    koordinator,
    kubernetes_alpha,
    kunlun,
    machines,
    metax,
    moore_threads,
    node_features,
    nvidia,
    resource_map,
    virtual_machines,
    volcano,
)
from stacks.engine.registry import concerned, marked, owner, readers, registry, relevant_resource
from stacks.engine.stack import Recognised

__all__ = ["DECLARED", "STACKS", "concerned", "marked", "owner", "readers", "relevant_resource"]

#: All of them. Where labels of several writers say what the cards of a node are, that of the first counts; and of components, those
#: of the first explain those of the others. Else the order means nothing.
DECLARED: tuple[Recognised, ...] = (
    node_features.RECOGNISED,
    nvidia.STACK,
    gpushare.STACK,
    hami.STACK,
    directx_alibaba.STACK,
    directx_microsoft.STACK,
    directx_tensorworks.STACK,
    kubernetes_alpha.STACK,
    hosts.RECOGNISED,
    machines.RECOGNISED,
    kai.STACK,
    volcano.STACK,
    koordinator.STACK,
    gaia.STACK,
    cloud_shares.STACK,
    amd.STACK,
    intel.STACK,
    virtual_machines.STACK,
    ascend.STACK,
    aws_neuron.STACK,
    cambricon.STACK,
    enflame.STACK,
    kunlun.STACK,
    metax.STACK,
    moore_threads.STACK,
    resource_map.STACK,
    dra.STACK,
)

registry.populate(DECLARED)
#: All stacks, ordered by name.
STACKS = registry.stacks
