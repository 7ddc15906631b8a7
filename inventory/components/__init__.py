"""The GPU software of a cluster: which components run on each node and in the cluster, in which version, and what is missing.

Pure: objects → statements, by what the stacks declare (`stacks.engine.software`). Knows no stack by name
and no table.
"""

from inventory.components.of_cluster import of_cluster
from inventory.components.of_node import NodeComponents, completed, declared_with, first_cause, of_node
from inventory.components.read import part_of, software_of

__all__ = [
    "NodeComponents",
    "completed",
    "declared_with",
    "first_cause",
    "of_cluster",
    "of_node",
    "part_of",
    "software_of",
]
