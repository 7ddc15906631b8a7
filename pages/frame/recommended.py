"""Cards that are recommended to be taken out of service, for the navigation and the overview alike: one query a request."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Min

from quarantine.models import Case, CaseState
from runtime.cached import once


class Recommended(NamedTuple):
    """Of one cluster and suite. node: the first of `nodes`, by name. since: of the oldest one."""

    cluster_id: int
    suite: str
    number: int
    nodes: int
    node: str
    since: datetime


def recommended() -> list[Recommended]:
    """By suite."""
    return once("recommended", _recommended)


def _recommended() -> list[Recommended]:
    rows = Case.objects.filter(state=CaseState.RECOMMENDED).order_by("suite", "cluster_id")
    told = rows.values_list("cluster_id", "suite").annotate(
        Count("pk"), Count("node_name", distinct=True), Min("node_name"), Min("created_at")
    )
    return [Recommended(*one) for one in told]
