"""Findings: what is wrong, now and before."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.utils.translation import gettext_lazy as _

from inventory.models import Finding as FindingRow
from inventory.models.choices import Severity
from inventory.queries import rows as querysets
from resources.declared import WORDING, Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains, tri_state
from resources.moments import Columns


class Finding(Shape):
    """A finding."""

    id: int
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    code: Annotated[str, fact(order=True, title=_("Code"))]
    severity: Annotated[str, fact(order=("severity", "severity_rank"), title=_("Finding"), term="severity")]
    node: Annotated[str | None, fact(of="node_name", order=True, title=_("Location"))]
    card: Annotated[str | None, fact("Key of the card.", of="card_key")]
    pod: Annotated[str | None, fact("namespace/name", title=_("Pod"))]
    text: Annotated[str, fact(title=_("Description"))]
    wording: Annotated[dict[str, Any] | None, fact(WORDING)]
    first_seen_at: Annotated[datetime, fact(order=True, title=_("Since"))]
    ended_at: Annotated[datetime | None, fact(order=True, title=_("Ended"))]


class FindingFilter(StrictFilterSet):
    cluster = ClusterNames(label="cluster name")
    code = WordsFilter("code", label="finding code")
    severity = ChoiceFilter(Severity.values, "severity", label="severity")
    node = WordsFilter("node_name", label="node name")
    card = WordsFilter("card_key", label="card key: UUID, else index")
    pod = WordsFilter("pod", label="pod as namespace/name")
    ended = YesNoFilter("ended_at", method=tri_state, default="false", label="history")
    q = SearchFilter(method=contains("node_name", "pod", "code", "text"), label="free search: node, pod, code, text")

    orders: ClassVar[dict[str, str]] = orders_of(Finding)
    default_order = ("severity", "-first_seen_at")
    period = Columns("first_seen_at", "ended_at")
    whether_over = "ended"

    class Meta(StrictFilterSet.Meta):
        model = FindingRow
        fields: ClassVar[list[str]] = []


FINDINGS = Resource(
    "findings",
    Finding,
    FindingFilter,
    querysets.findings_ever,
    csv=("cluster", "severity", "code", "node", "card", "pod", "text", "first_seen_at", "ended_at"),
    table=("severity", "node", "text", "first_seen_at"),
)
