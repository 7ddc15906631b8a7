"""Which nodes a DaemonSet runs on: its node selector, its required node affinity, and taints that it does not tolerate.

Pure. Three answers: True, False, and None where something decides that is not known here: a label that is not read, or an operator
that is not known. Source: Kubernetes 1.36 (DaemonSet controller: NodeShouldRunDaemonPod; component-helpers: nodeaffinity; API
reference of Toleration).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from kube.objects import Node, NodeRequirement, NodeSelector, NodeTerm, Taint, TemplateSpec, Toleration

_NO_SCHEDULE, _NO_EXECUTE = "NoSchedule", "NoExecute"
_EXISTS, _EQUAL = "Exists", ("", "Equal")
#: The controller adds them to each DaemonSet: (key, effect), whatever the value.
_ALWAYS = tuple(
    Toleration(key=f"node.kubernetes.io/{key}", operator=_EXISTS, effect=effect)
    for key, effect in (
        ("not-ready", _NO_EXECUTE),
        ("unreachable", _NO_EXECUTE),
        ("disk-pressure", _NO_SCHEDULE),
        ("memory-pressure", _NO_SCHEDULE),
        ("pid-pressure", _NO_SCHEDULE),
        ("unschedulable", _NO_SCHEDULE),
    )
)
#: And this one to those in the network of the host.
_OF_HOST = Toleration(key="node.kubernetes.io/network-unavailable", operator=_EXISTS, effect=_NO_SCHEDULE)
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")

Answer = bool | None


def _every(key: str) -> bool:
    return True


def runs_on(spec: TemplateSpec, node: Node, reads: Callable[[str], bool] = _every) -> Answer:
    """Whether the controller puts a pod of this template on the node. reads: whether a label that the node has would be known."""
    if spec.nodeName and spec.nodeName != node.metadata.name:
        return False
    affinity = spec.affinity.nodeAffinity if spec.affinity else None
    wanted = affinity.requiredDuringSchedulingIgnoredDuringExecution if affinity else None
    return _all(
        (
            _selected(spec.nodeSelector or {}, node, reads),
            admits(wanted, node, reads) if wanted is not None else True,
            tolerates([*(spec.tolerations or ()), *_ALWAYS, *([_OF_HOST] if spec.hostNetwork else [])], node),
        )
    )


class Obstacle(NamedTuple):
    """One thing that keeps a DaemonSet's pod off a node.

    kind: "label": the node selector wants `key` to be one of `wanted`; "affinity": no term fits, and this is what the closest one
    lacks; "taint": `key` is the taint in full (key=value:effect), wanted: the tolerations of its key; "name": of another node.
    found: the value of the label; None: the node does not have it.
    """

    kind: str
    key: str
    wanted: tuple[str, ...] = ()
    found: str | None = None
    operator: str = "In"


def obstacles(spec: TemplateSpec, node: Node) -> tuple[Obstacle, ...]:
    """What keeps a pod of this template off the node, the node selector first; empty where nothing is known to."""
    found: list[Obstacle] = []
    labels = node.metadata.labels or {}
    if spec.nodeName and spec.nodeName != node.metadata.name:
        found.append(Obstacle("name", spec.nodeName))
    for key, value in (spec.nodeSelector or {}).items():
        if labels.get(key) != value:
            found.append(Obstacle("label", key, (value,), labels.get(key)))
    affinity = spec.affinity.nodeAffinity if spec.affinity else None
    wanted = affinity.requiredDuringSchedulingIgnoredDuringExecution if affinity else None
    if wanted is not None and admits(wanted, node) is False:
        found += _closest_term(wanted, labels)
    given = [*(spec.tolerations or ()), *_ALWAYS, *([_OF_HOST] if spec.hostNetwork else [])]
    found += [
        _taint(taint, given)
        for taint in _unavailable_reason(node)
        if _any(_tolerated(one, taint) for one in given) is False
    ]
    return tuple(found)


def _closest_term(wanted: NodeSelector, labels: dict[str, str]) -> list[Obstacle]:
    """What the term that lacks least lacks; of equals the first."""
    lacking = [
        [
            Obstacle("affinity", one.key, tuple(one.values or ()), labels.get(one.key), one.operator)
            for one in term.matchExpressions or ()
            if _required(one, labels, _every) is False
        ]
        for term in wanted.nodeSelectorTerms or ()
    ]
    return min((one for one in lacking if one), key=len, default=[Obstacle("affinity", "")])


def _unavailable_reason(node: Node) -> list[Taint]:
    taints = (node.spec.taints if node.spec else None) or ()
    return [taint for taint in taints if taint.effect in (_NO_SCHEDULE, _NO_EXECUTE)]


def _taint(taint: Taint, given: list[Toleration]) -> Obstacle:
    mine = tuple(
        f"{one.key}={one.value or ''}" if (one.operator or "Equal") == "Equal" else f"{one.key} {one.operator}"
        for one in given
        if one.key == taint.key
    )
    return Obstacle("taint", f"{taint.key}={taint.value or ''}:{taint.effect}", mine)


def _all(answers: Iterable[Answer]) -> Answer:
    found = list(answers)
    return False if False in found else None if None in found else True


def _any(answers: Iterable[Answer]) -> Answer:
    found = list(answers)
    return True if True in found else None if None in found else False


def _selected(wanted: dict[str, str], node: Node, reads: Callable[[str], bool]) -> Answer:
    labels = node.metadata.labels or {}
    return _all(
        _required(NodeRequirement(key=key, operator="In", values=[value]), labels, reads)
        for key, value in wanted.items()
    )


def admits(selector: NodeSelector, node: Node, reads: Callable[[str], bool] = _every) -> Answer:
    """Whether one of the terms fits the node. No terms fit no node, and neither does a term that asks for nothing."""
    return _any(_term(term, node, reads) for term in selector.nodeSelectorTerms or ())


def _term(term: NodeTerm, node: Node, reads: Callable[[str], bool]) -> Answer:
    labels = node.metadata.labels or {}
    fields = {"metadata.name": node.metadata.name}
    found = [_required(one, labels, reads) for one in term.matchExpressions or ()]
    found += [_required(one, fields, fields.__contains__) for one in term.matchFields or ()]
    return _all(found) if found else False


def _required(wanted: NodeRequirement, values: dict[str, str], reads: Callable[[str], bool]) -> Answer:
    there, named = values.get(wanted.key), wanted.values or []
    if there is None and not reads(wanted.key):
        return None
    match wanted.operator:
        case "In":
            return there in named
        case "NotIn":
            return there not in named
        case "Exists":
            return there is not None
        case "DoesNotExist":
            return there is None
        case "Gt" | "Lt":
            mine, other = _integer(there), _integer(named[0] if len(named) == 1 else None)
            return (
                mine is not None and other is not None and (mine > other if wanted.operator == "Gt" else mine < other)
            )
    return None


def _integer(text: str | None) -> int | None:
    return int(text) if text is not None and _INTEGER.fullmatch(text) else None


def tolerates(tolerations: Iterable[Toleration], node: Node) -> Answer:
    """Whether each taint of the node that keeps pods away is tolerated."""
    given = list(tolerations)
    return _all(_any(_tolerated(one, taint) for one in given) for taint in _unavailable_reason(node))


def _tolerated(one: Toleration, taint: Taint) -> Answer:
    operator = one.operator or ""
    if (one.effect and one.effect != taint.effect) or (one.key and one.key != taint.key):
        return False
    if operator == _EXISTS:
        return True
    if operator in _EQUAL:
        return (one.value or "") == (taint.value or "")
    return None
