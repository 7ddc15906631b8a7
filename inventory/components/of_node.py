"""All components of one node, and which of them explains the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from kube.daemonset_nodes import runs_on
from kube.objects import DaemonSet, Node, Pod, TemplateSpec
from kube.quantity import size
from stacks.engine.registry import registry
from stacks.engine.requests import ended
from stacks.engine.software.absent import of_absent, spec_of
from stacks.engine.software.base import (
    CAUSES,
    DISABLED,
    LEFT_OUT,
    NOT_NEEDED,
    NOT_READY,
    OFFERS_NOTHING,
    OUTDATED,
    PAUSED,
    READY,
    UNKNOWN,
    WAITING,
    Component,
    Expected,
    Here,
    Software,
    Statement,
)
from stacks.engine.software.pods import of_pod
from wording.said import known, sentence

NOTHING: Mapping[str, int] = {}
NOT_CONCERNED = sentence("This stack needs no component on the node.")


class NodeComponents(msgspec.Struct, frozen=True):
    """statements: component → what is true of it, in the order of blame. first_cause: the one that explains those that are not ready;
    "" where none is."""

    statements: dict[str, Statement] = {}
    first_cause: str = ""
    #: Components whose stack is known: component → stack.
    stacks: dict[str, str] = {}


def of_node(
    node: Node, pods: tuple[Pod, ...], software: Software, published: Mapping[str, int] = NOTHING
) -> NodeComponents:
    """pods: those bound to the node. published: driver → devices of its slices there. Never raises for what a cluster may hold."""
    mine = _by_component(pods, software)
    found: dict[str, Statement] = {}
    stacks: dict[str, str] = {}
    optional: set[str] = set()
    for declared in registry.software:
        parts = declared.software
        if not parts.node or not parts.concerns(node, software):
            continue
        here: dict[str, Statement] = {}
        if (same := parts.without(node, software)) is not None:
            if same.state == UNKNOWN and software.daemonsets.get(parts.plugin):
                found[parts.plugin], stacks[parts.plugin] = same, declared.name
            continue
        expected = parts.expected(node, software)
        for component in parts.node:
            wanted = expected.get(component.name) or component.expected(node, software)
            statement = _of_component(component, wanted, node, pods, mine, software, published)
            if statement is not None:
                here[component.name] = statement
                stacks[component.name] = declared.name
                optional |= {component.name} if component.optional else set()
        found |= parts.together(here)
    found = _of_silent_node(found, node)
    return NodeComponents(found, first_cause(found, frozenset(optional)), stacks)


def _by_component(pods: tuple[Pod, ...], software: Software) -> dict[str, list[Pod]]:
    """By the uid of the DaemonSet that owns it, never by its labels, which anybody may write."""
    found: dict[str, list[Pod]] = {}
    for pod in pods:
        for owner in pod.metadata.ownerReferences or ():
            if owner.kind == "DaemonSet" and (name := software.owners.get(owner.uid)) and not ended(pod):
                found.setdefault(name, []).append(pod)
    return found


def _of_component(
    component: Component,
    expected: Expected,
    node: Node,
    pods: tuple[Pod, ...],
    mine: dict[str, list[Pod]],
    software: Software,
    published: Mapping[str, int],
) -> Statement | None:
    if expected == LEFT_OUT:
        return None
    several = mine.get(component.name, [])
    # A pod that is being replaced is no news where its successor is there.
    several.sort(key=lambda pod: pod.metadata.deletionTimestamp is not None)
    pod = several[0] if several else None
    daemonset = _owner(pod, component, software)
    template = spec_of(daemonset) if daemonset is not None else None
    if isinstance(expected, Statement) and not _kept_there(expected, pod, template, node):
        made = expected
    elif pod is None:
        made = _offered_without(component, node, software) or of_absent(component, node, software)
    else:
        strategy = daemonset.spec.updateStrategy if daemonset is not None and daemonset.spec else None
        on_delete = strategy is not None and strategy.type == "OnDelete"
        made = of_pod(pod, template, component.main, component.waits, on_delete)
        made = _proved(made, component, node)
        live = [one for one in several if one.metadata.deletionTimestamp is None]
        if made.state in (READY, OUTDATED) and len(live) > 1:
            text = sentence("{number} pods of this component run on the node.", number=len(live))
            made = msgspec.structs.replace(made, warnings=(*made.warnings, text))
    if component.refine is not None:
        here = Here(
            node=node,
            pod=pod,
            template=template,
            daemonset=daemonset,
            pods=pods,
            software=software,
            published=published,
        )
        made = component.refine(made, here)
    return made


def _kept_there(expected: Statement, pod: Pod | None, template: TemplateSpec | None, node: Node) -> bool:
    """Whether a label switches the component off, and its pod is of a DaemonSet that does not go by that label."""
    by_label = expected.state == DISABLED and expected.source.startswith("label ")
    here = pod is not None and pod.metadata.deletionTimestamp is None
    return by_label and here and template is not None and runs_on(template, node) is True


def _owner(pod: Pod | None, component: Component, software: Software) -> DaemonSet | None:
    if pod is None:
        return None
    uids = {one.uid for one in pod.metadata.ownerReferences or ()}
    return next((one for one in software.daemonsets.get(component.name, ()) if one.metadata.uid in uids), None)


def offered(component: Component, node: Node) -> tuple[int, list[str]]:
    """(how much of what the component offers the node can give out, the names of resources that it states)."""
    status = node.status
    stated = (status.allocatable or status.capacity if status else None) or {}
    names = [name for name in stated if component.offers is not None and component.offers(name)]
    return sum(size(stated[name]) or 0 for name in names), sorted(names)


def _proved(made: Statement, component: Component, node: Node) -> Statement:
    """A plugin that runs and offers nothing is not ready: several sleep for ever when they find no card."""
    if made.state not in (READY, OUTDATED) or component.offers is None:
        return made
    number, names = offered(component, node)
    if number > 0:
        return made
    why = (
        sentence("It runs, but offers nothing: {names} is 0 on the node.", names=", ".join(names))
        if names
        else sentence("It runs, but offers nothing: the node has no resource of it.")
    )
    return msgspec.structs.replace(
        made,
        state=NOT_READY,
        reason=OFFERS_NOTHING,
        why=why,
        remedy=sentence("Check the driver and the container runtime on the node, then restart the pod."),
    )


def _offered_without(component: Component, node: Node, software: Software) -> Statement | None:
    """Without a DaemonSet: the kubelet gives out what a plugin registered, so one runs where the API does not show it."""
    if software.daemonsets.get(component.name) or component.offers is None:
        return None
    number, names = offered(component, node)
    if not number:
        return None
    return Statement(
        state=READY,
        why=sentence(
            "No pod: the host or a managed service runs it. The node offers {number} of {names}.",
            number=number,
            names=", ".join(names),
        ),
        source="node status",
    )


def _of_silent_node(found: dict[str, Statement], node: Node) -> dict[str, Statement]:
    """Of a node that does not report, what its pods said is old."""
    conditions = (node.status.conditions if node.status else None) or ()
    if not any(one.type == "Ready" and one.status != "True" for one in conditions):
        return found
    return {
        name: msgspec.structs.replace(
            one,
            state=UNKNOWN,
            why=sentence("The node is not ready; last known state: {state}.", state=known(one.state)),
            remedy="",
            explains=False,
        )
        if one.source.startswith("pod ")
        else one
        for name, one in found.items()
    }


def first_cause(found: dict[str, Statement], optional: frozenset[str] = frozenset()) -> str:
    """The first in the order of blame that explains the others; what nothing depends on comes last."""
    for names in ([name for name in found if name not in optional], list(found)):
        for name in names:
            if found[name].state in CAUSES or found[name].explains:
                return name
    waiting = (name for name, one in found.items() if one.state in (PAUSED, WAITING) and name not in optional)
    return next(waiting, "")


def declared_with(components: Iterable[str]) -> tuple[str, ...]:
    """All components of nodes of the stacks that have one of these."""
    known = set(components)
    return tuple(
        component.name
        for declared in registry.software
        if not known.isdisjoint(component.name for component in declared.software.node)
        for component in declared.software.node
    )


def completed(found: dict[str, Statement], components: Iterable[str]) -> dict[str, Statement]:
    """With those of these components of which nothing is said: the node has nothing of their stack, or is not of their kind."""
    rest = [name for name in declared_with(components) if name not in found]
    return found | {name: Statement(state=NOT_NEEDED, why=NOT_CONCERNED) for name in rest}
