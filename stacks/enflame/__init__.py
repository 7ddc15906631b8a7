"""Enflame's device plugins: whole cards, `enflame.com/gcu`, and slices of cards by gcushare.

gcushare counts the cards, `enflame.com/gcu-count`, and their slices twice: `enflame.com/shared-gcu` are slices of time, and
`enflame.com/drs-gcu` slices of the hardware with a memory of their own. A card serves one of the two at a time, and the slices of the
other are withheld meanwhile. Of whole cards the plugin chooses which a pod gets; a scheduler's own number of the card, and its
memory of 100 (percent), are not read.
Sources: EnflameTechnology/gcushare ee04a65; Project-HAMi/HAMi/pkg/device/enflame (v2.6.0 to v2.10.0).
"""

from __future__ import annotations

import msgspec

from kube.objects import Node, Pod
from stacks.enflame.cut import DRS_CARDS, SHARED_CARDS, Cut, cut
from stacks.enflame.names import COUNT, DOMAIN, DRS, NAME, OF_SLICES, SHARED
from stacks.enflame.pods import KEPT, holding
from stacks.engine.base import PARTS, Card, Context, Finding, StackReport
from stacks.engine.describe import Described, describe
from stacks.engine.devices import Device
from stacks.engine.groups import Group
from stacks.engine.labels import first, mebibytes, model_name, text
from stacks.engine.offers import offer, shortfall, states
from stacks.engine.overrides import overrides
from stacks.engine.requests import holds, requests
from stacks.engine.stack import Components, Kept, NodeLabels, Stack
from stacks.shared import counted
from stacks.shared.named import free
from stacks.shared.ways import whole_cards
from wording.said import gettext_noop, sentence

GCU = f"{DOMAIN}gcu"
PRESENT = f"{DOMAIN}gcu.present"
_PLUGIN = "gcushare-device-plugin"


def owns(resource: str, context: Context) -> bool:
    """Whole cards and slices, unless an administrator has named them."""
    return (resource == GCU and free(context, GCU)) or (resource in OF_SLICES and free(context, *OF_SLICES))


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Whole cards by count, slices by what is written on their pods. None when the node has neither and no pod holds one."""
    about = describe(node, overrides(node), NODE_LABELS)
    slices = _slices(node, pods, about) if owns(DRS, context) else None
    mine = tuple(name for name in (GCU,) if owns(name, context))
    return counted.cards(NAME, node, pods, mine, about, slices)


def _slices(node: Node, pods: list[Pod], about: Described) -> StackReport | None:
    asking = [
        (pod, needs) for pod in pods if holds(pod) and (needs := requests(pod, frozenset(OF_SLICES).__contains__))
    ]
    if not asking and not any(states(node, name) for name in (COUNT, DRS, SHARED)):
        return None
    findings: list[Finding] = []
    here = cut(node, findings)
    group = _group(node, here, about)
    findings += shortfall(
        group.resource, group.offer, sentence("The plugin marked slices as unhealthy, or lost a card.")
    )
    return StackReport(
        stack=NAME,
        vendor=NAME,
        cards=tuple(_card(group, key, about) for key in here.keys),
        cards_known=here.number is not None,
        allocations=tuple(item for pod, needs in asking for item in holding(pod, needs, here, about, findings)),
        findings=tuple(findings),
        memory_total_bytes=group.given_out,
    )


def _card(group: Group, key: str, about: Described) -> Card:
    """A card, which has slices of either kind. about: by labels."""
    made = group.card(Device(key), int(key))
    return msgspec.structs.replace(made, memory_physical_bytes=about.memory_bytes, resource="")


def _group(node: Node, here: Cut, about: Described) -> Group:
    """The cards. They give out the largest slice of the hardware, where it is the whole of it, else the card's memory."""
    slices = {name: offer(node, name) for name in (DRS, SHARED)}
    of_hardware = bool(slices[DRS].slots)
    largest = here.profiles.get(here.each or 0) if of_hardware else None
    if largest is not None:
        about = msgspec.structs.replace(about, memory_bytes=largest, memory_source=f"annotation {DRS_CARDS}")
    # What one kind gives out the other withholds: neither number says what is wrong then, nor what can still be given out.
    both = all(found.slots for found in slices.values())
    found = slices[DRS if of_hardware else SHARED]
    return Group(
        stack=NAME,
        resource=DRS if of_hardware else SHARED,
        offer=found._replace(allocatable=found.capacity) if both else found,
        number=here.number,
        mode=PARTS,
        each=here.each,
        shares=here.each,
        about=about,
    )


NODE_LABELS = NodeLabels(
    prefixes=(f"{DOMAIN}gcu.",),
    present=(PRESENT,),
    vendor_words=("enflame",),
    model=first((f"{DOMAIN}gcu.model",), model_name),
    memory=first((f"{DOMAIN}gcu.memory",), mebibytes),
    driver=first((f"{DOMAIN}gcu.driverVer",), text),
)

STACK = Stack(
    name=NAME,
    label="Enflame device plugin, gcushare",
    resources=(GCU, *OF_SLICES),
    owns=owns,
    read=read,
    resource_prefixes=(DOMAIN,),
    node_labels=NODE_LABELS,
    components=Components(by_label={"name": {"gcushare-device-plugin-ds": _PLUGIN}}, device_plugins=(_PLUGIN,)),
    kept=Kept(pod_annotations=KEPT, node_annotations=(DRS_CARDS, SHARED_CARDS)),
    ways=(whole_cards(gettext_noop("Enflame device plugin, whole cards"), NAME, (GCU,), npus=(GCU,)),),
)
