"""The requests of the benchmark `pages`, in the process that answers them. Prints one JSON object per address.

Addresses are found by their names; one that is not there is said, and fails the benchmark.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

ROUNDS = 15
REST = ("summary", "clusters", "nodes", "cards", "allocations", "pods", "findings")


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    from django.conf import settings
    from django.core.checks import run_checks
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    # What it costs to make an answer; how many share one is the benchmark `shared`.
    settings.SHARED_LOOK_S = 0
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("CHECKPOINT")  # else what was filled a moment ago is written while the first pages are measured
    # As `serve` does before it serves: what is loaded stays, and is not looked through again and again.
    run_checks()
    gc.collect()
    gc.freeze()
    client = Client()
    client.force_login(_viewer())
    for sort, name, address in _addresses():
        _heard()
        answer = client.get(address)
        with CaptureQueriesContext(connection) as captured:
            client.get(address)
            queries = len(captured)
        seconds = [_timed(client, address) for _ in range(ROUNDS)]
        shown = {"sort": sort, "name": name, "status": answer.status_code, "bytes": len(answer.content)}
        print(json.dumps({**shown, "queries": queries, "median_ms": statistics.median(seconds) * 1000}), flush=True)


def _timed(client: Any, address: str) -> float:
    started = time.perf_counter()
    client.get(address).content  # noqa: B018 - a streamed answer is made when it is read
    return time.perf_counter() - started


def _heard() -> None:
    """As while watchers run, which do not while this measures: of a cluster without word nothing is free, and pages are short."""
    from django.utils import timezone

    from inventory.models import Watch

    now = timezone.now()
    Watch.objects.filter(last_event_at__isnull=False).update(
        holder="bench", expires_at=now + timedelta(hours=1), last_event_at=now
    )


def _viewer() -> Any:
    from django.contrib.auth.models import Group, User

    user, _ = User.objects.get_or_create(username="bench")
    user.groups.add(Group.objects.get(name="viewer"))
    return user


def _addresses() -> Iterator[tuple[str, str, str]]:
    """(sort, name, address)"""
    from django.urls import reverse

    from inventory.models import Card, Cluster, NodeTotals

    cluster = Cluster.objects.get()
    node = NodeTotals.objects.order_by("-holders_count")[0].node_name
    card = Card.objects.filter(node_name=node).order_by("-holders_count")[0]
    for name in ("overview", "nodes", "cards", "allocations", "waiting", "findings", "clusters"):
        yield "page", name, reverse(name)
    yield "page", "map", reverse("map")
    pool, keys = _pools(cluster.name)
    yield "page", "overview, one pool", reverse("overview") + f"?{urlencode({'pool': pool})}"
    yield "page", "overview, pools opened", reverse("overview") + f"?{urlencode({'open': keys}, doseq=True)}"
    yield "page", "overview, nodes with room", reverse("overview") + "?show=room"
    yield "page", "map by proof", reverse("map") + "?by=proof"
    yield "page", "map of a pool", reverse("map") + f"?{urlencode({'pool': pool})}"
    yield "finder", "fit", reverse("fit") + "?cards=2&memory=20"
    yield "finder", "fit by REST", "/api/v1/fit?cards=2&memory=20"
    yield "page", "namespaces", reverse("namespaces")
    yield "page", "chargeback", reverse("chargeback")
    yield "page", "history", reverse("history")
    yield "page", "nodes, searched and sorted", reverse("nodes") + f"?q={node[:5]}"
    yield "page", "node", reverse("node", args=[cluster.name, node])
    yield "page", "card", reverse("card", args=[card.pk])
    yield "page", "cluster", reverse("cluster", args=[cluster.name])
    yield "page", "search", reverse("search") + "?q=train"
    for name in REST:
        yield "rest", name, f"/api/v1/{name}"
    yield "rest", "node", f"/api/v1/nodes/{cluster.name}/{node}"
    yield "rest", "card", f"/api/v1/cards/{card.pk}"
    for name in ("nodes", "cards", "allocations", "pods"):
        yield "rest", f"{name} of a node", f"/api/v1/{name}?node={node}"
    yield "metrics", "metrics", "/metrics"


def _pools(cluster: str) -> tuple[str, list[str]]:
    """Name of the largest pool, and the keys of all, as an address names those that are open."""
    from inventory.totals import totals_by_pool

    found = sorted(totals_by_pool(), key=lambda one: -(one.totals.cards_total.value or 0))
    return found[0].pool, [f"{cluster}/{one.pool}" for one in found]


if __name__ == "__main__":
    main()
