"""Allocations: who holds what, now and before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar

import django_filters as df
from django.db.models import F, QuerySet, Value
from django.db.models.functions import NullIf
from django.utils.translation import gettext_lazy as _

from inventory.models import Allocation as AllocationRow
from inventory.models.choices import Evidence, Mode
from inventory.queries import rows as querysets
from inventory.queries.pod_usage import Note, with_pod_usage
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import tri_state
from resources.moments import AT, TO, Columns
from resources.search import Search


class Allocation(Shape):
    """An allocation of one container on one card, or on an unidentified card of its node (card_id null)."""

    id: int
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    node: Annotated[str, fact(of="node_name", order=True, title=_("Location"))]
    card_id: int | None
    card: Annotated[str | None, fact("Key of the card: UUID, else index; null: unidentified.", of="card_key")]
    namespace: Annotated[str, fact(order=True, title=_("Namespace"))]
    pod: Annotated[str, fact(order=True, title=_("Pod"))]
    container: Annotated[str, fact(title=_("Container"))]
    owner_kind: str | None
    owner_name: Annotated[str | None, fact(order=("owner", "owner_name"), title=_("Owner"))]
    resource: Annotated[str, fact(title=_("Resource"))]
    stack: Annotated[str, fact(title=_("Stack"))]
    mode: Annotated[
        str, fact("Allocation mode of the card: whole, memory, shares or parts.", title=_("Allocation mode"))
    ]
    quantity: Annotated[int, fact("In units of the resource.", order=True, title=_("Quantity"), number=True)]
    memory_bytes: Annotated[
        int | None,
        fact("In bytes; null: unknown or not metered.", order=True, title=_("Memory"), number=True, term="allocated"),
    ]
    core_percent: Annotated[int | None, fact(title=_("Cores, %"), number=True)]
    evidence: Annotated[str, fact("Source that identifies the card.", title=_("Identified by"), term="evidence")]
    terminating: Annotated[bool, fact("The pod is being deleted and is still allocated.")]
    started_at: Annotated[datetime, fact(order=True, title=_("Since"))]
    ended_at: Annotated[datetime | None, fact(order=True, title=_("Ended"))]
    memory_used_bytes: Annotated[
        int | None,
        fact(
            "Used memory in bytes, if it certainly belongs to this allocation; null: see usage_note.",
            of="used.memory_used_bytes",
            title=_("Used"),
            term="used",
            number=True,
        ),
    ]
    usage_note: Annotated[
        str | None,
        fact(f"Reason why memory_used_bytes is null: {', '.join(Note)}.", of="used.note"),
    ]
    measured_at: Annotated[datetime | None, fact("Time of the measurement.", of="used.measured_at")]
    usage_source: Annotated[str | None, fact("Exporter of the measurement.", of="used.source")]


class AllocationFilter(StrictFilterSet):
    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("node_name", label="node name")
    # By way of the cards: history has an index by card, and none by this text.
    card = WordsFilter("card__key", label="card key: UUID, else index")
    card_id = df.NumberFilter("card_id", min_value=1, max_value=2**63 - 1, decimal_places=0, label="card ID")
    placed = ChoiceFilter(("true", "false"), method="on_placed", label="whether the card is identified")
    namespace = WordsFilter("namespace", label="namespace")
    pod = WordsFilter("pod", label="pod name")
    container = WordsFilter("container", label="container name")
    owner = WordsFilter("owner_name", label="owner name")
    resource = WordsFilter("resource", label="resource name")
    stack = WordsFilter("stack", label="stack")
    model = WordsFilter("card__model", label="card model")
    mode = ChoiceFilter(Mode.values, "mode", label="allocation mode of the card")
    evidence = ChoiceFilter(Evidence.values, "evidence", label="source that identifies the card")
    terminating = ChoiceFilter(
        ("true", "false"), method="on_terminating", label="the pod is being deleted and is still allocated"
    )
    ended = YesNoFilter("ended_at", method=tri_state, default="false", label="history")
    q = SearchFilter(method="search", label="free search: node, pod, namespace, owner, UUID")

    orders: ClassVar[dict[str, str]] = orders_of(Allocation)
    computed: ClassVar[dict[str, Any]] = {"known_model": NullIf(F("card__model"), Value(""))}
    default_order = ("-started_at",)
    period = Columns("started_at", "ended_at")
    whether_over = "ended"
    _search: Search | None = None

    class Meta(StrictFilterSet.Meta):
        model = AllocationRow
        fields: ClassVar[list[str]] = []

    def in_time(self, rows: QuerySet[AllocationRow]) -> Any:
        """What is used is known of now alone: rows of a time that is over say so."""
        span = self.span
        found = super().in_time(rows)
        over = span is not None and bool(self.form.cleaned_data.get(AT) or self.form.cleaned_data.get(TO))
        return found.annotate(past=Value(True)) if over else found

    def search(self, rows: QuerySet[AllocationRow], _: str, words: list[str]) -> QuerySet[AllocationRow]:
        """The last of the filters: `ordered` needs what the others have left."""
        if not words:
            return rows
        self._before, self._search = rows, Search(words)
        return self._search.indexed(rows)

    def ordered(self, first: Sequence[str] = ()) -> Any:
        found = self.qs
        if self._search is not None:
            found = self._search.listed(self._before)
        return self.with_computed(found, first).order_by(*self.order_by(first))

    def on_placed(self, rows: QuerySet[AllocationRow], _: str, values: list[str]) -> QuerySet[AllocationRow]:
        return rows if len(set(values)) > 1 else rows.filter(card__isnull=values[0] == "false")

    def on_terminating(self, rows: QuerySet[AllocationRow], _: str, values: list[str]) -> QuerySet[AllocationRow]:
        return rows.filter(terminating__in=[value == "true" for value in values])


ALLOCATIONS = Resource(
    "allocations",
    Allocation,
    AllocationFilter,
    querysets.allocations_ever,
    join=with_pod_usage,
    csv=(
        "cluster",
        "node",
        "card",
        "namespace",
        "pod",
        "container",
        "owner_kind",
        "owner_name",
        "resource",
        "stack",
        "mode",
        "quantity",
        "memory_bytes",
        "core_percent",
        "memory_used_bytes",
        "usage_note",
        "measured_at",
        "usage_source",
        "evidence",
        "terminating",
        "started_at",
        "ended_at",
    ),
    table=("pod", "namespace", "memory_bytes", "memory_used_bytes", "node", "resource", "started_at"),
    groups={"namespace": ("cluster_id", "namespace"), "node": ("cluster_id", "node_name"), "model": ("known_model",)},
)
