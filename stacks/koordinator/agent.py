"""The cards of a node by its Device object: number (minor), UUID, memory, health. Koordinator's agent on the node writes it.

A card that the agent calls unhealthy is in no capacity of the node, so nothing else tells that it is there. `health` is false where
nothing is said, as the API has it. Source: koordinator-sh/koordinator a7a1b76 (apis/scheduling/v1alpha1/device_types.go,
pkg/koordlet/statesinformer/impl/states_device_linux.go).
"""

from __future__ import annotations

import re

import msgspec

from kube.devices import GPU, Device, DeviceInfo
from kube.quantity import size
from stacks.engine.base import WARNING, Finding
from stacks.engine.names import MAX_CARDS
from wording.said import sentence

BYTES, MODEL = "koordinator.sh/gpu-memory", "node.koordinator.sh/gpu-model"
SOURCE = "Device of Koordinator"
_BUS = re.compile(r"(?:[0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]")
_LONGEST_ID = 128


class Reported(msgspec.Struct, frozen=True):
    """One card. key: its number, as pods' records name it. uuid: None where its id is an address or a number. memory: bytes."""

    key: str
    minor: int
    uuid: str | None
    names: frozenset[str]
    memory: int | None
    healthy: bool
    reason: str = ""


def reported(device: Device | None) -> list[Reported] | None:
    """The cards of the node; None where there is no such object, or where it does not tell its cards apart."""
    infos = [one for one in (device.spec.devices if device and device.spec else None) or () if one.type == GPU]
    if not infos or len(infos) > MAX_CARDS:
        return None
    minors = {one.minor for one in infos if one.minor is not None and 0 <= one.minor < MAX_CARDS}
    if len(minors) != len(infos):
        return None
    return sorted((_reported(one, one.minor or 0) for one in infos), key=lambda one: one.minor)


def _reported(one: DeviceInfo, minor: int) -> Reported:
    name = one.id if 0 < len(one.id) <= _LONGEST_ID and one.id.isprintable() else ""
    bus = one.topology.busID if one.topology else ""
    plain = not name or name.isdigit() or _BUS.fullmatch(name) is not None
    condition = next(iter(one.conditions or ()), None)
    reason = ": ".join(text for text in (condition.reason, condition.message) if text) if condition else ""
    return Reported(
        key=str(minor),
        minor=minor,
        uuid=None if plain else name,
        names=frozenset(text for text in (name, bus) if text),
        memory=size((one.resources or {}).get(BYTES)),
        healthy=one.health,
        reason="" if one.health else reason[:300],
    )


def findings(device: Device | None, cards: list[Reported] | None) -> list[Finding]:
    """What is wrong with the object, and each card that the agent calls unhealthy."""
    if device is not None and cards is None:
        text = sentence(
            "The Device object of this node is invalid: missing or duplicate card numbers, or more than {max_cards} "
            "cards. gpudash ignores it. Restart koordlet on the node.",
            max_cards=MAX_CARDS,
        )
        return [Finding(code="annotation-unreadable", severity=WARNING, text=text)]
    return [_unhealthy(one) for one in cards or () if not one.healthy]


def _unhealthy(one: Reported) -> Finding:
    name, why = f", {one.uuid}," if one.uuid else "", f" ({one.reason})" if one.reason else ""
    text = sentence(
        "The Koordinator agent reports card {minor}{name} as unhealthy{why} and does not offer it. Check the kernel "
        "log (Xid) on the node. After the repair, restart koordlet.",
        minor=one.minor,
        name=name,
        why=why,
    )
    return Finding(code="capacity-not-allocatable", severity=WARNING, text=text, card=one.key)
