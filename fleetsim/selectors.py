"""Label and field selectors of list and watch requests: parsed once, matched against stored entries."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fleetsim.status import bad_request

#: Where a pod is.
NODE_NAME = "spec.nodeName"
#: Fields that a request may select by, for each plural; the API server has no others for these kinds.
FIELDS = {
    "nodes": ("metadata.name", "spec.unschedulable"),
    "pods": (
        "metadata.name",
        "metadata.namespace",
        NODE_NAME,
        "spec.schedulerName",
        "spec.restartPolicy",
        "status.phase",
    ),
    "events": (
        "metadata.name",
        "metadata.namespace",
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "reason",
        "type",
    ),
    "namespaces": ("metadata.name", "status.phase"),
    "configmaps": ("metadata.name", "metadata.namespace"),
    "priorityclasses": ("metadata.name",),
    "services": ("metadata.name", "metadata.namespace"),
    "daemonsets": ("metadata.name", "metadata.namespace"),
    "deployments": ("metadata.name", "metadata.namespace"),
    "jobs": ("metadata.name", "metadata.namespace", "status.successful"),
    "resourceslices": ("metadata.name", "spec.nodeName", "spec.driver"),
    "resourceclaims": ("metadata.name", "metadata.namespace"),
    "clusterpolicies": ("metadata.name",),
    "nvidiadrivers": ("metadata.name",),
    "deviceconfigs": ("metadata.name", "metadata.namespace"),
}

_KEY = r"[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?"
_VALUE = r"[A-Za-z0-9._-]*"
_SET = re.compile(rf"^({_KEY})\s+(in|notin)\s*\(([^()]*)\)$")
_EQUALITY = re.compile(rf"^({_KEY})\s*(==|=|!=)\s*({_VALUE})$")
_EXISTS = re.compile(rf"^(!?)\s*({_KEY})$")


@dataclass(frozen=True)
class Requirement:
    """One condition on one label. `values` None: only whether the label is there matters."""

    key: str
    values: frozenset[str] | None
    wanted: bool

    def matches(self, labels: dict[str, str]) -> bool:
        value = labels.get(self.key)
        if self.values is None:
            return (value is not None) == self.wanted
        # A label that is not there satisfies `!=` and `notin`, as the API server has it.
        return (value is not None and value in self.values) == self.wanted


@dataclass(frozen=True)
class Selection:
    """What a request asks for: a namespace (None: all), labels and fields."""

    namespace: str | None = None
    labels: tuple[Requirement, ...] = ()
    fields: tuple[tuple[str, str, bool], ...] = ()

    @property
    def filters(self) -> bool:
        """Whether a selector is given; the server then cannot say how many items remain."""
        return bool(self.labels or self.fields)

    def matches(self, namespace: str, labels: dict[str, str], fields: dict[str, str]) -> bool:
        if self.namespace is not None and namespace != self.namespace:
            return False
        if not all(requirement.matches(labels) for requirement in self.labels):
            return False
        return all((fields.get(key, "") == value) == wanted for key, value, wanted in self.fields)


def parse_labels(text: str) -> tuple[Requirement, ...]:
    """A label selector (equality, set and existence). Raises ApiError 400 on text that is none."""
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", text)] if text.strip() else []
    return tuple(_requirement(part) for part in parts)


def _requirement(part: str) -> Requirement:
    if found := _SET.match(part):
        values = frozenset(value.strip() for value in found[3].split(","))
        return Requirement(found[1], values, found[2] == "in")
    if found := _EQUALITY.match(part):
        return Requirement(found[1], frozenset({found[3]}), found[2] != "!=")
    if found := _EXISTS.match(part):
        return Requirement(found[2], None, not found[1])
    raise bad_request(f"unable to parse requirement: {part!r} is not a label selector")


def parse_fields(text: str, plural: str) -> tuple[tuple[str, str, bool], ...]:
    """A field selector as (field, value, equal). Raises ApiError 400 on a field that the kind cannot be selected by."""
    parts = [part for part in text.split(",") if part]
    return tuple(_term(part, plural) for part in parts)


def _term(part: str, plural: str) -> tuple[str, str, bool]:
    found = re.match(r"^([^=!]+)(==|=|!=)(.*)$", part)
    if not found:
        raise bad_request(f"invalid selector: {part!r}; can't understand it")
    if found[1] not in FIELDS.get(plural, ()):
        raise bad_request(f"field label not supported: {found[1]}")
    return found[1], found[3], found[2] != "!="
