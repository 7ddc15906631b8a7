"""Kunlun's device plugin: whole cards, `kunlunxin.com/xpu`.

A scheduler that chooses the cards by their links writes their numbers on the pod, where the plugin reads them; without one the
kubelet chooses, and the card is not in the API. Nothing on the node says how much memory a card has.
Source: Project-HAMi/HAMi/pkg/device/kunlun (v2.7.0 to v2.10.0; 98304 MiB there is a constant).
"""

from __future__ import annotations

from kube.objects import Node, Pod
from stacks.engine.base import Allocation, Context, Finding, StackReport
from stacks.engine.describe import describe
from stacks.engine.groups import all_known, given_out, numbered, whole
from stacks.engine.offers import shortfall, states
from stacks.engine.overrides import overrides
from stacks.engine.requests import holds, requests
from stacks.engine.stack import Kept, NodeLabels, Stack
from stacks.shared import chosen
from stacks.shared.named import free
from stacks.shared.ways import whole_cards
from wording.said import gettext_noop, sentence

NAME = "kunlun"
RESOURCE = "kunlunxin.com/xpu"
_CHOSEN = "BAIDU_COM_DEVICE_IDX"


def owns(resource: str, context: Context) -> bool:
    """Whole cards, unless an administrator has named them."""
    return resource == RESOURCE and free(context, RESOURCE)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards by count, holders by the numbers on their pods. None when the node has none and no pod holds one."""
    if not owns(RESOURCE, context):
        return None
    asking = [(pod, needs) for pod in pods if holds(pod) and (needs := requests(pod, {RESOURCE}.__contains__))]
    if not asking and not states(node, RESOURCE):
        return None
    given = overrides(node)
    about = describe(node, given, _LABELS)
    groups = [whole(node, NAME, RESOURCE, about, given, alone=True)] if states(node, RESOURCE) else []
    findings: list[Finding] = []
    allocations: list[Allocation] = []
    for pod, needs in asking:
        found = chosen.numbers(pod, (_CHOSEN,), findings)
        allocations += chosen.whole(pod, needs, groups[0] if groups else None, found, findings, NAME)
    for group in groups:
        findings += shortfall(RESOURCE, group.offer, sentence("The plugin does not offer all cards."))
    return StackReport(
        stack=NAME,
        vendor=NAME,
        cards=numbered(groups),
        cards_known=all_known(groups, (RESOURCE for _ in asking)),
        allocations=tuple(allocations),
        findings=tuple(findings),
        memory_total_bytes=given_out(groups),
    )


_LABELS = NodeLabels()

STACK = Stack(
    name=NAME,
    label=gettext_noop("Kunlun device plugin"),
    resources=(RESOURCE,),
    owns=owns,
    read=read,
    resource_prefixes=("kunlunxin.com/",),
    kept=Kept(pod_annotations=(_CHOSEN,)),
    ways=(whole_cards(gettext_noop("Kunlun device plugin"), NAME, owns, npus=owns),),
)
