"""Components: the GPU software of nodes and clusters, what is true of each now, and how it changed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import Q, QuerySet
from django.db.models.functions import Substr
from django.utils.translation import gettext_lazy as _

from inventory.models import Component as ComponentRow
from inventory.models import ComponentChange as ChangeRow
from inventory.models.choices import ComponentState
from inventory.queries import rows as querysets
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import MAX_LENGTH, ChoiceFilter, ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains

#: Instead of a version or a reason that no source states.
NONE = "none"
STATES = ", ".join(ComponentState.values)


class Component(Shape):
    """One GPU software component, of a node or of the cluster."""

    id: int
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    node: Annotated[
        str | None,
        fact("null: the component exists once in the cluster.", of="node_name", order="node_name", title=_("Node")),
    ]
    name: Annotated[str, fact(order=("component", "name"), title=_("Component"), term="component")]
    stack: Annotated[str, fact("Stack of the component.", title=_("Stack"))]
    state: Annotated[str, fact(f"{STATES}.", order=True, title=_("State"))]
    version: Annotated[str | None, fact("Running version; null: unknown.", title=_("Version"))]
    wanted: Annotated[str | None, fact("Expected version, if it differs.", title=_("Expected"))]
    waiting_for: Annotated[str | None, fact("Component awaited by its init container.", title=_("Waiting for"))]
    container: Annotated[str | None, fact("Failed container.", title=_("Container"))]
    exit_code: Annotated[int | None, fact(title=_("Exit code"), number=True)]
    why: Annotated[str | None, fact("Reason of the state.", title=_("Reason"))]
    warnings: Annotated[list[str], fact("Further problems.", title=_("Warnings"))]
    remedy: Annotated[str | None, fact("Remedy: a command or an instruction.", title=_("Remedy"))]
    step: Annotated[str | None, fact("Current step of an upgrade or MIG change, from its label.", title=_("Step"))]
    source: Annotated[str | None, fact("Source object.", title=_("Source"))]
    first_cause: Annotated[
        bool, fact("true: cause of other components of the node not being ready.", title=_("Root cause"))
    ]
    since: Annotated[
        datetime | None, fact("Start of the state, as the object reports it; null: not reported.", title=_("Since"))
    ]
    state_since: Annotated[
        datetime, fact("Time when gpudash first saw the state.", order=True, title=_("State first seen"))
    ]
    step_since: Annotated[datetime | None, fact("Time when gpudash first saw the step.", title=_("Step first seen"))]


class ComponentFilter(StrictFilterSet):
    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("node_name", label="node name")
    component = WordsFilter("name", label="component name")
    stack = WordsFilter("stack", label="stack of the component")
    state = ChoiceFilter(ComponentState.values, "state", label="state")
    version = WordsFilter("version", method="on_version", label=f"version that runs; {NONE}: unknown")
    why = WordsFilter(
        "why", method="on_why", label=f"why it is in its state, the first {MAX_LENGTH} characters; {NONE}: unknown"
    )
    first_cause = YesNoFilter("first_cause", method="on_yes_no", label="first cause of its node")
    of_nodes = YesNoFilter("node_name", method="on_nodes", label="components of nodes, without those of the cluster")
    step = WordsFilter("step", label="step of an upgrade or a MIG change")
    q = SearchFilter(
        method=contains("node_name", "name", "version", "why"), label="free search: node, component, reason"
    )

    orders: ClassVar[dict[str, str]] = orders_of(Component)
    default_order = ("cluster", "node", "component")

    class Meta(StrictFilterSet.Meta):
        model = ComponentRow
        fields: ClassVar[list[str]] = []

    def on_version(self, rows: QuerySet[Any], name: str, values: list[str]) -> QuerySet[Any]:
        return rows.filter(**{f"{name}__in": [_stored(one) for one in values]})

    def on_why(self, rows: QuerySet[Any], _: str, texts: list[str]) -> QuerySet[Any]:
        found: QuerySet[Any] = rows.alias(why_begins=why_begins())
        return found.filter(why_begins__in=[_stored(one) for one in texts])

    def on_yes_no(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return rows if value == "any" else rows.filter(**{name: value == "true"})

    def on_nodes(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        once = Q(**{name: ""})
        return rows if value == "any" else rows.filter(~once if value == "true" else once)


def _stored(value: str) -> str:
    return "" if value == NONE else value


def why_begins() -> Substr:
    """What the filter `why` compares: as much as an address can carry."""
    return Substr("why", 1, MAX_LENGTH)


class ComponentChange(Shape):
    """One change of a component."""

    id: int
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    node: Annotated[
        str | None, fact("null: the component exists once in the cluster.", of="node_name", title=_("Node"))
    ]
    name: Annotated[str, fact(title=_("Component"))]
    stack: Annotated[str | None, fact("null: the component was removed.", title=_("Stack"))]
    state_before: Annotated[str | None, fact("null: the component did not exist.", title=_("Before"))]
    state_after: Annotated[str | None, fact("null: the component was removed.", title=_("After"))]
    version_before: Annotated[str | None, fact(title=_("Version before"))]
    version_after: Annotated[str | None, fact(title=_("Version after"))]
    step_before: Annotated[str | None, fact("Step of an upgrade or MIG change.", title=_("Step before"))]
    step_after: Annotated[str | None, fact(title=_("Step after"))]
    changed_at: Annotated[datetime, fact("Time when gpudash saw the change.", of="at", order=True, title=_("Changed"))]


class ComponentChangeFilter(StrictFilterSet):
    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("node_name", label="node name")
    component = WordsFilter("name", label="component name")

    orders: ClassVar[dict[str, str]] = orders_of(ComponentChange)
    default_order = ("-changed_at",)

    class Meta(StrictFilterSet.Meta):
        model = ChangeRow
        fields: ClassVar[list[str]] = []


COMPONENTS = Resource(
    "components",
    Component,
    ComponentFilter,
    querysets.components,
    csv=(
        "cluster",
        "node",
        ("name", "component"),
        "stack",
        "state",
        "version",
        "wanted",
        "waiting_for",
        "container",
        "exit_code",
        "why",
        "warnings",
        "remedy",
        "step",
        "source",
        "first_cause",
        "since",
        "state_since",
        "step_since",
    ),
    table=("name", "node", "state", "version", "why", "since"),
    as_csv={"why": ("why", "warnings", "remedy")},
)

CHANGES = Resource(
    "component-changes",
    ComponentChange,
    ComponentChangeFilter,
    querysets.component_changes,
    csv=(
        "cluster",
        "node",
        ("name", "component"),
        "stack",
        "state_before",
        "state_after",
        "version_before",
        "version_after",
        "step_before",
        "step_after",
        "changed_at",
    ),
)
