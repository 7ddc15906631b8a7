"""The stacks that gpudash understands: one module (or package) each, beside `engine`, the machinery.

A system is added by its module and its name in MODULES; all else that is to be known of it stands in its `STACK` (see
`engine.stack`). What several systems have in common and is not machinery is in `shared`.
"""

from __future__ import annotations

from stacks.engine.declarations import load
from stacks.engine.registry import concerned, marked, owner, readers, registry, relevant_resource

__all__ = ["MODULES", "STACKS", "concerned", "marked", "owner", "readers", "relevant_resource"]

#: Where labels of several writers say what the cards of a node are, that of the first counts; and of components, those of the first
#: explain those of the others. Else the order means nothing.
MODULES = (
    "node_features",
    "nvidia",
    "gpushare",
    "hami",
    "directx_alibaba",
    "directx_microsoft",
    "directx_tensorworks",
    "kubernetes_alpha",
    "hosts",
    "machines",
    "kai",
    "volcano",
    "koordinator",
    "gaia",
    "cloud_shares",
    "amd",
    "intel",
    "virtual_machines",
    "ascend",
    "aws_neuron",
    "cambricon",
    "enflame",
    "kunlun",
    "metax",
    "moore_threads",
    "resource_map",
    "dra",
)

registry.populate(load(__name__, MODULES))
#: All stacks, ordered by name.
STACKS = registry.stacks
