"""The requests of the benchmark `pages`, in the process that answers them. Prints one JSON object per address.

Addresses are found by their names; each request, timed or not, must be answered with what was asked for.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from bench.answers import HTML, JSON, REST_LIST, TEXT, Answers, Right, timed

ROUNDS = 15
REST = ("clusters", "nodes", "cards", "allocations", "pods", "findings")


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
    client.force_login(viewer())
    for sort, name, address, right in _addresses():
        _heard()
        answers = Answers()
        timed(client, address, right, answers)
        with CaptureQueriesContext(connection) as captured:
            size = len(client.get(address).getvalue())
            queries = len(captured)
        seconds = [timed(client, address, right, answers) for _ in range(ROUNDS)]
        shown = {"sort": sort, "name": name, "bytes": size, "queries": queries, "answers": answers.as_json()}
        print(json.dumps({**shown, "median_ms": statistics.median(seconds) * 1000}), flush=True)


def _heard() -> None:
    """As while watchers run, which do not while this measures: of a cluster without word nothing is free, and pages are short."""
    from django.utils import timezone

    from inventory.models import Watch

    now = timezone.now()
    Watch.objects.filter(last_event_at__isnull=False).update(
        holder="bench", expires_at=now + timedelta(hours=1), last_event_at=now
    )


def viewer() -> Any:
    from django.contrib.auth.models import Group, User

    user, _ = User.objects.get_or_create(username="bench")
    user.groups.add(Group.objects.get(name="viewer"))
    return user


def _addresses() -> Iterator[tuple[str, str, str, Right]]:
    """(sort, name, address, what a right answer has): a link to what is shown, which an empty page has not."""
    from django.urls import reverse

    from inventory.models import Card, Cluster, NodeTotals

    cluster = Cluster.objects.get()
    node = NodeTotals.objects.order_by("-allocations_count")[0].node_name
    card = Card.objects.filter(node_name=node).order_by("-allocations_count")[0]
    cards, nodes = Right(HTML, b'href="/cards/'), Right(HTML, f'href="/nodes/{cluster.name}/'.encode())
    pods, of_cluster = (
        Right(HTML, f"/pods/{cluster.name}/".encode()),
        Right(HTML, f"cluster={cluster.name}&amp;".encode()),
    )
    named = Right(HTML, cluster.name.encode())
    lists = {
        "nodes": nodes,
        "cards": cards,
        "allocations": nodes,
        "pending": pods,
        "findings": nodes,
    }
    for name, right in {**lists, "clusters": Right(HTML, f"/clusters/{cluster.name}".encode())}.items():
        yield "page", name, reverse(name), right
    yield "page", "map", reverse("map"), of_cluster
    pool, keys = _pools()
    yield "page", "overview", reverse("overview"), Right(HTML, b'class="capacity"')
    yield "page", "overview, one pool", reverse("overview") + f"?{urlencode({'open': pool})}", cards
    yield "page", "overview, pools opened", reverse("overview") + f"?{urlencode({'open': keys}, doseq=True)}", cards
    yield "page", "map by proof", reverse("map") + "?by=validation", of_cluster
    yield "page", "map of a pool", reverse("map") + f"?{urlencode({'pool': pool})}", cards
    yield "finder", "fit", reverse("fit") + "?cards=2&memory=20", nodes
    yield "finder", "fit by REST", "/api/v1/fit?cards=2&memory=20", Right(JSON, b'"fitting":[{')
    yield "page", "namespaces", reverse("namespaces"), Right(HTML, b"team-")
    yield "page", "chargeback", reverse("chargeback"), named
    yield "page", "history", reverse("history"), of_cluster
    yield "page", "nodes, searched and sorted", reverse("nodes") + f"?q={node[:5]}", nodes
    yield "page", "node", reverse("node", args=[cluster.name, node]), cards
    yield "page", "card", reverse("card", args=[card.pk]), nodes
    yield "page", "cluster", reverse("cluster", args=[cluster.name]), named
    yield "page", "set up a stack", reverse("cluster-prepare", args=[cluster.name]) + "?stack=nvidia", named
    yield "page", "search", reverse("search") + "?q=train", pods
    yield "rest", "summary", "/api/v1/summary", Right(JSON, b'"totals":{"nodes":')
    for name in REST:
        yield "rest", name, f"/api/v1/{name}", REST_LIST
    yield "rest", "node", f"/api/v1/nodes/{cluster.name}/{node}", Right(JSON, f'"name":"{node}"'.encode())
    yield "rest", "card", f"/api/v1/cards/{card.pk}", Right(JSON, f'"node":"{node}"'.encode())
    for name in ("nodes", "cards", "allocations", "pods"):
        yield "rest", f"{name} of a node", f"/api/v1/{name}?node={node}", REST_LIST
    yield "metrics", "metrics", "/metrics", Right(TEXT, b"\ngpudash_card_memory_bytes{")


def _pools() -> tuple[str, list[str]]:
    """The largest pool, and all, as an address names those that are open."""
    from inventory.queries.totals import totals_by_pool

    found = sorted(totals_by_pool(), key=lambda one: -(one.totals.cards_total.value or 0))
    return found[0].pool, [one.pool for one in found]


if __name__ == "__main__":
    main()
