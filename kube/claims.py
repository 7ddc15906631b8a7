"""The objects of dynamic resource allocation (DRA): what drivers offer, and what claims were given.

Field names are those of resource.k8s.io/v1 (1.34); v1beta2 has the same shape, v1beta1 has what a device is under `basic`.
Source: the API reference of Kubernetes 1.36.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kube.objects import Condition, Metadata, NodeSelector, Quantities

GROUP = "resource.k8s.io"


class _Object(msgspec.Struct, omit_defaults=True, gc=False):
    """Base: defaults are left out when encoded, unknown fields are ignored when decoded."""


class Attribute(_Object):
    """One value, in the field of its type."""

    string: str | None = None
    integer: int | None = msgspec.field(name="int", default=None)
    truth: bool | None = msgspec.field(name="bool", default=None)
    version: str | None = None


class Capacity(_Object):
    value: str | int = "0"


class Counters(_Object):
    """What a device takes of a counter set, or what the set has."""

    counterSet: str = ""
    name: str = ""
    counters: dict[str, Capacity] | None = None


class DeviceTaint(_Object):
    key: str = ""
    value: str | None = None
    effect: str = ""
    timeAdded: str | None = None


class DeviceSelector(_Object):
    """Which devices a rule taints; what is left out restricts nothing. deviceClassName, selectors: up to 1.34 only."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    deviceClassName: str | None = None
    selectors: list[Any] | None = None


class TaintRuleSpec(_Object):
    """Without a selector no device is meant."""

    deviceSelector: DeviceSelector | None = None
    taint: DeviceTaint = msgspec.field(default_factory=DeviceTaint)


class DeviceTaintRule(_Object):
    """A taint that an administrator or a controller puts on devices; it stands in none of their slices."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: TaintRuleSpec = msgspec.field(default_factory=TaintRuleSpec)


class DeviceBody(_Object):
    """What is said of a device, besides its name."""

    attributes: dict[str, Attribute] | None = None
    capacity: dict[str, Capacity] | None = None
    consumesCounters: list[Counters] | None = None
    taints: list[DeviceTaint] | None = None
    nodeName: str | None = None
    allNodes: bool | None = None
    allowMultipleAllocations: bool | None = None


class Device(DeviceBody):
    name: str = ""
    #: v1beta1 only.
    basic: DeviceBody | None = None


class Pool(_Object):
    name: str = ""
    generation: int = 0
    resourceSliceCount: int = 1


class SliceSpec(_Object):
    driver: str = ""
    pool: Pool = msgspec.field(default_factory=Pool)
    nodeName: str | None = None
    allNodes: bool | None = None
    perDeviceNodeSelection: bool | None = None
    devices: list[Device] | None = None
    sharedCounters: list[Counters] | None = None


class ResourceSlice(_Object):
    """Devices that a driver offers. A pool is complete with `resourceSliceCount` slices of its highest generation."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: SliceSpec = msgspec.field(default_factory=SliceSpec)


class Expression(_Object):
    expression: str = ""


class Selector(_Object):
    """A condition on devices in the Common Expression Language."""

    cel: Expression | None = None


class CapacityRequests(_Object):
    requests: Quantities | None = None


class ExactRequest(_Object):
    """name: of one of several alternatives only."""

    name: str = ""
    deviceClassName: str = ""
    selectors: list[Selector] | None = None
    allocationMode: str | None = None
    count: int | None = None
    adminAccess: bool | None = None
    capacity: CapacityRequests | None = None


class DeviceRequest(ExactRequest):
    """In v1beta1 the request itself has what is under `exactly` since."""

    exactly: ExactRequest | None = None
    firstAvailable: list[ExactRequest] | None = None


class DeviceRequests(_Object):
    requests: list[DeviceRequest] | None = None


class ClaimSpec(_Object):
    devices: DeviceRequests | None = None


class Result(_Object):
    """One device that was given. consumedCapacity: of a device that several may have."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    adminAccess: bool | None = None
    consumedCapacity: Quantities | None = None
    shareID: str | None = None


class Results(_Object):
    results: list[Result] | None = None


class AllocationResult(_Object):
    devices: Results | None = None
    nodeSelector: NodeSelector | None = None
    allocationTimestamp: str | None = None


class Consumer(_Object):
    """Who uses a claim; `resource` is "pods" for a pod."""

    resource: str = ""
    name: str = ""
    uid: str = ""


class DeviceStatus(_Object):
    """What the driver says of a device that was given (KEP-4817); what conditions mean is the driver's own."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    conditions: list[Condition] | None = None


class ClaimStatus(_Object):
    allocation: AllocationResult | None = None
    reservedFor: list[Consumer] | None = None
    devices: list[DeviceStatus] | None = None


class ResourceClaim(_Object):
    """Devices that somebody asked for, and which they are once they were allocated."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: ClaimSpec | None = None
    status: ClaimStatus | None = None


def pinned_node(selector: NodeSelector | None) -> str:
    """The one node that a selector admits; "" where it may be another."""
    terms = (selector.nodeSelectorTerms if selector else None) or []
    if len(terms) != 1:
        return ""
    wanted = [
        *((one, "metadata.name") for one in terms[0].matchFields or ()),
        *((one, "kubernetes.io/hostname") for one in terms[0].matchExpressions or ()),
    ]
    for requirement, key in wanted:
        if requirement.key == key and requirement.operator == "In" and len(requirement.values or ()) == 1:
            return (requirement.values or [""])[0]
    return ""


def plain_value(attribute: Attribute) -> Any:
    """The value of an attribute, whatever its type; None for one of a type that is not read."""
    found = (attribute.string, attribute.version, attribute.integer, attribute.truth)
    return next((value for value in found if value is not None), None)


__all__ = [
    "GROUP",
    "AllocationResult",
    "Attribute",
    "Capacity",
    "CapacityRequests",
    "ClaimSpec",
    "ClaimStatus",
    "Consumer",
    "Counters",
    "Device",
    "DeviceBody",
    "DeviceRequest",
    "DeviceRequests",
    "DeviceSelector",
    "DeviceStatus",
    "DeviceTaint",
    "DeviceTaintRule",
    "ExactRequest",
    "Expression",
    "NodeSelector",
    "Pool",
    "ResourceClaim",
    "ResourceSlice",
    "Result",
    "Selector",
    "SliceSpec",
    "TaintRuleSpec",
    "pinned_node",
    "plain_value",
]
