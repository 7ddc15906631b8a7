"""Silences: findings that are not told until an end, by whom and why."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import Q, prefetch_related_objects
from django.utils.translation import gettext_lazy as _

from notifications.models import Silence
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains
from runtime.clock import database_now


class SilenceShape(Shape):
    """Findings that no message reports until an end: those that match all fields that are not null."""

    id: int
    finding: Annotated[int | None, fact("ID of the one finding that was acknowledged; null: a silence.")]
    cluster: Annotated[
        str | None, fact("null: all clusters.", by=lambda one: one.name if one else None, title=_("Cluster"))
    ]
    code: Annotated[str | None, fact("Code of findings.", title=_("Silenced"))]
    cause: Annotated[str | None, fact("As in findings.")]
    node: Annotated[str | None, fact(of="node_name", title=_("Location"))]
    card: Annotated[str | None, fact("Key of the card.", of="card_key")]
    pod: Annotated[str | None, fact("namespace/name")]
    reason: Annotated[str, fact(title=_("Reason"))]
    created_by: Annotated[str | None, fact(of="created_by_name", order=True, title=_("By"))]
    created_at: Annotated[datetime, fact(order=True, title=_("Since"))]
    until: Annotated[datetime, fact("When it ends automatically.", order=True, title=_("Until"))]
    ended_at: Annotated[
        datetime | None,
        fact("When it was ended earlier: by a user, or with its finding.", order=True, title=_("Ended")),
    ]
    ended_by: Annotated[str | None, fact("User who ended it.", of="ended_by_name", title=_("Ended by"))]


class OfCluster(ClusterNames):
    """Silences of findings of these clusters: those of all clusters are too."""

    def filter(self, qs: Any, value: Any) -> Any:
        return qs if value is None else qs.filter(Q(cluster=None) | Q(cluster_id__in=value))


class SilenceFilter(StrictFilterSet):
    cluster = OfCluster(label="cluster name; silences of all clusters match too")
    code = WordsFilter("code", label="finding code")
    node = WordsFilter("node_name", label="node name")
    card = WordsFilter("card_key", label="card key: UUID, else index")
    ended = YesNoFilter("until", method="on_ended", default="false", label="false: in force; true: over")
    q = SearchFilter(
        method=contains("reason", "code", "node_name", "created_by_name"),
        label="free search: reason, code, node, user",
    )

    orders: ClassVar[dict[str, str]] = orders_of(SilenceShape)
    default_order = ("until",)

    class Meta(StrictFilterSet.Meta):
        model = Silence
        fields: ClassVar[list[str]] = []

    def on_ended(self, rows: Any, _column: str, value: str) -> Any:
        if value == "any":
            return rows
        in_force = Q(ended_at=None, until__gt=database_now())
        return rows.filter(in_force) if value == "false" else rows.exclude(in_force)


def silences() -> Any:
    return Silence.objects.select_related("cluster")


def _with_clusters(rows: list[Any]) -> list[Any]:
    prefetch_related_objects(rows, "cluster")
    return rows


SILENCES = Resource(
    "silences",
    SilenceShape,
    SilenceFilter,
    silences,
    csv=(
        *("cluster", "code", "cause", "node", "card", "pod", "reason", "created_by", "created_at"),
        *("until", "ended_at", "ended_by"),
    ),
    table=("code", "node", "until", "created_by", "reason"),
    join=_with_clusters,
)
