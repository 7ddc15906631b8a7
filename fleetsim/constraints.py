"""Which nodes a pod admits: node selector, required node affinity, tolerations. Pure; hostile input gives "admits none"."""

from __future__ import annotations

from typing import Any

from fleetsim.machines import Machine
from fleetsim.nodetypes import Taint

Spec = dict[str, Any]


def untolerated(spec: Spec, taints: tuple[Taint, ...]) -> Taint | None:
    """The first NoSchedule or NoExecute taint that the pod does not tolerate."""
    tolerations = [row for row in spec.get("tolerations") or [] if isinstance(row, dict)]
    for taint in taints:
        if taint[2] != "PreferNoSchedule" and not any(_tolerates(row, taint) for row in tolerations):
            return taint
    return None


def _tolerates(row: Spec, taint: Taint) -> bool:
    key, value, effect = taint
    if row.get("effect") not in (None, "", effect):
        return False
    if row.get("operator", "Equal") == "Exists":
        return row.get("key") in (None, "", key)
    return row.get("key") == key and row.get("value", "") == value


def admits(spec: Spec, machine: Machine) -> bool:
    """Whether selector and required affinity of the pod hold on this node."""
    selector = spec.get("nodeSelector") or {}
    if any(machine.labels.get(key) != value for key, value in selector.items()):
        return False
    terms = _terms(spec)
    return terms is None or any(_term_holds(term, machine) for term in terms)


def _terms(spec: Spec) -> list[Any] | None:
    required: Any = spec
    for part in ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"):
        required = required.get(part) if isinstance(required, dict) else None
    if required is None:
        return None
    terms = required.get("nodeSelectorTerms") if isinstance(required, dict) else None
    return terms if isinstance(terms, list) else []


def _term_holds(term: Any, machine: Machine) -> bool:
    if not isinstance(term, dict):
        return False
    labels, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not labels and not fields:
        return False  # An empty term matches nothing.
    return all(_holds(row, machine.labels) for row in labels) and all(
        _holds(row, {"metadata.name": machine.name}) for row in fields
    )


def _holds(row: Any, values: dict[str, str]) -> bool:
    if not isinstance(row, dict):
        return False
    here = values.get(str(row.get("key")))
    wanted = [str(value) for value in row.get("values") or []]
    operator = str(row.get("operator"))
    if operator in ("Exists", "DoesNotExist"):
        return (here is not None) == (operator == "Exists")
    if operator == "In":
        return here in wanted
    return operator == "NotIn" and here not in wanted
