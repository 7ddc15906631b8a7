"""Cards, slices and shares by count, beside what a vendor's plugin gives out in another way.

The plugin, or the kubelet, chooses which of them a pod gets, and it is not in the API.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from kube.objects import Node, Pod
from stacks.engine.base import WHOLE, Allocation, StackReport
from stacks.engine.describe import Described
from stacks.engine.groups import Group, all_known, given_out, numbered, whole
from stacks.engine.offers import shortfall, states
from stacks.engine.overrides import overrides
from stacks.engine.requests import Need, allocation, holds, requests
from stacks.engine.sums import total
from wording.said import sentence

#: A pod, and what resources are wanted → its needs of them.
Needs = Callable[[Pod, Callable[[str], bool]], list[Need]]


def cards(
    stack: str,
    node: Node,
    pods: list[Pod],
    resources: tuple[str, ...],
    about: Described,
    report: StackReport | None = None,
    needs: Needs = requests,
    same: bool = True,
) -> StackReport | None:
    """The report with the whole cards of these resources in it; None where there is neither.

    same: whether they may be among the cards of the report: how many there are besides is known only where it is stated.
    """
    held = {need.resource for pod in pods if holds(pod) for need in needs(pod, frozenset(resources).__contains__)}
    here = [name for name in resources if states(node, name) or name in held]
    given, listed = overrides(node), len(report.cards) if report is not None else 0
    groups = [whole(node, stack, name, about, given, alone=len(here) == 1 and not listed) for name in here]
    groups = [_besides(group, listed, given.cards) for group in groups] if same and listed else groups
    return beside(stack, pods, groups, report, needs)


def _besides(group: Group, listed: int, stated: int | None) -> Group:
    if not group.number:
        return group
    return msgspec.structs.replace(group, number=max(stated - listed, 0) if stated is not None else None)


def beside(
    stack: str, pods: list[Pod], groups: list[Group], report: StackReport | None = None, needs: Needs = requests
) -> StackReport | None:
    """The report with these groups and their holders in it; None where there is neither."""
    if not groups:
        return report
    by_resource = {group.resource: group for group in groups}
    asking = [(pod, need) for pod in pods if holds(pod) for need in needs(pod, by_resource.__contains__)]
    before = report if report is not None else StackReport(stack=stack, vendor=stack, memory_total_bytes=0)
    first = sum(1 for card in before.cards if not card.profile)
    withheld = sentence("The plugin marked devices as unhealthy, or lost them.")
    return msgspec.structs.replace(
        before,
        cards=(*before.cards, *numbered(groups, first)),
        cards_known=before.cards_known and all_known(groups, (need.resource for _, need in asking)),
        allocations=(*before.allocations, *(_held(pod, need, by_resource[need.resource]) for pod, need in asking)),
        findings=(
            *before.findings,
            *(found for group in groups for found in shortfall(group.resource, group.offer, withheld)),
        ),
        memory_total_bytes=total((before.memory_total_bytes, given_out(groups))),
    )


def _held(pod: Pod, need: Need, group: Group) -> Allocation:
    memory = group.about.memory_of(need.quantity) if group.mode == WHOLE else None
    return allocation(pod, need, group.stack, group.mode, memory_bytes=memory)
