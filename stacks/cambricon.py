"""Cambricon's device plugin: whole cards, `cambricon.com/mlu` or the model's name, and three ways to divide them.

Shares (`cambricon.com/mlu.share`), slices by profile (`cambricon.com/mlu.mim-2m.8gb`), and parts that are made when a pod comes:
percent of the cores, `cambricon.com/mlu.smlu.vcore`, and units of memory, `cambricon.com/mlu.smlu.vmemory`. How much a unit is
stands in the plugin's command line. In all of them `cambricon.com/real-mlu-counts` has the number of cards. Where a scheduler has
chosen the card of a part it writes its number on the pod, where the plugin reads it; else plugin or kubelet have chosen.
Sources: Cambricon/cambricon-k8s-device-plugin 3c9ed24; Project-HAMi/HAMi/pkg/device/cambricon (v2.6.0 to v2.10.0).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec

from kube.objects import Container, Node, Pod
from stacks.engine.base import COUNT_ONLY, SHARES, Context, StackReport
from stacks.engine.components import by_command, command_line
from stacks.engine.describe import Described, describe
from stacks.engine.groups import Group, believed
from stacks.engine.labels import GIB, MIB
from stacks.engine.names import annotations_of
from stacks.engine.offers import offer
from stacks.engine.overrides import overrides
from stacks.engine.requests import Need, asked, containers, holds, requests
from stacks.engine.stack import Components, Kept, NodeLabels, Stack
from stacks.shared import cores, counted
from stacks.shared.named import free, named
from stacks.shared.ways import whole_cards
from wording.said import gettext_noop

NAME = "cambricon"
_DOMAIN = "cambricon.com/"
#: How many cards the node has, in whatever way they are given out.
CARDS = f"{_DOMAIN}real-mlu-counts"
#: Counts the cards that a pod asks for where another scheduler places it, beside cores and memory.
ASKED = f"{_DOMAIN}vmlu"
_CARD = r"cambricon\.com/mlu(?:[0-9]{3}(?:-[a-z0-9]{1,8})?)?"
_WHOLE, _SHARE = re.compile(_CARD), re.compile(rf"{_CARD}\.share")
_PART = re.compile(rf"({_CARD})\.smlu\.(?:vcore|vmemory)")
_SLICE = re.compile(rf"{_CARD}\.mim-([0-9]m\.([0-9]{{1,3}})gb[a-z0-9.-]{{0,16}})")
#: Card, percent of its cores, units of its memory: 0_10_20.
_CHOSEN = "CAMBRICON_DSMLU_PROFILE"
_PROFILE = re.compile(r"([0-9]{1,3})_[0-9]{1,4}_[0-9]{1,9}")
#: Of a scheduler that takes a unit for 256 MiB, and wants the plugin to be started so.
_RECORD = "hami.io/cambricon-mlu-devices-allocated"
_PLUGIN = "cambricon-device-plugin"
_FLAG = re.compile(r"--min-dsmlu-unit(?:=|\s+)([0-9]{1,6})(?![^\s])")
_LABELS = NodeLabels()


def owns(resource: str, context: Context) -> bool:
    """Whole cards and all that they are divided into, unless an administrator has named them."""
    if _is_of_parts(resource):
        return not any(map(_is_of_parts, named(context)))
    known = resource == CARDS or any(one.fullmatch(resource) for one in (_WHOLE, _SHARE, _SLICE))
    return known and free(context, resource)


def _is_of_parts(resource: str) -> bool:
    return resource == ASKED or _PART.fullmatch(resource) is not None


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards, slices and parts. None when the node has none and no pod holds one."""
    status = node.status
    offered = {**(status.capacity or {}), **(status.allocatable or {})} if status else {}
    seen = {name for pod in pods if holds(pod) for _, _, item in containers(pod) for name, _ in asked(item)}
    mine = sorted(name for name in {*offered, *seen} if owns(name, context))
    if not mine:
        return None
    about, boards = describe(node, overrides(node), _LABELS), believed(offer(node, CARDS).slots)
    report = parts = _parts(node, pods, context, mine)
    divided = [_divided(node, name, about, boards) for name in mine if _SHARE.fullmatch(name) or _SLICE.fullmatch(name)]
    report = counted.beside(NAME, pods, divided, report)
    whole = tuple(name for name in mine if _WHOLE.fullmatch(name))
    # A card that is cut into slices is not offered whole; of cards that are divided when a pod comes it is not said.
    same = parts is not None and bool(parts.cards)
    report = counted.cards(NAME, node, pods, whole, about, report, _of_whole, same)
    return msgspec.structs.replace(report, physical_cards=boards) if report is not None else None


def _of_whole(pod: Pod, wanted: Callable[[str], bool]) -> list[Need]:
    """Whole cards that a pod asks for: beside parts of cards the same name only says how many parts there are."""
    parts = {need.container for need in requests(pod, lambda name: _PART.fullmatch(name) is not None)}
    return [need for need in requests(pod, wanted) if need.container not in parts]


def _divided(node: Node, resource: str, about: Described, boards: int | None) -> Group:
    """Shares of cards, as many of each, or slices of one profile."""
    found, sliced = offer(node, resource), _SLICE.fullmatch(resource)
    if sliced is not None:
        memory = int(sliced[2]) * GIB or None
        about = msgspec.structs.replace(
            about, memory_bytes=memory, memory_source=f"resource {resource}" if memory else ""
        )
        return Group(
            stack=NAME, resource=resource, offer=found, number=believed(found.slots), about=about, profile=sliced[1]
        )
    each = found.slots // boards if found.slots and boards and found.slots % boards == 0 else None
    number = 0 if found.slots == 0 else boards if each is not None else None
    return Group(
        stack=NAME, resource=resource, offer=found, number=number, mode=SHARES, each=each, shares=each, about=about
    )


def _parts(node: Node, pods: list[Pod], context: Context, mine: list[str]) -> StackReport | None:
    """Cards that are divided when a pod comes, by their cores and memory: the plugin has one name for all of a node."""
    names = {match[1] for name in mine if (match := _PART.fullmatch(name))} or (
        {f"{_DOMAIN}mlu"} if ASKED in mine else set()
    )
    ordered = sorted(names, key=lambda name: (not offer(node, f"{name}.smlu.vcore").slots, name))
    units = [_unit(node, pods, context, name) for name in ordered]
    kinds = [_kind(name, unit, ASKED if name == ordered[0] else "") for name, unit in zip(ordered, units, strict=True)]
    reports = [made for kind in kinds if (made := cores.read(NAME, kind, node, pods)) is not None]
    others = [item for report in reports[1:] for item in report.allocations]
    if not reports or not (others or any(report.cards for report in reports[1:])):
        return reports[0] if reports else None
    # Cards under two names may be the same ones.
    held = [
        msgspec.structs.replace(item, card=None, evidence=COUNT_ONLY) for item in (*reports[0].allocations, *others)
    ]
    return msgspec.structs.replace(
        reports[0], cards=(), cards_known=False, allocations=tuple(held), memory_total_bytes=None
    )


def _kind(name: str, unit: tuple[int | None, str], counts: str) -> cores.Kind:
    return cores.Kind(
        f"{name}.smlu.vcore",
        f"{name}.smlu.vmemory",
        unit[0],
        lambda need: (_CHOSEN,),
        read=_card_of,
        unit_source=unit[1],
        asked=counts,
        required=False,
        metered=True,
        vendor=NAME,
        labels=_LABELS,
    )


def _card_of(text: str | None) -> list[int] | None:
    match = _PROFILE.fullmatch((text or "").strip())
    return [int(match[1])] if match else None


def _unit(node: Node, pods: list[Pod], context: Context, name: str) -> tuple[int | None, str]:
    """(bytes of a unit of memory, who says so). Without a unit of its own the plugin counts percent of a card."""
    stated = by_command(_PLUGIN, pods, context, _stated)
    if stated:
        return stated * MIB, f", unit by --min-dsmlu-unit={stated}"
    vcore, vmemory = (offer(node, f"{name}.smlu.{what}").slots for what in ("vcore", "vmemory"))
    if stated is None and vcore != vmemory and any(_RECORD in annotations_of(pod) for pod in pods):
        return 256 * MIB, ", unit as the scheduler counts"
    return None, ""


def _stated(items: Iterable[Container]) -> int:
    """MiB by the command line; 0 where it states none, as the plugin does."""
    found = _FLAG.findall(command_line(items))
    return int(found[-1]) if found else 0


def _is_whole(resource: str, context: Context) -> bool:
    return _WHOLE.fullmatch(resource) is not None and owns(resource, context)


STACK = Stack(
    name=NAME,
    label="Cambricon device plugin",
    resources=(
        f"{_DOMAIN}mlu",
        f"{_DOMAIN}mlu370",
        f"{_DOMAIN}mlu.share",
        f"{_DOMAIN}mlu.smlu.vcore",
        f"{_DOMAIN}mlu.smlu.vmemory",
        f"{_DOMAIN}mlu370.mim-2m.8gb",
        CARDS,
        ASKED,
    ),
    owns=owns,
    read=read,
    resource_prefixes=(_DOMAIN,),
    components=Components(
        by_label={"name": {"cambricon-device-plugin-ds": _PLUGIN}},
        device_plugins=(_PLUGIN,),
        daemonsets=(_PLUGIN,),
        commands=(_PLUGIN,),
    ),
    kept=Kept(pod_annotations=(_CHOSEN, _RECORD)),
    daemonsets_for=gettext_noop("the memory unit of the Cambricon plugin"),
    ways=(whole_cards(gettext_noop("Cambricon device plugin, whole cards"), NAME, _is_whole, npus=_is_whole),),
)
