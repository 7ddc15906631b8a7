"""Tables of the inventory, one module per thing.

Writers, one per table: the watchers of nodes, pods, daemonsets, config maps, resource slices, resource claims and devices write
`Node`, `Pod`, `DaemonSet`, `ConfigMap`, `ResourceSlice`, `ResourceClaim`, `Device` and `Unreadable`; the
reconciler writes `NodeTotals`, `Card`, `Allocation` and `Finding`; commands write `Cluster`; who holds a lease writes `Watch`;
who looks for holds without work
writes `IdleHold` and `IdleLook`; each background process its own `Heartbeat`
and `Worker`; who sends a message, and who takes it, its `Message`.
There is no foreign key between mirrored kinds: a pod may arrive before its node.
"""

from inventory.models.cards import Allocation, Card, DirtyNode, Finding, NodeTotals
from inventory.models.claims import ResourceClaim, ResourceSlice
from inventory.models.cluster import Cluster, Unreadable, Watch
from inventory.models.heartbeat import Heartbeat, Role
from inventory.models.idle import IdleHold, IdleLook
from inventory.models.mirror import ConfigMap, DaemonSet, Device, Node, Pod
from inventory.models.usage import CardUsage, UsageSource
from inventory.models.worker import Message, Worker

__all__ = [
    "Allocation",
    "Card",
    "CardUsage",
    "Cluster",
    "ConfigMap",
    "DaemonSet",
    "Device",
    "DirtyNode",
    "Finding",
    "Heartbeat",
    "IdleHold",
    "IdleLook",
    "Message",
    "Node",
    "NodeTotals",
    "Pod",
    "ResourceClaim",
    "ResourceSlice",
    "Role",
    "Unreadable",
    "UsageSource",
    "Watch",
    "Worker",
]
