"""What the slots of NVIDIA's device plugin are: whole cards, shares, MPS parts, or MIG slices and shares of them.

Capacity is the truth for slots; labels say how many slots a card has, and how many cards there are. They are checked against each
other: what offers more than the node has cards is never taken for that many cards. Must not know pods.
"""

from __future__ import annotations

import msgspec

from kube.objects import Node
from stacks.engine.base import PARTS, SHARES, WHOLE
from stacks.engine.describe import Described
from stacks.engine.labels import MIB
from stacks.engine.names import MAX_CARDS, labels_of
from stacks.engine.offers import Offer, offer, states
from stacks.engine.overrides import Overrides
from stacks.nvidia import gke, mig, slices
from stacks.nvidia.gfd import Labels, read
from stacks.nvidia.group import Group, disagree, without_memory
from stacks.nvidia.plugin_config import Said
from stacks.nvidia.slots import Count, divided, stated, whole

GPU = "nvidia.com/gpu"
SHARED = "nvidia.com/gpu.shared"
RESOURCES = (GPU, SHARED)


def groups(node: Node, given: Overrides, about: Described, names: list[str], said: Said) -> list[Group]:
    """One group per resource of the plugin that the node states or that is asked of it. names: those that are this stack's.

    said: what the plugin's configuration says where labels do not.
    """
    labels = read({**labels_of(node), **said.labels}, said.place)
    offers = {name: offer(node, name) for name in names}
    offering = [name for name, found in offers.items() if found.slots]
    found = []
    for name in names:
        if name != GPU and not states(node, name):
            continue
        alone = not [other for other in offering if other != name]
        if mig.profile_of(name):
            group = _of_profile(name, offers[name], labels, about)
        else:
            # With renamed shares, what is left under the plain name is whole cards (often 0).
            shared = name == SHARED or (labels.shared and SHARED not in offering)
            group = _of_cards(name, offers[name], labels, about, given, shared, alone, node)
            if said.findings and group.mode == WHOLE and about.cards is None and not given.cards:
                # Shares look just the same.
                group = msgspec.structs.replace(group, mode=SHARES, cards=None, replicas=None, boards=None)
        found.append(msgspec.structs.replace(group, stated=states(node, name)))
    return slices.checked(found, labels, about)


def _of_cards(
    resource: str,
    found: Offer,
    labels: Labels,
    about: Described,
    given: Overrides,
    shared: bool,
    alone: bool,
    node: Node,
) -> Group:
    """alone: this is the only resource with slots, so labels and override speak of it."""
    slots, unit = found.slots, gke.unit_of(labels_of(node))
    if given.cards and alone and slots:
        count = stated(slots, given.cards)
    elif unit is not None:
        return _of_gke(resource, found, unit, about)
    elif labels.slice_profile:
        return _of_single(resource, found, labels, about, shared, alone)
    elif shared:
        count = divided(slots, labels, about.cards, alone)
    else:
        count = whole(slots, labels, about.cards, alone)
    count = _believed(count)
    said = labels.said(about.cards, about.cards_source)
    return Group(
        resource=resource,
        offer=found,
        mode=_mode(labels.strategy, count.replicas) if shared or count.replicas != 1 else WHOLE,
        cards=count.cards,
        replicas=count.replicas,
        about=about if count.alike else without_memory(about),
        boards=count.cards,
        findings=() if count.agreed else (disagree(resource, slots, said, count.cards, labels.discovered),),
    )


def _of_gke(resource: str, found: Offer, unit: gke.Unit, about: Described) -> Group:
    """Google's plugin: the labels of the node pool say what a slot is."""
    slots = found.slots
    boards = unit.cards(slots) if slots else slots
    replicas = unit.clients
    each = about.cards * unit.slices if about.cards and unit.slices else None
    if unit.clients is None and slots and each and slots % each == 0:
        # The number of clients cannot be read, but that of the cards is known.
        boards, replicas = about.cards, slots // each
    agreed = boards is not None or slots is None
    if boards is not None and boards and about.cards is not None and boards != about.cards:
        agreed = False
        boards = boards if boards < about.cards else None
    cards = boards * unit.slices if boards is not None and unit.slices else boards
    count = _believed(Count(cards, replicas, agreed))
    said = f"{unit}, {about.cards} cards by the {about.cards_source}" if about.cards else str(unit)
    return Group(
        resource=resource,
        offer=found,
        mode=PARTS
        if unit.strategy == gke.MPS and replicas != 1
        else SHARES
        if unit.strategy and replicas != 1
        else WHOLE,
        cards=count.cards,
        replicas=replicas,
        about=slices.described(about, unit.partition, joint=" MIG ") if unit.partition else about,
        profile=unit.partition,
        boards=boards,
        grain=MIB,
        findings=() if count.agreed else (disagree(resource, slots, said, count.cards, False),),
    )


def _of_single(resource: str, found: Offer, labels: Labels, about: Described, shared: bool, alone: bool) -> Group:
    """Strategy single: each slice is a device, and the labels speak of slices; they cannot say of how many cards."""
    count = divided(found.slots, labels, None, alone) if shared else whole(found.slots, labels, None, alone)
    count = _believed(count)
    known = about if count.alike and count.agreed else without_memory(about)
    return Group(
        resource=resource,
        offer=found,
        mode=_mode(labels.strategy, count.replicas) if shared or count.replicas != 1 else WHOLE,
        cards=count.cards,
        replicas=count.replicas,
        about=known,
        profile=labels.slice_profile,
        boards=about.cards if about.cards is not None else slices.boards(labels, count.cards, about.model),
        findings=() if count.agreed else (disagree(resource, found.slots, labels.said(), count.cards, True),),
    )


def _of_profile(resource: str, found: Offer, labels: Labels, about: Described) -> Group:
    """Strategy mixed: each profile is a resource of its own, with labels of its own."""
    own, profile = labels.of_profile(resource.removesuffix(".shared")), mig.profile_of(resource) or ""
    shared = mig.is_shared(resource) or own.shared
    count = divided(found.slots, own, None, alone=True) if shared else whole(found.slots, own, None, alone=True)
    if not found.slots and found.slots is not None:
        # A layout that was given up: kubelet goes on naming it, with 0 devices.
        count = Count(0, count.replicas, True)
    count = _believed(count)
    return Group(
        resource=resource,
        offer=found,
        mode=_mode(own.strategy, count.replicas) if shared or count.replicas != 1 else WHOLE,
        cards=count.cards,
        replicas=count.replicas,
        about=slices.labelled(own, about, profile),
        profile=profile,
        findings=() if count.agreed else (disagree(resource, found.slots, own.said(), count.cards, own.discovered),),
    )


def _believed(count: Count) -> Count:
    if count.cards is not None and count.cards > MAX_CARDS:
        return count._replace(cards=None, agreed=False)
    return count


def _mode(strategy: str, replicas: int | None) -> str:
    if replicas == 1:
        return WHOLE
    return PARTS if strategy == "mps" else SHARES
