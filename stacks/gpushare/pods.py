"""What one pod holds on a gpushare node: its containers' units on cards, and what is wrong with its record.

The request is what counts; the record says which card. Where they differ the request is kept, and a finding says so. Must not
know the unit's source.
"""

from __future__ import annotations

import msgspec

from kube.objects import Pod
from stacks.engine.base import (
    ANNOTATION_V1,
    ANNOTATION_V2,
    ERROR,
    MEMORY,
    ONLY_CARD,
    WARNING,
    WHOLE,
    Allocation,
    Context,
    Finding,
)
from stacks.engine.requests import Need, allocation, containers, name_of, requests
from stacks.gpushare.declared import BY_HAND, CORE_RESOURCE, names
from stacks.gpushare.records import Record, record
from wording.said import sentence

NAME = "gpushare"
#: A clock that is further ahead than this is wrong, not early.
_MOST_SKEW_S = 86_400


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the node. cards: None when their number is not known. unit: bytes; None when not known.

    card_memory: bytes of one card, for whole cards. counted: names of the resources that stand for whole cards.
    resources: all names of this stack.
    """

    cards: int | None
    unit: int | None
    card_memory: int | None
    counted: frozenset[str]
    resources: frozenset[str]


class Holding(msgspec.Struct):
    """What one pod holds, and what is wrong with it."""

    allocations: list[Allocation]
    findings: list[Finding]
    recheck_at: float | None = None


def holding(pod: Pod, place: Place, context: Context) -> Holding | None:
    """The holding of a pod that holds devices; None when it asks for nothing of this stack."""
    memory, _, annotation = names(context)
    needs = requests(pod, place.resources.__contains__)
    if not needs:
        return None
    written = record(pod, annotation)
    # Where nothing is recorded the plugin gives the card of a node that has one only.
    only = written.missing and place.cards == 1
    mine = [need for need in needs if need.resource == memory]
    if not mine:
        # Without memory the card unit asks for whole cards, and a bare core share for an unknown part of one.
        mine = [need for need in needs if need.resource in place.counted] or needs
    result = Holding([], _problems(pod, written))
    outside: set[int] = set()
    for need, cards in _spread(mine, written, 0 if only else written.index):
        for index, units in _inside(cards, place, outside).items():
            core = _core(needs, need, written, index)
            evidence = ONLY_CARD if only else ANNOTATION_V2 if written.v2 else ANNOTATION_V1
            result.allocations.append(_allocation(pod, need, index, units, evidence, place, core))
    result.findings += _of_card(pod, mine, written, outside, place) if not only else []
    if mine[0].resource == memory:
        result.findings += [*_mismatch(pod, mine, written), *_of_spec(pod, mine, written)]
        _assumed(pod, written, context, result)
    return result


def _inside(cards: dict[int | None, int], place: Place, outside: set[int]) -> dict[int | None, int]:
    """The same with cards that the node does not have folded into "not known"; they are added to `outside`."""
    known: dict[int | None, int] = {}
    for index, units in cards.items():
        if index is not None and place.cards is not None and index >= place.cards:
            outside.add(index)
        inside = index if index is not None and place.cards is not None and index < place.cards else None
        known[inside] = known.get(inside, 0) + units
    return known


def _spread(needs: list[Need], written: Record, index: int | None) -> list[tuple[Need, dict[int | None, int]]]:
    """Each need → card index (None: not known) → quantity, which add up to the need exactly. index: where v2 says nothing."""
    if not written.v2:
        return [(need, {index: need.quantity}) for need in needs]
    # What the record has for containers that ask for nothing is taken by those for which it has nothing.
    own = {need.position for need in needs if not need.init}
    loose = [
        (card, units)
        for position, cards in written.layout.items()
        if position not in own
        for card, units in cards.items()
    ]
    spread = []
    for need in needs:
        entries = list(written.layout.get(need.position, {}).items()) if not need.init else []
        spread.append((need, _fill(need.quantity, entries or loose)))
        if not entries:
            loose = []
    return spread


def _fill(quantity: int, entries: list[tuple[int, int | None]]) -> dict[int | None, int]:
    """Put a quantity on the recorded cards, in order, never more than asked for; what is left over has no card."""
    cards: dict[int | None, int] = {}
    left = quantity
    even, odd = divmod(quantity, len(entries)) if entries else (0, 0)
    for place, (card, units) in enumerate(entries):
        part = min(left, units if units is not None else even + (place < odd))
        if part:
            cards[card] = cards.get(card, 0) + part
            left -= part
    if left:
        cards[None] = left
    return cards


def _core(needs: list[Need], need: Need, written: Record, index: int | None) -> int | None:
    """Percent of the card's cores: as recorded, else as asked for where the container is on one card; None: no limit known."""
    if len(needs) == 1 and not written.core:
        return need.quantity if need.resource == CORE_RESOURCE else None
    if need.resource == CORE_RESOURCE:
        return need.quantity
    recorded = written.core.get(need.position, {}) if not need.init else {}
    if index is not None and recorded.get(index) is not None:
        return recorded[index]
    asked = [
        other.quantity
        for other in needs
        if other.resource == CORE_RESOURCE and (other.position, other.init) == (need.position, need.init)
    ]
    single = len(written.layout.get(need.position, {})) <= 1
    return asked[0] if asked and single and not recorded else None


def _allocation(
    pod: Pod, need: Need, index: int | None, units: int, evidence: str, place: Place, core: int | None
) -> Allocation:
    whole = need.resource in place.counted
    memory = None if need.resource == CORE_RESOURCE else place.card_memory if whole else place.unit
    return allocation(
        pod,
        need,
        NAME,
        WHOLE if whole else MEMORY,
        quantity=units,
        card=str(index) if index is not None else None,
        evidence=evidence,
        memory_bytes=memory * units if memory is not None else None,
        core_percent=core,
    )


def _finding(code: str, severity: str, pod: Pod, text: str) -> Finding:
    return Finding(code=code, severity=severity, text=text, pod=name_of(pod))


def _problems(pod: Pod, written: Record) -> list[Finding]:
    return [
        _finding(
            "annotation-unreadable",
            WARNING,
            pod,
            sentence(
                "The annotation {name} of {pod} is invalid: {what}. Recreate the pod.",
                name=name,
                pod=name_of(pod),
                what=what,
            ),
        )
        for name, what in written.problems
    ]


def _of_card(pod: Pod, needs: list[Need], written: Record, outside: set[int], place: Place) -> list[Finding]:
    if outside:
        names = ", ".join(str(index) for index in sorted(outside)[:20])
        text = sentence(
            "{pod} is recorded on card {names}, but the node has {cards} (numbered from 0). It counts for the node, "
            "its card is unknown. If cards were replaced, restart the scheduler extender. Then recreate the pod.",
            pod=name_of(pod),
            names=names,
            cards=place.cards,
        )
        return [_finding("index-out-of-range", ERROR, pod, text)]
    if written.v2 or written.index is not None or needs[0].resource in (*place.counted, CORE_RESOURCE):
        return []
    asked = sum(need.quantity for need in needs)
    text = sentence(
        "{pod} has {requested} units of {resource} on this node, but no recorded card. Check that kube-scheduler "
        "uses the scheduler extender and that no other scheduler or nodeName bound the pod.",
        pod=name_of(pod),
        requested=asked,
        resource=needs[0].resource,
    )
    return [_finding("bound-without-card", WARNING, pod, text)]


def _mismatch(pod: Pod, needs: list[Need], written: Record) -> list[Finding]:
    asked = sum(need.quantity for need in needs if not need.init)
    if written.v2:
        units = [units for cards in written.layout.values() for units in cards.values()]
        recorded = None if None in units else sum(units_ or 0 for units_ in units)
    else:
        recorded = written.total
    if recorded is None or recorded == asked:
        return []
    text = sentence(
        "{pod} requests {requested} units of {resource}, but its record has {recorded}. gpudash counts the request. "
        "Recreate the pod.",
        pod=name_of(pod),
        requested=asked,
        resource=needs[0].resource,
        recorded=recorded,
    )
    return [_finding("request-annotation-mismatch", WARNING, pod, text)]


def _of_spec(pod: Pod, needs: list[Need], written: Record) -> list[Finding]:
    found = []
    several = [need.container for need in needs if not need.init]
    if len(several) > 1 and not written.v2:
        text = sentence(
            "{pod} requests GPU memory in {number} containers ({names}). The open-source gpushare plugin cannot "
            "match such a pod, and its containers may not start. Request GPU memory in one container only.",
            pod=name_of(pod),
            number=len(several),
            names=", ".join(several[:5]),
        )
        found.append(_finding("several-gpu-containers", WARNING, pod, text))
    by_hand = [item.name for _, _, item in containers(pod) if item.env and any(env.name == BY_HAND for env in item.env)]
    if by_hand:
        text = sentence(
            "{pod} sets {by_hand} itself in {names}. This overrides the card that the scheduler chose: the pod may "
            "run on any card of the node. Remove the variable from the pod spec.",
            pod=name_of(pod),
            by_hand=BY_HAND,
            names=", ".join(by_hand[:5]),
        )
        found.append(_finding("visible-devices-by-hand", WARNING, pod, text))
    return found


def _assumed(pod: Pod, written: Record, context: Context, result: Holding) -> None:
    """`assumed-not-assigned` when it is old enough, else the time at which it will be."""
    if written.assigned is not False:
        return
    since = written.assumed_at
    if since is None or since > context.now + _MOST_SKEW_S:
        text = sentence(
            "{pod} is assumed on a card at an invalid time. Check the clock of its scheduler.",
            pod=name_of(pod),
        )
        result.findings.append(_finding("annotation-unreadable", WARNING, pod, text))
        return
    due = since + context.assume_timeout_s
    if context.now < due:
        result.recheck_at = due
        return
    # The text must not change with every look, so it says the time limit, not the age.
    text = sentence(
        "{pod} was assumed on a card more than {assume_timeout_s} min ago, but the device plugin did not assign it. "
        "Check the events of the pod and the plugin log. Delete the pod if its containers do not start.",
        pod=name_of(pod),
        assume_timeout_s=context.assume_timeout_s // 60,
    )
    result.findings.append(_finding("assumed-not-assigned", WARNING, pod, text))
