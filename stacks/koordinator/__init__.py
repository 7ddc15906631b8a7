"""Koordinator: parts of cards, recorded on the pod as a whole by the card's number (minor) and, in newer versions, its UUID.

The scheduler also writes keys of other systems on the pod, and pods may ask for whole cards under the vendor's own name: where
Koordinator's record stands, it alone counts. Which cards a node has, and whether they are healthy, is in its Device object
(`agent`); without it, how many there are is 100 of `koordinator.sh/gpu-core` each, which leaves out what is not healthy.
Source: koordinator-sh/koordinator a7a1b76 (apis/extension/device_share.go).
"""

from __future__ import annotations

import msgspec

from kube.objects import Node, Pod
from kube.quantity import size
from stacks.engine import health_reports
from stacks.engine.base import (
    HEALTH_UNKNOWN,
    HEALTHY,
    MEMORY,
    UNHEALTHY,
    Allocation,
    Card,
    Context,
    Finding,
    StackReport,
)
from stacks.engine.describe import describe
from stacks.engine.devices import Device, with_ordinals
from stacks.engine.labels import first, text
from stacks.engine.names import MAX_CARDS, annotations_of, too_long
from stacks.engine.offers import states
from stacks.engine.overrides import overrides
from stacks.engine.requests import asked, containers, devices, holds, name_of
from stacks.engine.stack import Kept, NodeLabels, Stack
from stacks.koordinator.agent import BYTES as _BYTES
from stacks.koordinator.agent import MODEL as _MODEL
from stacks.koordinator.agent import SOURCE, Reported, reported
from stacks.koordinator.agent import findings as of_device
from stacks.shared.holding import held, warning
from wording.said import gettext_noop, sentence

NAME = "koordinator"
#: Of the device plugin; pods that ask for it are recorded as well.
_WHOLE = "nvidia.com/gpu"
_GPU, _CORE, _RATIO = "koordinator.sh/gpu", "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio"
_SHARED = "koordinator.sh/gpu.shared"
RESOURCES = (_GPU, _CORE, _RATIO, _BYTES, _SHARED)
ALLOCATED = "scheduling.koordinator.sh/device-allocated"
#: A card is a hundred of each of these; a node counts cards wanted the same way.
_HUNDREDS = (_CORE, _RATIO, _GPU, _SHARED)
_LONGEST_ID = 128


class _Got(msgspec.Struct, frozen=True):
    """What a pod has of one card. minor, name, uuid: None where the record does not say; name: UUID, address, what the record has."""

    minor: int | None
    name: str | None
    uuid: str | None
    core: int | None
    ratio: int | None
    memory: int | None


class _Node(msgspec.Struct, frozen=True):
    """What the node offers. cards: None when not known; each: memory of a card. reported: its cards by its Device, if it has one."""

    cards: int | None
    total: int | None
    each: int | None
    reported: tuple[Reported, ...] = ()

    def memory(self, key: str | None) -> int | None:
        """Of a card; of any, where all are alike or it is not known which."""
        known = next((one.memory for one in self.reported if one.key == key), None)
        return known if known is not None else self.each


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards by count, holders by the pods' records. None when nothing of Koordinator is here."""
    offered, cards_of_device = _offered(node), reported(context.device)
    findings = of_device(context.device, cards_of_device)
    records = {
        place: _record(annotations_of(pod)[ALLOCATED], bool(cards_of_device))
        for place, pod in enumerate(pods)
        if holds(pod) and _recorded(pod)
    }
    asking = {place for place, pod in enumerate(pods) if holds(pod) and _quantity(pod, RESOURCES)}
    placed = {place for place, got in records.items() if got or (got is None and place in asking)}
    if offered is None and not asking and context.device is None and not any(records[place] for place in placed):
        return None
    here = offered if offered is not None else _Node(None, None, None)
    if cards_of_device is not None and overrides(node).cards in (None, len(cards_of_device)):
        here = _with_device(here, cards_of_device)
    written = [got for place in sorted(placed) for got in records[place] or ()]
    named = _named(written, _minors(written, here), here)
    keys = {item.uuid: key for key, item in named.items() if item.uuid is not None}
    keys |= {name: one.key for one in here.reported for name in one.names}
    cards = _cards(node, here, named, context)
    allocations: list[Allocation] = []
    for place, pod in enumerate(pods):
        if place in placed or place in asking:
            got = records.get(place)
            allocations += _held(pod, got, here, {card.key for card in cards}, keys, findings)
    return StackReport(
        stack=NAME,
        cards=tuple(cards),
        cards_known=here.cards is not None or (offered is None and states(node, _WHOLE)),
        allocations=tuple(allocations),
        findings=tuple(findings),
        memory_total_bytes=here.total,
        beside=True,
        instead=tuple(pods[place].metadata.uid for place in sorted(placed) if records[place]),
    )


def _with_device(offered: _Node, cards: list[Reported]) -> _Node:
    """What the node offers, with the cards that its Device has: those that are not healthy are in no capacity."""
    sizes = {one.memory for one in cards}
    each = sizes.pop() if len(sizes) == 1 else None
    # Where no card is healthy the node does not name the resource any more.
    total = offered.total if offered.total is not None or any(one.healthy for one in cards) else 0
    return _Node(len(cards), total, each, tuple(cards))


def _recorded(pod: Pod) -> bool:
    return ALLOCATED in annotations_of(pod)


def _offered(node: Node) -> _Node | None:
    status = node.status
    capacity = {**(status.allocatable or {}), **(status.capacity or {})} if status else {}
    if not any(name in capacity for name in RESOURCES):
        return None
    number = next((found for name in _HUNDREDS if (found := devices(capacity.get(name))) is not None), None)
    given = overrides(node).cards
    cards = given if given is not None else number // 100 if number is not None and number % 100 == 0 else None
    if cards is not None and cards > MAX_CARDS:
        cards = None
    memory = size(capacity.get(_BYTES))
    allocatable = size((status.allocatable or {}).get(_BYTES)) if status else None
    return _Node(cards, allocatable, memory // cards if memory and cards else None)


def _record(text: str, addresses: bool) -> list[_Got] | None:
    """The GPUs of a record; none where it speaks of other devices only. None when it cannot be read.

    addresses: whether it may name cards by what is neither number nor UUID, since the node's Device says which these are.
    """
    if too_long(text):
        return None
    try:
        decoded = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    entries = decoded.get("gpu", []) if isinstance(decoded, dict) else None
    if not isinstance(entries, list) or len(entries) > MAX_CARDS:
        return None
    found = [_entry(item, addresses) for item in entries]
    return [item for item in found if item is not None] if None not in found else None


def _entry(item: object, addresses: bool) -> _Got | None:
    if not isinstance(item, dict):
        return None
    minor, name, given = item.get("minor"), item.get("id"), item.get("resources") or {}
    if not isinstance(given, dict) or isinstance(minor, bool) or not isinstance(minor, int | None):
        return None
    name = name if isinstance(name, str) and 0 < len(name) <= _LONGEST_ID and name.isprintable() else None
    if minor is None and name is not None and name.isascii() and name.isdigit() and len(name) <= 4:
        minor = int(name)
    if minor is not None and not 0 <= minor < MAX_CARDS:
        return None
    # A PCI address or a number is no UUID.
    uuid = name if name is not None and name.startswith("GPU-") else None
    if minor is None and (name is None or (uuid is None and not addresses)):
        return None
    core, ratio, memory = (_plain(given.get(one)) for one in (_CORE, _RATIO, _BYTES))
    return _Got(minor, name, uuid, devices(core), devices(ratio), size(memory))


def _plain(value: object) -> str | int | None:
    """A quantity as the record has it, text or number."""
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _minors(found: list[_Got], here: _Node) -> dict[str, int]:
    """What names a card → its number: as records say that have both, and as the Device of the node does."""
    said = {item.uuid: item.minor for item in found if item.uuid is not None and item.minor is not None}
    return said | {name: one.minor for one in here.reported for name in one.names}


def _named(found: list[_Got], known: dict[str, int], here: _Node) -> dict[str, Device]:
    """Card key → device: all of the Device object, else those that records name.

    The key is the number: a UUID may be known now and not later.
    """
    if here.reported:
        return {one.key: Device(one.key, one.uuid, one.minor, health=_health(one)) for one in here.reported}
    cards = here.cards
    named: dict[str, Device] = {}
    for item in found:
        minor = item.minor if item.minor is not None else known.get(item.uuid or "")
        if minor is not None and (cards is None or minor < cards):
            before = named.get(str(minor))
            uuid = item.uuid if item.uuid is not None else before.uuid if before is not None else None
            named[str(minor)] = Device(str(minor), uuid, minor)
    for item in found:
        if item.minor is None and item.uuid is not None and item.uuid not in known:
            named.setdefault(item.uuid, Device(item.uuid, item.uuid))
    return named if cards is None else dict(list(named.items())[:cards])


def _health(one: Reported) -> str:
    return HEALTHY if one.healthy else UNHEALTHY


def _cards(node: Node, here: _Node, named: dict[str, Device], context: Context) -> list[Card]:
    """All cards where their number is known, else those that records name, where another system knows how many there are."""
    if here.cards is None and not states(node, _WHOLE):
        return []
    about = describe(node, overrides(node))
    model = (context.device.metadata.labels or {}).get(_MODEL) if context.device else None
    return [
        Card(
            key=item.key,
            stack=NAME,
            mode=MEMORY,
            index=index,
            uuid=item.uuid,
            model=about.model or model,
            model_source=about.model_source or (f"label {_MODEL} of its {SOURCE}" if model else ""),
            health=item.health if here.reported else HEALTH_UNKNOWN,
            told=health_reports.of_register(NAME, item.health, SOURCE) if here.reported else (),
            memory_total_bytes=here.memory(item.key),
            memory_physical_bytes=here.memory(item.key) if here.reported else about.memory_bytes,
            memory_source=_memory_source(here, item.key),
            units=0 if here.cards is None else None,
        )
        for item, index in with_ordinals(named, here.cards if here.cards is not None else len(named), 0)
    ]


def _memory_source(here: _Node, key: str) -> str:
    if here.memory(key) is None:
        return ""
    return SOURCE if here.reported else f"{_BYTES} ÷ cards"


def _held(
    pod: Pod, got: list[_Got] | None, here: _Node, keys: set[str], by_name: dict[str, str], findings: list[Finding]
) -> list[Allocation]:
    container = _container(pod)
    if not got:
        code = "annotation-unreadable" if _recorded(pod) and got is None else "bound-without-card"
        said = (
            sentence("The annotation {name} of {pod} is invalid.", pod=name_of(pod), name=ALLOCATED)
            if code == "annotation-unreadable"
            else sentence(
                "{pod} has a share of a card, but no recorded card. Check that the Koordinator scheduler placed the pod.",
                pod=name_of(pod),
            )
        )
        findings.append(warning(code, pod, said))
        ratio = _quantity(pod, (_RATIO, _GPU))
        memory = _quantity(pod, (_BYTES,)) or _part(ratio, here.each)
        core = _quantity(pod, (_CORE, _GPU))
        return [held(pod, container, _RATIO, ratio or core or 1, NAME, memory=memory, core=core)]
    found = []
    for item in got:
        key = str(item.minor) if item.minor is not None else by_name.get(item.name or "")
        card = key if key in keys else None
        if card is None and keys:
            said = sentence(
                "{pod} is recorded on the card {name}, but the node has only {number}.",
                pod=name_of(pod),
                name=(item.name or str(item.minor))[:60],
                number=len(keys),
            )
            findings.append(warning("index-out-of-range", pod, said))
        memory = item.memory if item.memory is not None else _part(item.ratio, here.memory(card))
        quantity = item.ratio or item.core or 1
        found.append(held(pod, container, _RATIO, quantity, NAME, card=card, memory=memory, core=item.core))
    return found


def _part(ratio: int | None, each: int | None) -> int | None:
    return each * ratio // 100 if ratio and each is not None else None


def _container(pod: Pod) -> str:
    """The record is one of the pod; it is shown at the first container that asks, else at the first."""
    found = list(containers(pod))
    mine = [one for _, _, one in found if any(name in RESOURCES for name, _ in asked(one))]
    asking = [one for _, _, one in found if one.resources is not None and list(asked(one))]
    return next((one.name for one in (*mine, *asking, *(item for _, _, item in found))), "")


def _quantity(pod: Pod, names: tuple[str, ...]) -> int | None:
    """The sum of what containers ask for of the first of these resources; None when of none."""
    sums: dict[str, int] = {}
    for _, init, one in containers(pod):
        for name, value in asked(one) if not init else ():
            if name in names:
                sums[name] = sums.get(name, 0) + ((size(value) if name == _BYTES else devices(value)) or 0)
    return next((sums[name] for name in names if sums.get(name)), None)


STACK = Stack(
    name=NAME,
    label="Koordinator",
    resources=RESOURCES,
    read=read,
    divides=(_WHOLE,),
    in_bytes=(_BYTES,),
    concerns=lambda context: context.device is not None,
    devices_for=gettext_noop("the cards that the Koordinator agents report, and their health"),
    node_labels=NodeLabels(prefixes=("node.koordinator.sh/gpu",), model=first((_MODEL,), text)),
    kept=Kept(pod_annotations=(ALLOCATED,)),
)
