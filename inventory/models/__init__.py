"""Tables of the inventory, one module per thing.

Writers, one per table: the watchers of nodes, pods, daemonsets, config maps, resource slices, resource claims, device taint rules
and devices write `Node`, `Pod`, `DaemonSet`, `ConfigMap`, `ResourceSlice`, `ResourceClaim`, `DeviceTaintRule`, `Device` and
`Unreadable`; the reconciler writes `NodeTotals`, `Card`, `Allocation` and `Finding`; commands write `Cluster`; who holds a lease
writes `Watch`, and the schedule `ScheduleLease`; who looks for holds without work writes `IdleHold` and `IdleLook`; who compares
promises with measurements writes `Discrepancy`, and the findings of clusters that come of it; the recorder `HistoryMinute` and
`HistoryDay`; who wants a chart and who asks for it `HistoryAnswer`; each background process its own `Heartbeat` and `Worker`; who
sends a message, and who takes it, its `Message`.
There is no foreign key between mirrored kinds: a pod may arrive before its node.
"""

from inventory.models.cards import Allocation, Card, DirtyNode, Finding, NodeTotals
from inventory.models.charges import ChargeDay, NamespaceDay, NamespaceHold, OwnerDay
from inventory.models.claims import DeviceTaintRule, ResourceClaim, ResourceSlice
from inventory.models.cluster import Cluster, Unreadable, Watch
from inventory.models.discrepancy import Discrepancy
from inventory.models.heartbeat import Heartbeat, Role, ScheduleLease
from inventory.models.history import HistoryAnswer, HistoryDay, HistoryMinute, Subject
from inventory.models.idle import IdleHold, IdleLook
from inventory.models.mirror import ConfigMap, DaemonSet, Device, Node, Pod
from inventory.models.usage import CardUsage, UsageSource
from inventory.models.worker import Message, Worker

__all__ = [
    "Allocation",
    "Card",
    "CardUsage",
    "ChargeDay",
    "Cluster",
    "ConfigMap",
    "DaemonSet",
    "Device",
    "DeviceTaintRule",
    "DirtyNode",
    "Discrepancy",
    "Finding",
    "Heartbeat",
    "HistoryAnswer",
    "HistoryDay",
    "HistoryMinute",
    "IdleHold",
    "IdleLook",
    "Message",
    "NamespaceDay",
    "NamespaceHold",
    "Node",
    "NodeTotals",
    "OwnerDay",
    "Pod",
    "ResourceClaim",
    "ResourceSlice",
    "Role",
    "ScheduleLease",
    "Subject",
    "Unreadable",
    "UsageSource",
    "Watch",
    "Worker",
]
