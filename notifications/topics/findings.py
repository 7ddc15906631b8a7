"""Findings that are there now, by cause and cluster; those that are silenced are counted, and not sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Max, Min
from django.urls import reverse

from inventory.catalogue import CATALOGUE
from inventory.models import Cluster, Finding
from inventory.queries import rows as querysets
from inventory.stated import stated
from notifications.matching import silenced
from notifications.topics.topic import LONGEST_TEXT, Topic, key_of

FINDING, CLUSTER = "finding", "cluster"
#: Findings that say that a cluster does not report: a kind of topics of their own.
OF_CLUSTERS = ("never-reached", "cluster-not-reporting", "cluster-not-watched")


def findings(severities: Sequence[str], codes: Sequence[str], at: datetime) -> Iterator[Topic]:
    """codes: only of these; none: of all."""
    rows = querysets.findings_now().filter(severity__in=severities).exclude(code__in=OF_CLUSTERS)
    yield from _topics(FINDING, rows.filter(code__in=codes) if codes else rows, at)


def clusters(severities: Sequence[str], _codes: Sequence[str], at: datetime) -> Iterator[Topic]:
    yield from _topics(CLUSTER, querysets.findings_now().filter(severity__in=severities, code__in=OF_CLUSTERS), at)


def _topics(about: str, rows: Any, at: datetime) -> Iterator[Topic]:
    """Four queries; the groups are counted by the database."""
    loud = ~silenced(at)
    groups = list(
        rows.order_by()
        .values("cluster_id", "code", "severity", "cause")
        .annotate(
            count=Count("id"),
            loud=Count("id", filter=loud),
            newest=Max("id", filter=loud),
            last=Max("id"),
            since=Min("first_seen_at"),
        )
    )
    names = dict(Cluster.objects.values_list("pk", "name"))
    examples = Finding.objects.in_bulk([one["last"] for one in groups])
    for one in groups:
        example = examples.get(one["last"])
        if example is not None:  # it has ended a moment ago otherwise
            yield _topic(about, one, example, names.get(one["cluster_id"], ""))


def _topic(about: str, group: dict[str, Any], example: Finding, cluster: str) -> Topic:
    """A single finding is sent with its own text, several with what they have in common."""
    entry = CATALOGUE.get(group["code"])
    text, form = entry.title if entry else group["code"], None
    if group["count"] == 1:
        text, form = example.text, example.wording
    elif group["cause"]:
        text, form = group["cause"], stated(example.wording)
    elif entry:
        form = {"template": entry.title, "arguments": {}}
    place = "/".join(part for part in (cluster, example.node_name or example.pod) if part)
    query = {"cluster": cluster, "code": group["code"]} | ({"cause": group["cause"]} if group["cause"] else {})
    return Topic(
        key=key_of(about, group["cluster_id"], group["code"], group["severity"], group["cause"]),
        about=about,
        code=group["code"],
        severity=group["severity"],
        text=text[:LONGEST_TEXT],
        wording=form,
        count=group["count"],
        loud=group["loud"],
        newest=group["newest"] or 0,
        since=group["since"].isoformat(),
        places=(place,) if group["count"] == 1 else (),
        cluster=cluster,
        link=f"{reverse('findings')}?{urlencode(query)}",
    )
