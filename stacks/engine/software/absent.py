"""Why a component has no pod on a node: not installed, the DaemonSet does not select the node, a taint, or nobody has made it yet."""

from __future__ import annotations

from collections.abc import Iterable

from kube.daemonset_nodes import Obstacle, obstacles
from kube.objects import DaemonSet, Node, TemplateSpec
from stacks.engine.shell import describe_object, label_node
from stacks.engine.software.base import MISSING, PENDING, UNKNOWN, Component, Software, Statement
from stacks.engine.software.pods import version_in
from wording.said import sentence, series

DAEMONSETS = "daemonsets"
_MOST_LISTED = 3
#: Labels of Node Feature Discovery; who sets them by hand hides what is wrong.
_FOUND = "feature.node.kubernetes.io/"


def of_absent(component: Component, node: Node, software: Software) -> Statement:
    """What is said of a component that is wanted on the node and has no pod there."""
    if DAEMONSETS not in software.read:
        return Statement(
            state=UNKNOWN,
            why=sentence(
                "DaemonSets are not available: the initial list is not complete, or the cluster role does not allow it."
            ),
            source="pods",
        )
    sets = software.daemonsets.get(component.name, ())
    if not sets:
        return Statement(
            state=MISSING,
            why=sentence("The cluster has no DaemonSet for {name}.", name=component.name),
            source="daemonsets",
        )
    hindered = [(one, obstacles(spec, node)) for one in sets if (spec := spec_of(one)) is not None]
    if not hindered:
        return Statement(state=UNKNOWN, why=sentence("The DaemonSet has no valid pod template."))
    daemonset, found = min(hindered, key=lambda pair: len(pair[1]))
    spec = spec_of(daemonset)
    name = f"{daemonset.metadata.namespace}/{daemonset.metadata.name}"
    version = version_in((spec.containers if spec else None) or (), component.main)
    if not found:
        return Statement(
            state=PENDING,
            version=version,
            why=sentence("The DaemonSet {name} selects this node, but no pod was created.", name=name),
            remedy=describe_object("daemonset", daemonset.metadata),
            source=f"DaemonSet {name}",
        )
    return Statement(
        state=MISSING,
        version=version,
        why=series(_words(found), " "),
        remedy=_remedy(found, node, name),
        source=f"DaemonSet {name}",
    )


def spec_of(daemonset: DaemonSet) -> TemplateSpec | None:
    """The specification of its pods."""
    template = daemonset.spec.template if daemonset.spec else None
    return template.spec if template else None


def _words(found: Iterable[Obstacle]) -> list[str]:
    return [said(one) for one in list(found)[:_MOST_LISTED]]


def said(one: Obstacle) -> str:
    """One obstacle as a sentence."""
    if one.kind == "taint":
        if one.wanted:
            return sentence(
                "The DaemonSet does not tolerate the taint {taint}. It tolerates {tolerated}.",
                taint=one.key,
                tolerated=", ".join(one.wanted),
            )
        return sentence("The DaemonSet does not tolerate the taint {taint}.", taint=one.key)
    if one.kind == "name":
        return sentence("The DaemonSet runs only on the node {node}.", node=one.key)
    if not one.key:
        return sentence("The node affinity of the DaemonSet matches no node.")
    wanted = ", ".join(one.wanted)
    if one.operator == "DoesNotExist" or (one.operator == "NotIn" and one.found is not None):
        return sentence(
            "The node has the label {key}={value}, which the DaemonSet excludes.", key=one.key, value=one.found
        )
    if one.found is None:
        if one.kind == "affinity":
            return sentence(
                "No term of its node affinity matches: the label {key}={wanted} is missing.",
                key=one.key,
                wanted=wanted or "*",
            )
        return sentence("The label {key}={wanted} is missing.", key=one.key, wanted=wanted)
    return sentence(
        "The label {key} is {value}. The DaemonSet selects {wanted}.",
        key=one.key,
        value=one.found,
        wanted=wanted or one.operator,
    )


def _remedy(found: tuple[Obstacle, ...], node: Node, name: str) -> str:
    """For one missing label, the command; for a taint, the toleration."""
    first = found[0]
    if first.kind == "taint":
        key, effect = first.key.partition("=")[0], first.key.rpartition(":")[2]
        return sentence(
            "Add this toleration to the DaemonSet {name}: key {key}, operator Exists, effect {effect}",
            name=name,
            key=key,
            effect=effect,
        )
    missing = [one for one in found if one.kind == "label" and one.found is None and not one.key.startswith(_FOUND)]
    if missing and len(missing) == len(found):
        return label_node(node, *((one.key, one.wanted[0]) for one in missing))
    return ""


def selects_none(daemonset: DaemonSet) -> bool:
    """Whether the controller found no node for it."""
    status = daemonset.status
    return status is not None and status.desiredNumberScheduled == 0


def unselected(name: str, software: Software, version: str = "") -> Statement | None:
    """Of a component whose nodes are labelled by hand: that no node has the label. None where some node is selected."""
    sets = software.daemonsets.get(name, ())
    if not sets or not all(selects_none(one) for one in sets):
        return None
    spec = spec_of(sets[0])
    labels = ", ".join(f"{key}={value}" for key, value in sorted(((spec.nodeSelector if spec else None) or {}).items()))
    return Statement(
        state=MISSING,
        version=version,
        why=sentence("No node has the label {labels}, which the DaemonSet selects.", labels=labels)
        if labels
        else sentence("The DaemonSet selects no node."),
        source=f"DaemonSet {sets[0].metadata.namespace}/{sets[0].metadata.name}",
    )
