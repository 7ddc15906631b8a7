"""Whether a gpushare node counts its memory in GiB or in MiB. The API objects do not say, so there is a ladder.

First the administrator's annotation, then the command line of the device plugin (the pod on this node, else DaemonSets that
agree), then the card memory as labels of the node or its instance type say it, last a rule of thumb. A plugin's word that
the node's own values rule out is passed over. Must not know pods' requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from kube.objects import Container, Node, Pod
from kube.quantity import count
from stacks.engine.base import Context
from stacks.engine.components import component, component_of
from stacks.engine.describe import Described
from stacks.engine.labels import GIB, MIB, labelled_memory
from stacks.engine.names import labels_of
from stacks.engine.overrides import UNIT, Overrides
from stacks.engine.requests import holds
from stacks.gpushare.declared import ALIYUN_COUNT, ALIYUN_MEMORY, PLUGIN
from wording.said import sentence

BYTES = {"GiB": GIB, "MiB": MIB}
_FLAG = re.compile(r"--?memory-unit(?:=|\s+)[\"']?([A-Za-z]{1,16})")

#: A card (or a slice of one) has from 512 MiB to 1024 GiB: a unit that makes it smaller or larger is not the node's.
_LEAST_CARD, _MOST_CARD = 512 * MIB, 1024 * GIB
#: Up to this many units a card, the unit can only be GiB; beyond _SURELY_MIB only MiB (no card has that many GiB).
_SURELY_GIB, _SURELY_MIB = 100, 300


class Unit(msgspec.Struct, frozen=True):
    """name: "GiB", "MiB" or None (not known). source: in words. why_not: for the finding, when the name is None."""

    name: str | None
    source: str = ""
    why_not: str = ""

    @property
    def size(self) -> int | None:
        """The unit in bytes."""
        return BYTES[self.name] if self.name else None


def unit_of(
    node: Node,
    units: int | None,
    cards: int | None,
    pods: list[Pod],
    context: Context,
    given: Overrides,
    about: Described,
) -> Unit:
    """Climb down the ladder. units: of the whole node; cards: 0 or None when not known. about: what the cards are."""
    if given.unit is not None:
        return Unit(given.unit, f"annotation {UNIT}")
    each = _each(node, units, cards)
    said, source = _of_plugin(pods, context)
    if said is not None and _plausible(said, each):
        return Unit(said, source)
    note = (
        sentence(" ({source} is {unit}, but the values rule it out)", source=source, unit=said)
        if said is not None
        else ""
    )
    for memory, who in (
        (labelled_memory(labels_of(node).get(ALIYUN_MEMORY)), f"label {ALIYUN_MEMORY}"),
        (about.memory_bytes, about.memory_source),
    ):
        fits = _that_fits(memory, each)
        if fits is not None:
            return Unit(fits, f"{who}{note}")
    return _by_thumb(each, note)


def _each(node: Node, units: int | None, cards: int | None) -> int | None:
    """Units a card; by the label's count where the node's own count is 0 or missing."""
    by_label = count(labels_of(node).get(ALIYUN_COUNT))
    divisor = cards or by_label
    return units // divisor if units is not None and divisor else None


def _plausible(unit: str, each: int | None) -> bool:
    return each is None or each == 0 or _LEAST_CARD <= each * BYTES[unit] <= _MOST_CARD


def _of_plugin(pods: list[Pod], context: Context) -> tuple[str | None, str]:
    """What the plugin was started with: on this node by its pod, else by all DaemonSets of the plugin, if they agree."""
    running = [pod for pod in pods if component(pod) == PLUGIN and holds(pod)]
    here = {unit for pod in running for unit in _flags((pod.spec.containers if pod.spec else None) or ())}
    if len(here) == 1:
        return here.pop(), sentence("--memory-unit of the device plugin on this node")
    sets: set[str | None] = set()
    for daemonset in context.daemonsets:
        template = daemonset.spec.template if daemonset.spec else None
        labels = (template.metadata.labels if template else None) or daemonset.metadata.labels
        if component_of(labels) == PLUGIN or component_of(daemonset.metadata.labels) == PLUGIN:
            found = _flags((template.spec.containers if template and template.spec else None) or ())
            sets |= found or {None}
    only = sets.pop() if len(sets) == 1 else None
    return only, sentence("--memory-unit of the device plugin's DaemonSet") if only else ""


def _flags(containers: Iterable[Container]) -> set[str]:
    """The units that command lines state. The plugin takes every text but "MiB" for GiB."""
    units = set()
    for container in containers:
        line = " ".join([*(container.command or ()), *(container.args or ())])
        found: list[str] = _FLAG.findall(line)
        if found:
            units.add("MiB" if found[-1] == "MiB" else "GiB")
    return units


def _that_fits(memory: int | None, each: int | None) -> str | None:
    """The unit in which the card's memory comes out as what the node states per card; None when neither does, or both."""
    if memory is None or not each:
        return None
    mebibytes = memory // MIB
    # The label and the driver differ by what the card keeps for itself: some percent, or one in whole GiB.
    in_mib = 0.9 * mebibytes <= each <= 1.1 * mebibytes
    in_gib = abs(each - mebibytes // 1024) <= max(1, mebibytes // 1024 // 10)
    if in_mib == in_gib:
        return None
    return "MiB" if in_mib else "GiB"


def _by_thumb(each: int | None, note: str) -> Unit:
    if each and each > _SURELY_MIB:
        return Unit(
            "MiB",
            sentence("rule of thumb: more than {surely_gib} units per card{note}", surely_gib=_SURELY_GIB, note=note),
        )
    if each and each <= _SURELY_GIB:
        return Unit(
            "GiB",
            sentence("rule of thumb: at most {surely_gib} units per card{note}", surely_gib=_SURELY_GIB, note=note),
        )
    if each:
        return Unit(
            None,
            "",
            sentence(
                "{each} units per card can mean GiB of a large card or MiB of a small card{note}", each=each, note=note
            ),
        )
    return Unit(None, "", sentence("the number of units per card is unknown{note}", note=note))
