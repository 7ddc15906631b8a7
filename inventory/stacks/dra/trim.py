"""What the mirror keeps of slices and claims: what `read` reads."""

from __future__ import annotations

import msgspec

from inventory.stacks.dra.drivers import drives_cards
from kube.claims import ClaimSpec, Device, DeviceRequest, DeviceRequests, ExactRequest, ResourceClaim, ResourceSlice
from kube.objects import Metadata

#: Attributes of a device that are read; of others there may be 32 with 64 characters each.
ATTRIBUTES = frozenset(
    (
        "type",
        "uuid",
        "productName",
        "model",
        "driverVersion",
        "parentUUID",
        "pciAddr",
        "pciAddress",
        "pciBusID",
        "pcieBusID",
        "deviceID",
        "parentPciAddr",
        "parentDeviceID",
        "profile",
        "partitionProfile",
        "index",
        "minor",
        "cardIndex",
    )
)


def short(name: str) -> str:
    """The name of an attribute or a capacity without its domain; one without belongs to the driver's."""
    return name.rpartition("/")[2]


def trim_slice(found: ResourceSlice) -> ResourceSlice:
    spec = msgspec.structs.replace(found.spec, devices=[_device(one) for one in found.spec.devices or ()])
    return ResourceSlice(_metadata(found.metadata), spec)


def _device(device: Device) -> Device:
    body = device.basic or device
    attributes = {name: value for name, value in (body.attributes or {}).items() if short(name) in ATTRIBUTES}
    return Device(
        attributes=attributes,
        capacity=body.capacity,
        consumesCounters=body.consumesCounters,
        taints=body.taints,
        nodeName=body.nodeName,
        allNodes=body.allNodes,
        allowMultipleAllocations=body.allowMultipleAllocations,
        name=device.name,
    )


def trim_claim(claim: ResourceClaim) -> ResourceClaim:
    """Without the devices of other drivers, and of its requests the device classes only: what they ask for has its own column."""
    trimmed = ResourceClaim(_metadata(claim.metadata), _spec(claim.spec), claim.status)
    allocation = claim.status.allocation if claim.status else None
    if claim.status is not None and allocation is not None and allocation.devices is not None:
        results = [one for one in allocation.devices.results or () if drives_cards(one.driver)]
        devices = msgspec.structs.replace(allocation.devices, results=results)
        allocation = msgspec.structs.replace(allocation, devices=devices, nodeSelector=None)
        trimmed.status = msgspec.structs.replace(claim.status, allocation=allocation)
    return trimmed


def _spec(spec: ClaimSpec | None) -> ClaimSpec | None:
    wanted = (spec.devices.requests if spec and spec.devices else None) or ()
    kept = [
        DeviceRequest(
            name=one.name,
            deviceClassName=one.deviceClassName,
            exactly=ExactRequest(deviceClassName=one.exactly.deviceClassName) if one.exactly else None,
            firstAvailable=[ExactRequest(deviceClassName=each.deviceClassName) for each in one.firstAvailable or ()]
            or None,
        )
        for one in wanted
    ]
    return ClaimSpec(DeviceRequests(kept)) if spec is not None else None


def _metadata(metadata: Metadata) -> Metadata:
    return Metadata(
        name=metadata.name,
        namespace=metadata.namespace,
        uid=metadata.uid,
        creationTimestamp=metadata.creationTimestamp,
        deletionTimestamp=metadata.deletionTimestamp,
        ownerReferences=metadata.ownerReferences,
    )
