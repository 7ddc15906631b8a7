"""MIG slices among the groups: what they are, of how many cards, and whether whole cards beside them can be there at all."""

from __future__ import annotations

import msgspec

from stacks.engine.base import WARNING, Finding
from stacks.engine.describe import Described
from stacks.nvidia import mig, placement
from stacks.nvidia.gfd import INVALID, MIG_CONFIG, MIG_STATE, Labels
from stacks.nvidia.group import Group
from wording.said import sentence


def described(about: Described, profile: str, joint: str = "-MIG-") -> Described:
    """Model and memory of a slice of such a card, where no label speaks of slices."""
    memory = mig.memory_of(profile, about.model)
    return msgspec.structs.replace(
        about,
        model=f"{about.model}{joint}{profile}" if about.model else None,
        memory_bytes=memory[0] if memory else None,
        memory_source=memory[1] if memory else "",
    )


def labelled(own: Labels, about: Described, profile: str) -> Described:
    """The same by the labels of the profile, as far as they say it."""
    found = described(about, profile)
    if own.memory is not None:
        found = msgspec.structs.replace(found, memory_bytes=own.memory, memory_source=f"label {own.prefix}.memory")
    if own.product:
        model = own.product.removesuffix("-SHARED")
        found = msgspec.structs.replace(found, model=model, model_source=f"label {own.prefix}.product")
    return found


def boards(labels: Labels, slices: int | None, model: str | None) -> int | None:
    """How many cards so many slices are, where all cards are cut alike by the manager's word; else None."""
    config, profile = labels.all.get(MIG_CONFIG, ""), labels.slice_profile
    each = placement.most(model, profile)
    alike = config == f"all-{profile}" and labels.all.get(MIG_STATE) == "success"
    return slices // each if alike and each and slices is not None and slices % each == 0 else None


def checked(found: list[Group], labels: Labels, about: Described) -> list[Group]:
    """The same, with whole cards taken as not known where the slices leave no room for them.

    After a change of the layout the kubelet goes on offering the old resource until it is restarted.
    """
    if labels.slice_profile == INVALID:
        return [_invalid(group) for group in found]
    slices = {group.profile: group.cards or 0 for group in found if group.profile and mig.profile_of(group.resource)}
    total = labels.count if labels.mig == "mixed" else about.cards
    if not any(slices.values()) or total is None:
        return found
    whole = [group for group in found if not group.profile and group.cards]
    needed, held = mig.cards_needed(slices), sum(group.cards or 0 for group in whole)
    if needed + held <= total:
        return found
    text = sentence(
        "The slices of this node need at least {needed} cards and {names} offers {more} more, but the node has "
        "{total}. A resource of an earlier MIG layout remains, so the number of cards is unknown. Restart the "
        "kubelet on this node.",
        needed=needed,
        names=", ".join(group.resource for group in whole) or "none",
        more=held,
        total=total,
    )
    wrong = Finding(code="labels-disagree", severity=WARNING, text=text)
    if not whole:
        return [msgspec.structs.replace(found[0], findings=(*found[0].findings, wrong)), *found[1:]]
    stale = {group.resource for group in whole}
    return [
        msgspec.structs.replace(group, cards=None, boards=None, findings=(*group.findings, wrong))
        if group.resource in stale
        else group
        for group in found
    ]


def _invalid(group: Group) -> Group:
    """The plugin refuses the layout and exits: what the node still offers is left over, and the labels speak of nothing."""
    about = msgspec.structs.replace(
        group.about,
        model=(group.about.model or "").removesuffix(f"-MIG-{INVALID}") or None,
        memory_bytes=None,
        memory_source="",
    )
    return msgspec.structs.replace(group, about=about, cards=None, boards=None, profile="", findings=())


def physical(found: list[Group], labels: Labels, about: Described) -> int | None:
    """How many cards the groups are, whole or cut; None when it is not known."""
    of_cards = labels.mig == "mixed" or not any(group.profile for group in found)
    if of_cards and labels.count is not None and not labels.slice_profile:
        return labels.count
    if about.cards is not None:
        return about.cards
    parts = [group.boards for group in found if group.cards or (group.cards is None and group.stated)]
    return sum(part or 0 for part in parts) if None not in parts else None
