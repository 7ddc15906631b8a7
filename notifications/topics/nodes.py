"""Nodes and cards out of service, whoever took them out; cards to take out; automation that stopped itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from urllib.parse import urlencode

from django.db.models import Count, Max, Min
from django.urls import reverse

from inventory.models.choices import Severity
from notifications.topics.topic import Topic, key_of, said
from quarantine.manage import switch
from quarantine.models import Case, CaseState
from quarantine.reading import MarkedNode, marked_nodes
from runtime.scope import current
from wording.said import sentence

OUT_OF_SERVICE = "out-of-service"
#: The tool of a mark that names none.
UNKNOWN = sentence("an unknown tool")


def nodes(severities: Sequence[str], _codes: Sequence[str], _at: datetime) -> Iterator[Topic]:
    """By cluster and tool. Some six queries."""
    if Severity.WARNING in severities:
        yield from _out()
        yield from _recommended()
    switched = switch()
    if Severity.ERROR in severities and switched.tripped_at is not None and current().everything:
        yield Topic(
            key=key_of(OUT_OF_SERVICE, "tripped"),
            about=OUT_OF_SERVICE,
            code="quarantine-tripped",
            severity=Severity.ERROR.value,
            since=switched.tripped_at.isoformat(),
            link=reverse("out-of-service"),
            **said(sentence("Policies take no more nodes out of service: {why}", why=switched.said_tripped)),
        )


def _out() -> Iterator[Topic]:
    groups: dict[tuple[str, str], list[tuple[str, MarkedNode]]] = {}
    for node in marked_nodes():
        blocking = [mark for mark in node.marks if mark.blocks]
        if blocking:
            groups.setdefault((node.cluster.name, blocking[0].tool), []).append((blocking[0].since, node))
    for (cluster, tool), found in groups.items():
        since = sorted(one for one, _ in found if one)
        text = sentence(
            "GPU nodes out of service in cluster {cluster}, by {tool}", cluster=cluster, tool=tool or UNKNOWN
        )
        yield Topic(
            key=key_of(OUT_OF_SERVICE, cluster, tool),
            about=OUT_OF_SERVICE,
            code="node-out-of-service",
            severity=Severity.WARNING.value,
            count=len(found),
            loud=len(found),
            newest=max((_micros(one) for one in since), default=0) + len(found),
            since=since[0] if since and _micros(since[0]) else "",
            places=(f"{cluster}/{found[0][1].node.name}",) if len(found) == 1 else (),
            cluster=cluster,
            link=f"{reverse('out-of-service')}?{urlencode({'cluster': cluster})}",
            **said(text),
        )


def _recommended() -> Iterator[Topic]:
    rows = (
        Case.objects.filter(state=CaseState.RECOMMENDED)
        .order_by()
        .values("cluster__name")
        .annotate(count=Count("pk"), newest=Max("created_at"), since=Min("created_at"), first=Min("node_name"))
    )
    for one in rows:
        cluster = one["cluster__name"]
        yield Topic(
            key=key_of(OUT_OF_SERVICE, "recommended", cluster),
            about=OUT_OF_SERVICE,
            code="quarantine-recommended",
            severity=Severity.WARNING.value,
            count=one["count"],
            loud=one["count"],
            newest=int(one["newest"].timestamp() * 1_000_000),
            since=one["since"].isoformat(),
            places=(f"{cluster}/{one['first']}",) if one["count"] == 1 else (),
            cluster=cluster,
            link=f"{reverse('out-of-service')}?{urlencode({'cluster': cluster})}",
            **said(sentence("Failed cards to take out of service in cluster {cluster}", cluster=cluster)),
        )


def _micros(moment: str) -> int:
    """Of a moment that a mark names; 0 for what is none, or has no time zone."""
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return 0
    return int(found.timestamp() * 1_000_000) if found.tzinfo is not None else 0
