"""What the mirror keeps of slices and claims: what `read` reads."""

from __future__ import annotations

import msgspec

from kube.claims import (
    ClaimSpec,
    Device,
    DeviceRequest,
    DeviceRequests,
    DeviceStatus,
    DeviceTaint,
    DeviceTaintRule,
    ExactRequest,
    ResourceClaim,
    ResourceSlice,
    TaintRuleSpec,
)
from kube.objects import Condition, Metadata
from stacks.dra.drivers import drives_cards
from stacks.dra.health_reports import HEALTH_ATTRIBUTES

#: Conditions of a device that the API admits; longest text of one that is kept.
_MOST_CONDITIONS, _TEXT = 8, 300

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
        *HEALTH_ATTRIBUTES,
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


def trim_rule(rule: DeviceTaintRule) -> DeviceTaintRule:
    """With texts of a bounded length. Of criteria that are not evaluated it counts that there are some."""
    selector, taint = rule.spec.deviceSelector, rule.spec.taint
    if selector is not None and selector.selectors:
        selector = msgspec.structs.replace(selector, selectors=[{}])
    kept = DeviceTaint(
        taint.key[:_TEXT], taint.value[:_TEXT] if taint.value else None, taint.effect[:_TEXT], taint.timeAdded
    )
    return DeviceTaintRule(_metadata(rule.metadata), TaintRuleSpec(selector, kept))


def trim_claim(claim: ResourceClaim) -> ResourceClaim:
    """Without the devices of other drivers, and of its requests the device classes only: what they ask for has its own column."""
    status = (
        msgspec.structs.replace(claim.status, devices=None) if claim.status and claim.status.devices else claim.status
    )
    trimmed = ResourceClaim(_metadata(claim.metadata), _spec(claim.spec), status)
    allocation = claim.status.allocation if claim.status else None
    if claim.status is not None and allocation is not None and allocation.devices is not None:
        results = [one for one in allocation.devices.results or () if drives_cards(one.driver)]
        devices = msgspec.structs.replace(allocation.devices, results=results)
        allocation = msgspec.structs.replace(allocation, devices=devices, nodeSelector=None)
        said = [_said(one) for one in claim.status.devices or () if drives_cards(one.driver)]
        trimmed.status = msgspec.structs.replace(claim.status, allocation=allocation, devices=said or None)
    return trimmed


def _said(device: DeviceStatus) -> DeviceStatus:
    """The conditions that the API admits for a device, with short texts."""
    kept = [
        Condition(
            type=one.type[:_TEXT],
            status=one.status[:_TEXT],
            reason=(one.reason or "")[:_TEXT] or None,
            message=(one.message or "")[:_TEXT] or None,
            lastTransitionTime=one.lastTransitionTime,
        )
        for one in (device.conditions or [])[:_MOST_CONDITIONS]
    ]
    return DeviceStatus(driver=device.driver, pool=device.pool, device=device.device, conditions=kept or None)


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
