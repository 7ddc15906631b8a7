"""gpushare of Alibaba Cloud and its forks: cards given out by memory units, and by the card unit.

The node states units and cards; a scheduler records on the pod which card it got (v1 and v2). The unit is found by a ladder
(`gpushare_unit`). Resource names and annotation prefix are settings, since forks rename them.
"""

from __future__ import annotations

from typing import NamedTuple

from kube.objects import Node, Pod
from stacks.engine import health_reports
from stacks.engine.base import (
    ERROR,
    HEALTH_UNKNOWN,
    MEMORY,
    UNHEALTHY,
    WARNING,
    WHOLE,
    Card,
    Context,
    Finding,
    StackReport,
)
from stacks.engine.describe import Described, describe
from stacks.engine.names import MAX_CARDS
from stacks.engine.offers import NOTHING, Offer, offer, shortfall, states
from stacks.engine.overrides import overrides
from stacks.engine.registry import owner
from stacks.engine.requests import asked, containers, devices, holds
from stacks.engine.stack import Stack
from stacks.gpushare.declared import (
    COMPONENTS,
    CORE_RESOURCE,
    EXCLUSIVE,
    FINDINGS,
    KEPT,
    NODE_LABELS,
    SETTINGS,
    Names,
    names,
)
from stacks.gpushare.pods import NAME, Holding, Place, holding
from stacks.gpushare.refusals import REFUSALS, memory_of
from stacks.gpushare.report import REPORT
from stacks.gpushare.setup import SETUP
from stacks.gpushare.software import SOFTWARE
from stacks.gpushare.unhealthy import CONFIG_MAPS, LeftOut, findings, left_out, place
from stacks.gpushare.unit import Unit, unit_of
from stacks.gpushare.ways import WAYS
from wording.said import gettext_noop, sentence


class _Offers(NamedTuple):
    """What the node states: memory units, cards, and which of the two it states at all."""

    memory: Offer
    whole: Offer
    by_topology: bool = False

    @property
    def cards(self) -> int | None:
        """The number of cards; None when missing, 0 beside memory, or not to be believed."""
        cards = self.whole.slots
        if cards is None or cards > MAX_CARDS or (cards == 0 and self.memory.slots):
            return None
        return cards

    @property
    def by_memory(self) -> bool:
        """Whether memory is given out in units (be it 0); else cards are, as a whole."""
        return self.memory.slots is not None


def owns(resource: str, context: Context) -> bool:
    """Memory units, card units and core percent, under the names of the settings."""
    mine = names(context)
    return resource in (mine.memory, mine.cards, CORE_RESOURCE, EXCLUSIVE)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards with units, holders, findings. None when the node states none of the resources and no pod holds one."""
    mine = names(context)
    if not any(states(node, name) for name in (mine.memory, mine.cards, EXCLUSIVE)) and not _held(pods, context):
        return None
    offers = _offers(node, mine)
    if _is_off(node, offers, context) and not _held(pods, context):
        return None
    given = overrides(node)
    about = describe(node, given)
    unit = Unit(None)
    if offers.by_memory:
        unit = unit_of(node, offers.memory.slots, offers.cards, pods, context, given, about)
    out = left_out(context, node.metadata.name)
    cards = _cards(offers, unit, about, out, f"ConfigMap {place(node.metadata.name)}")
    memory = cards[0].memory_total_bytes if cards else None
    where = Place(
        cards=offers.cards,
        unit=unit.size,
        card_memory=memory,
        counted=frozenset((mine.cards, EXCLUSIVE)),
        resources=frozenset((mine.memory, mine.cards, CORE_RESOURCE, EXCLUSIVE)),
    )
    held = [found for pod in pods if holds(pod) if (found := holding(pod, where, context)) is not None]
    wrong = [*_of_node(context, offers, unit), *findings(out, node.metadata.name)]
    return _share(context, offers, unit, cards, held, wrong)


def _offers(node: Node, mine: Names) -> _Offers:
    """A node places its cards in one way: what is left of the others is 0."""
    memory, whole, exclusive = offer(node, mine.memory), offer(node, mine.cards), offer(node, EXCLUSIVE)
    if exclusive.slots and not memory.slots:
        return _Offers(NOTHING, exclusive, by_topology=True)
    return _Offers(memory, whole)


def _is_off(node: Node, offers: _Offers, context: Context) -> bool:
    """Whether the plugin has been turned off here: it offers no memory, and another one gives out the cards that it counted.

    The number of cards stays on a node for ever: the plugin writes it into the status itself.
    """
    if offers.memory.slots or not offers.whole.slots or offers.by_topology:
        return False
    capacity = (node.status.capacity if node.status else None) or {}
    return any(owner(name, context) not in (None, NAME) and devices(value) for name, value in capacity.items())


def _held(pods: list[Pod], context: Context) -> bool:
    return any(
        owns(name, context) for pod in pods if holds(pod) for _, _, item in containers(pod) for name, _ in asked(item)
    )


def _share(
    context: Context, offers: _Offers, unit: Unit, cards: list[Card], held: list[Holding], findings: list[Finding]
) -> StackReport:
    return StackReport(
        stack=NAME,
        cards=tuple(cards),
        cards_known=offers.cards is not None,
        allocations=tuple(item for found in held for item in found.allocations),
        findings=(*findings, *(item for found in held for item in found.findings)),
        unit=unit.name,
        unit_source=unit.source,
        recheck_at=min((found.recheck_at for found in held if found.recheck_at is not None), default=None),
        total_units=offers.memory.allocatable if offers.by_memory else None,
        memory_total_bytes=_memory_total(offers, unit, cards, held),
    )


def _memory_total(offers: _Offers, unit: Unit, cards: list[Card], held: list[Holding]) -> int | None:
    """What the scheduler can give out: allocatable units, or allocatable cards where cards are given out as a whole.

    Of cards that it leaves out what is held still counts, so that the difference to what is held is what is free.
    """
    each = cards[0].memory_total_bytes if cards else None
    if offers.by_memory:
        given = _bytes(offers.memory.allocatable, unit)
    else:
        given = each * offers.whole.allocatable if each is not None and offers.whole.allocatable is not None else None
    out = {card.key for card in cards if card.health == UNHEALTHY}
    if not out or given is None or each is None:
        return given
    kept = (item.memory_bytes or 0 for found in held for item in found.allocations if item.card in out)
    # The plugin may withhold the same cards.
    return min(given, each * (len(cards) - len(out)) + sum(kept))


def _bytes(units: int | None, unit: Unit) -> int | None:
    """Units in bytes. No units are no bytes, whatever the unit."""
    if units == 0:
        return 0
    return units * unit.size if units is not None and unit.size is not None else None


def _cards(offers: _Offers, unit: Unit, about: Described, out: LeftOut, record: str) -> list[Card]:
    """record: where it stands which cards are left out."""
    total = offers.cards or 0
    units = offers.memory.slots // total if offers.memory.slots is not None and total else None
    each = _bytes(units, unit)
    return [
        Card(
            key=str(index),
            stack=NAME,
            mode=MEMORY if offers.by_memory else WHOLE,
            index=index,
            model=about.model,
            model_source=about.model_source,
            memory_total_bytes=each if offers.by_memory else about.memory_bytes,
            memory_physical_bytes=about.memory_bytes,
            memory_source=_memory_source(offers, unit, about),
            shares=None if offers.by_memory else 1,
            units=units,
            health=UNHEALTHY if index in out.cards else HEALTH_UNKNOWN,
            told=health_reports.of_register(NAME, UNHEALTHY, record) if index in out.cards else (),
        )
        for index in range(total)
    ]


def _memory_source(offers: _Offers, unit: Unit, about: Described) -> str:
    if offers.by_memory and unit.name is not None:
        return f"node total ÷ cards; unit by {unit.source}"
    return about.memory_source


def _of_node(context: Context, offers: _Offers, unit: Unit) -> list[Finding]:
    memory, count, _ = names(context)
    withheld = sentence("The plugin marked devices as unhealthy. The scheduler allocates less than the cards have.")
    count = EXCLUSIVE if offers.by_topology else count
    found = [*shortfall(memory, offers.memory, withheld), *shortfall(count, offers.whole, withheld)]
    if offers.memory.slots and unit.name is None:
        text = sentence(
            "The unit of {memory} on this node is unknown (GiB or MiB): {why_not}. Its memory is shown as unknown. "
            "Set the annotation gpudash.io/memory-unit (GiB or MiB) on the node.",
            memory=memory,
            why_not=unit.why_not,
        )
        found.append(Finding(code="unit-unknown", severity=WARNING, text=text))
    return [*found, *_of_count(memory, count, offers)]


def _of_count(memory: str, count: str, offers: _Offers) -> list[Finding]:
    units, cards = offers.memory.slots, offers.whole.slots
    if cards is not None and cards > MAX_CARDS:
        text = sentence(
            "The node reports {cards} of {count}. gpudash accepts at most {max_cards} cards. Find the writer of this value.",
            cards=cards,
            count=count,
            max_cards=MAX_CARDS,
        )
        return [Finding(code="quantity-unreadable", severity=WARNING, text=text)]
    if units and not cards:
        said = sentence("does not report") if cards is None else sentence("reports 0 of")
        text = sentence(
            "The node reports {units} of {memory} but {state} {count}. The number of cards is unknown, so "
            "allocations count for the node only. Restart the gpushare device plugin.",
            units=units,
            memory=memory,
            state=said,
            count=count,
        )
        return [Finding(code="count-zero", severity=ERROR, text=text)]
    if cards and units == 0:
        text = sentence(
            "The node reports {cards} of {count} but 0 of {memory}: the plugin could not register its memory. In MiB "
            "mode with many cards the device list exceeds the 4 MiB limit of the kubelet. Start the plugin with "
            "`--memory-unit=GiB`.",
            cards=cards,
            count=count,
            memory=memory,
        )
        return [Finding(code="count-zero", severity=ERROR, text=text)]
    return []


STACK = Stack(
    name=NAME,
    label="gpushare",
    resources=(SETTINGS["GPUSHARE_RESOURCE"], SETTINGS["GPUSHARE_COUNT"], CORE_RESOURCE, EXCLUSIVE),
    owns=owns,
    read=read,
    node_labels=NODE_LABELS,
    components=COMPONENTS,
    software=SOFTWARE,
    kept=KEPT,
    settings=SETTINGS,
    findings=FINDINGS,
    daemonsets_for=gettext_noop("the memory unit of gpushare"),
    terminating=gettext_noop("The gpushare scheduler already counts it as free."),
    refusals=REFUSALS,
    memory_of=memory_of,
    report=REPORT,
    config_maps=CONFIG_MAPS,
    ways=WAYS,
    setup=SETUP,
)
