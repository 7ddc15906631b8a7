"""No query per row: every endpoint asks the database as often at 300 nodes as at 3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.models import Allocation, Card, Cluster, Finding, Node, NodeTotals, Pod
from tests.factories import make_cluster, make_fleet

#: Endpoint → queries. Two of them find the token and the role of its user; one, where
#: something may be free, asks which clusters are believed.
EXPECTED = {
    "summary": 11,
    "clusters": 11,
    "clusters/prod": 11,
    "nodes": 7,
    "nodes/prod/gpu-00000": 15,  # two of silences
    "cards": 8,
    "cards?q=train": 8,
    "allocations": 6,
    "allocations?ended=any": 6,
    "pods?pending=true": 7,
    "pods?pending=false": 5,
    "findings": 7,  # two of silences
    "components": 5,
    "component-changes": 5,
    "node-changes": 5,
}


def counts(api: Client) -> dict[str, int]:
    made = {}
    for path in EXPECTED:
        with CaptureQueriesContext(connection) as queries:
            assert api.get(f"/api/v1/{path}").status_code == 200
        made[path] = len(queries)
    return made


@pytest.mark.django_db
def test_the_number_of_queries_does_not_grow_with_the_cluster(api: Client) -> None:
    api.get("/api/v1/cards")  # the token notes its use, once a minute
    cluster = make_cluster("prod")
    make_fleet(cluster, nodes=3)
    few = counts(api)
    _empty()
    make_fleet(cluster, nodes=300, pending=50)
    many = counts(api)
    assert many == few == EXPECTED


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/metrics", "/api/v1/nodes?format=csv"])
def test_scrape_and_csv_do_not_either(api: Client, path: str) -> None:
    api.get("/api/v1/cards")
    make_fleet(make_cluster("prod"), nodes=3)
    few = _queries(lambda: api.get(path))
    _empty()
    make_fleet(Cluster.objects.get(), nodes=300)
    assert _queries(lambda: api.get(path)) == few


def _queries(ask: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as queries:
        b"".join(ask())
    return len(queries)


def _empty() -> None:
    for model in (Allocation, Card, Finding, Node, NodeTotals, Pod):
        model._default_manager.all().delete()
