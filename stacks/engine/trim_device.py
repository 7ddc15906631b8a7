"""What the mirror keeps of a Device object: the cards of its node, without what changes while nothing happens."""

from __future__ import annotations

from kube.devices import GPU, Device, DeviceInfo, DeviceSpec
from kube.objects import Condition, Metadata
from stacks.engine.names import MAX_CARDS
from stacks.engine.registry import looks_like_gpu, registry

_HEALTHY = "Healthy"
_LONGEST = 256


def trim_device(found: Device) -> Device | None:
    """A copy with only what is read; None where it has no cards. More than any node has are cut off (one is left to tell)."""
    cards = [_info(one) for one in (found.spec.devices if found.spec else None) or () if one.type == GPU]
    if not cards:
        return None
    metadata = found.metadata
    labels = {
        name: value for name, value in (metadata.labels or {}).items() if name.startswith(registry.label_prefixes)
    }
    return Device(
        metadata=Metadata(
            name=metadata.name,
            uid=metadata.uid,
            creationTimestamp=metadata.creationTimestamp,
            labels=dict(sorted(labels.items())) or None,
        ),
        spec=DeviceSpec(cards[: MAX_CARDS + 1]),
    )


def _info(one: DeviceInfo) -> DeviceInfo:
    return DeviceInfo(
        type=one.type,
        id=one.id[:_LONGEST],
        minor=one.minor,
        moduleID=one.moduleID,
        health=one.health,
        resources={name: value for name, value in (one.resources or {}).items() if looks_like_gpu(name)} or None,
        topology=one.topology,
        conditions=[_condition(item) for item in one.conditions or () if item.type == _HEALTHY][:1] or None,
    )


def _condition(item: Condition) -> Condition:
    return Condition(
        type=item.type,
        status=item.status,
        reason=item.reason[:_LONGEST] if item.reason else None,
        message=item.message[:_LONGEST] if item.message else None,
    )
