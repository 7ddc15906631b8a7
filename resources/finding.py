"""Findings: what is wrong, now and before."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from inventory.models import Finding as FindingRow
from inventory.models.choices import Severity
from inventory.queries import rows as querysets
from notifications.matching import silenced, with_silences
from resources.declared import WORDING, Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains, tri_state
from resources.moments import Columns
from runtime.clock import database_now


class FindingSilence(Shape):
    """What silences a finding. acknowledged: this finding alone, until it ends."""

    id: int
    acknowledged: Annotated[
        bool, fact("Whether it is of this finding alone.", of="finding", by=lambda one: one is not None)
    ]
    until: datetime
    created_by: Annotated[str | None, fact(of="created_by_name")]
    reason: str


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
    cause: Annotated[
        str | None,
        fact(
            "What the finding states, in English: the same for all findings with the same cause. null: its code identifies it.",
            title=_("Cause"),
        ),
    ]
    wording: Annotated[dict[str, Any] | None, fact(WORDING)]
    first_seen_at: Annotated[datetime, fact("Time when gpudash first saw it.", order=True, title=_("Since"))]
    ended_at: Annotated[datetime | None, fact(order=True, title=_("Ended"))]
    silence: Annotated[FindingSilence | None, fact("What silences it now; null: nothing.")]


class FindingFilter(StrictFilterSet):
    cluster = ClusterNames(label="cluster name")
    code = WordsFilter("code", label="finding code")
    cause = WordsFilter("cause", label="cause, as in the field `cause`")
    severity = ChoiceFilter(Severity.values, "severity", label="severity")
    node = WordsFilter("node_name", label="node name")
    card = WordsFilter("card_key", label="card key: UUID, else index")
    pod = WordsFilter("pod", label="pod as namespace/name")
    ended = YesNoFilter("ended_at", method=tri_state, default="false", label="history")
    silenced = YesNoFilter("pk", method="on_silenced", label="silenced or acknowledged findings")
    q = SearchFilter(method=contains("node_name", "pod", "code", "text"), label="free search: node, pod, code, text")

    orders: ClassVar[dict[str, str]] = orders_of(Finding)
    default_order = ("severity", "-first_seen_at")
    period = Columns("first_seen_at", "ended_at")
    whether_over = "ended"

    class Meta(StrictFilterSet.Meta):
        model = FindingRow
        fields: ClassVar[list[str]] = []

    def on_silenced(self, rows: Any, _column: str, value: str) -> Any:
        """One query, where it is asked for."""
        if value == "any":
            return rows
        quiet = silenced(database_now()) & Q(ended_at=None)
        return rows.filter(quiet) if value == "true" else rows.exclude(quiet)


FINDINGS = Resource(
    "findings",
    Finding,
    FindingFilter,
    querysets.findings_ever,
    csv=("cluster", "severity", "code", "node", "card", "pod", "text", "cause", "first_seen_at", "ended_at"),
    table=("severity", "node", "text", "first_seen_at"),
    groups={"cause": (), "none": ()},
    join=with_silences,
)
