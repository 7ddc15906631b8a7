"""What is wrong with a node apart from the promises on its cards: plugins, labels, resources that nobody understands.

Reads the node and its pods once. Must not know any stack by name.
"""

from __future__ import annotations

import msgspec

from kube.objects import Node, Pod
from kube.quantity import size
from stacks.engine.base import ERROR, INFO, WARNING, Context, Finding
from stacks.engine.components import component, pending_reason, ready
from stacks.engine.names import labels_of
from stacks.engine.registry import Names, marked, names, registry
from stacks.engine.requests import asked, containers, devices, holds, name_of
from wording.said import sentence, series

_MOST_LISTED = 20


class Seen(msgspec.Struct):
    """What one look at a node and its pods has found.

    names: GPU resources that the node states or its pods hold. counted_here: what a stack counts here under a name that is none of
    its own elsewhere. strange: those of no stack's understanding → pods that hold it.
    by_claims: the cards are given out by DRA, so that the missing resource is as it should be. unread_claims: pods that hold resource
    claims, where claims cannot be read.
    """

    gpu_resources: dict[str, int | None]
    strange: dict[str, int]
    unreadable: list[Finding]
    plugins: list[Pod]
    names: set[str]
    counted_here: frozenset[str] = frozenset()
    gpu_label: str | None = None
    by_claims: bool = False
    unread_claims: int = 0
    unreadable_holders: bool = False
    understood: bool = False
    by_slices: bool = False

    @property
    def worth_a_look(self) -> bool:
        """Whether anything here may become a finding."""
        return bool(self.strange or self.unreadable or self.plugins or self.gpu_label or self.unread_claims)

    @property
    def countable(self) -> bool:
        """Whether the cards of this node are counted by some stack, or there are none at all."""
        return self.understood or self.by_slices or not (self.strange or self.gpu_label)

    @property
    def strange_offered(self) -> bool:
        """Whether the node offers something of a resource that no stack understands."""
        return any((self.gpu_resources.get(name) or 0) > 0 for name in self.strange)

    @property
    def uncounted_cards(self) -> bool:
        """Whether cards of this node lie behind resources or claims that nobody reads: then they are in no stack's total."""
        return bool(self.unread_claims) or any(
            name.startswith(registry.uncounted) and (self.gpu_resources.get(name) or 0) > 0 for name in self.strange
        )


def look(node: Node, pods: list[Pod], context: Context) -> Seen:
    """One pass over the resources of the node and of its pods."""
    marking = (stack.counts_here for stack in marked(node) if stack.counts_here)
    counted_here = frozenset(name for counts in marking for name in counts(node, context))
    seen, known = Seen({}, {}, [], [], set(), counted_here, _gpu_label(node)), names(context)
    seen.by_claims = _by_claims(node) or bool(context.claims)
    seen.by_slices = any(one.spec.nodeName == node.metadata.name for one in context.slices)
    status = node.status
    for offered in (status.allocatable, status.capacity) if status else ():
        for name, value in offered.items() if offered else ():
            if "/" in name and known.relevant(name):
                _see_offer(seen, name, value, known)
    for pod in pods:
        _see_pod(seen, pod, known)
        if not context.claims_read and _has_claims(pod) and holds(pod):
            seen.unread_claims += 1
    return seen


def _has_claims(pod: Pod) -> bool:
    """Also claims that were made for it, since it asks for an extended resource that drivers give out."""
    made = pod.status is not None and pod.status.extendedResourceClaimStatus is not None
    return made or bool(pod.spec is not None and pod.spec.resourceClaims)


def _see_offer(seen: Seen, name: str, value: str | int, known: Names) -> None:
    number = _number(name, value)
    seen.gpu_resources[name] = number
    seen.names.add(name)
    if number is None:
        text = sentence(
            "The node reports {value} of {name}, which is not a valid number of devices. The number is unknown.",
            value=f"{str(value)[:40]!r}",
            name=name,
        )
        seen.unreadable.append(Finding(code="quantity-unreadable", severity=WARNING, text=text))
    if known.owner(name) is None and name not in seen.counted_here:
        seen.strange.setdefault(name, 0)
    else:
        seen.understood = True


def _number(name: str, value: str | int) -> int | None:
    return size(value) if name in registry.in_bytes else devices(value)


def _see_pod(seen: Seen, pod: Pod, known: Names) -> None:
    if pod.metadata.labels and component(pod) in registry.device_plugins:
        seen.plugins.append(pod)
    if not holds(pod):
        return
    mine: set[str] = set()
    for _, _, container in containers(pod):
        # By name: what is stored of a pod may have them in another order than the cluster.
        for name, value in sorted(asked(container)):
            if "/" not in name or not known.relevant(name):
                continue
            seen.names.add(name)
            number = _number(name, value)
            if number is None:
                _see_unreadable(seen, pod, container.name, name, value)
            elif number and known.owner(name) is None and name not in seen.counted_here:
                mine.add(name)
            elif number:
                seen.understood = True
    for name in mine:
        seen.strange[name] = seen.strange.get(name, 0) + 1


def _see_unreadable(seen: Seen, pod: Pod, container: str, name: str, value: str | int) -> None:
    seen.unreadable_holders = True
    text = sentence(
        "{pod}, container {container}, requests {value} of {name}, which is not a valid number of devices. Its "
        "allocation and the totals of this node are unknown.",
        pod=name_of(pod),
        container=container,
        value=f"{str(value)[:40]!r}",
        name=name,
    )
    seen.unreadable.append(Finding(code="quantity-unreadable", severity=WARNING, text=text, pod=name_of(pod)))


def _gpu_label(node: Node) -> str | None:
    """The first label that says that the node has a GPU; None when none does."""
    labels = labels_of(node)
    found = (name for writer in registry.labels for name in writer.present if labels.get(name) == "true")
    named = (name for writer in registry.labels for name in writer.naming if labels.get(name))
    return next(found, None) or next(named, None)


def _by_claims(node: Node) -> bool:
    """Whether a label says that the cards are given out by DRA."""
    labels = labels_of(node)
    return any(labels.get(name) == "true" for writer in registry.labels for name in writer.by_claims)


def findings(seen: Seen, explained: bool) -> list[Finding]:
    """The findings of one look. explained: a stack says itself why the node offers nothing."""
    return [
        *seen.unreadable[:_MOST_LISTED],
        *(_not_ready(pod) for pod in seen.plugins if _is_not_ready(pod)),
        *([] if explained else _without_resource(seen)),
        *_claims_unread(seen),
        *(_not_understood(name, held, seen) for name, held in sorted(seen.strange.items())),
    ]


def _is_not_ready(pod: Pod) -> bool:
    # A plugin pod that is being replaced is no news; one that has ended is not counted as running at all.
    return holds(pod) and pod.metadata.deletionTimestamp is None and ready(pod) is not True


def _not_ready(pod: Pod) -> Finding:
    reason, message = pending_reason(pod)
    why = f"{reason}: {message}" if reason and message else reason or sentence("its Ready condition is not True")
    text = sentence(
        "The device plugin pod {pod} ({component}) is not ready on this node: {why}. New pods may get no GPU here, "
        "and the numbers of the node may be stale. Check its log and events.",
        pod=name_of(pod),
        component=component(pod),
        why=why,
    )
    return Finding(code="plugin-not-ready", severity=ERROR, text=text, pod=name_of(pod))


def _without_resource(seen: Seen) -> list[Finding]:
    offered = any(number is None or number > 0 for number in seen.gpu_resources.values())
    if seen.gpu_label is None or offered or seen.by_slices or seen.unread_claims:
        return []
    if seen.by_claims:
        text = sentence(
            "Dynamic resource allocation (DRA) manages the cards of this node, but there is no ResourceSlice. The "
            "cards are excluded from totals. Check that gpudash may read resourceslices and that the DRA driver runs "
            "on this node."
        )
        return [Finding(code="resource-not-understood", severity=INFO, text=text)]
    text = sentence(
        "The node has the label {gpu_label} but offers no GPU resource. Check that the driver is installed and that "
        "the device plugin runs on this node.",
        gpu_label=seen.gpu_label,
    )
    return [Finding(code="label-without-resource", severity=WARNING, text=text)]


def _claims_unread(seen: Seen) -> list[Finding]:
    if not seen.unread_claims:
        return []
    text = sentence(
        "Pods with ResourceClaims (DRA) on this node: {unread_claims}. gpudash is not allowed to read resourceslices "
        "and resourceclaims. The cards and the allocations of these pods are unknown.",
        unread_claims=seen.unread_claims,
    )
    return [Finding(code="resource-not-understood", severity=INFO, text=text)]


#: Findings that say themselves why cards cannot be counted.
_SAY_WHY = frozenset(
    (
        "annotation-unreadable",
        "count-zero",
        "driver-upgrade",
        "labels-disagree",
        "mig-config",
        "plugin-settings-unread",
        "quantity-unreadable",
        "resource-not-understood",
    )
)


def uncounted(seen: Seen, found: list[Finding]) -> list[Finding]:
    """`cards-unknown`, for a node whose number of cards is not known, where no other finding says why."""
    offered = [
        sentence("{number} of {name}", number=number, name=name)
        for name, number in sorted(seen.gpu_resources.items())
        if number
    ]
    if not offered or any(finding.code in _SAY_WHY for finding in found):
        return []
    text = sentence(
        "The node offers {names}. Labels, instance type and plugin settings do not give the number of cards. Set the "
        "annotation gpudash.io/card-count.",
        names=series(offered, ", "),
    )
    return [Finding(code="cards-unknown", severity=INFO, text=text)]


def _not_understood(name: str, held: int, seen: Seen) -> Finding:
    offered = seen.gpu_resources.get(name)
    capacity = "not stated" if offered is None else str(offered)
    text = sentence(
        "{name} looks like a GPU resource that gpudash does not support: capacity {capacity}, pods with allocations: "
        "{pods}. Its cards are excluded from the totals of this node.",
        name=name,
        capacity=capacity,
        pods=held,
    )
    return Finding(code="resource-not-understood", severity=INFO, text=text)
