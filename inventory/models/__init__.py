"""Tables of the inventory, one module per thing.

Writers, one per table: the watchers of nodes, pods, daemonsets, config maps, resource slices, resource claims, device taint rules
and devices write `Node`, `Pod`, `DaemonSet`, `ConfigMap`, `ResourceSlice`, `ResourceClaim`, `DeviceTaintRule`, `Device` and
`Unreadable`, that of nodes also `NodeChange`, that of pods `PodFailure`, those of Deployments, Services and custom resources
`SoftwareObject`; the
reconciler writes `NodeTotals`, `Card`, `Allocation`, `Component`, `ComponentChange` and `Finding`; commands write `Cluster`; the
holder of a lease writes `Watch`; the search for idle allocations writes `IdleAllocation` and `IdleLook`; the comparison of
allocations with measurements writes `Discrepancy`, and the findings of clusters that come of it; the look over failed pods
`FailureLook`; the recorder `HistoryMinute` and `HistoryDay`; who wants a chart and who asks for it `HistoryAnswer`; each watch
worker its own `Worker`.
There is no foreign key between mirrored kinds: a pod may arrive before its node.
"""

from inventory.models.cards import Allocation, Card, DirtyNode, Finding, NodeTotals
from inventory.models.charges import ChargeDay, NamespaceAllocation, NamespaceDay, OwnerDay, Price
from inventory.models.claims import DeviceTaintRule, ResourceClaim, ResourceSlice
from inventory.models.cluster import Cluster, Unreadable, Watch
from inventory.models.discrepancy import Discrepancy
from inventory.models.history import HistoryAnswer, HistoryDay, HistoryMinute, Subject
from inventory.models.idle import IdleAllocation, IdleLook
from inventory.models.mirror import ConfigMap, DaemonSet, Device, FailureLook, Node, NodeChange, Pod, PodFailure
from inventory.models.software import Component, ComponentChange, SoftwareObject
from inventory.models.usage import CardUsage, UsageSource
from inventory.models.worker import Worker

__all__ = [
    "Allocation",
    "Card",
    "CardUsage",
    "ChargeDay",
    "Cluster",
    "Component",
    "ComponentChange",
    "ConfigMap",
    "DaemonSet",
    "Device",
    "DeviceTaintRule",
    "DirtyNode",
    "Discrepancy",
    "FailureLook",
    "Finding",
    "HistoryAnswer",
    "HistoryDay",
    "HistoryMinute",
    "IdleAllocation",
    "IdleLook",
    "NamespaceAllocation",
    "NamespaceDay",
    "Node",
    "NodeChange",
    "NodeTotals",
    "OwnerDay",
    "Pod",
    "PodFailure",
    "Price",
    "ResourceClaim",
    "ResourceSlice",
    "SoftwareObject",
    "Subject",
    "Unreadable",
    "UsageSource",
    "Watch",
    "Worker",
]
