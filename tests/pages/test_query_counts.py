"""No page asks the database more when there are more rows."""

from __future__ import annotations

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.models import Card
from tests.factories import make_claim, make_claiming_pod, make_cluster, make_finding, make_fleet

PAGES = (
    "/",
    "/?open=gpushare+·+Tesla-T4",
    "/map",
    "/map?by=used",
    "/nodes/compare?a=prod/gpu-00000&b=prod/gpu-00001",
    "/cards/compare?a={card}",
    "/nodes",
    "/nodes?q=gpu&ordering=-memory_free_bytes",
    "/cards",
    "/cards?min_free_bytes=1Gi",
    "/allocations",
    "/allocations/pending",
    "/allocations/idle",
    "/namespaces",
    "/namespaces/chargeback",
    "/fit?cards=2&memory=8",
    "/fit?all=1",
    "/fit?cards=4&memory=60",
    "/fit?cards=2&memory=8&cpu=8&host_memory=64",
    "/history?cluster=prod&window=90d",
    "/allocations?ended=any",
    "/findings",
    "/components",
    "/components/list",
    "/components/list?state=missing&q=gpu",
    "/clusters",
    "/clusters/prod",
    "/nodes/prod/gpu-00000",
    "/search?q=train",
    "/cards/{card}",
    "/pods/prod/team-a/pending-0",
    "/allocations?at=1h",
    "/cards?from=24h",
    "/findings?at=2020-01-01T02:00",
)
#: A page that needs more has to say why.
MOST = 34


def _count(client: Client, path: str) -> int:
    client.get(path)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


def _counts(client: Client, nodes: int) -> dict[str, int]:
    cluster = make_cluster("prod")
    make_fleet(cluster, nodes=nodes, cards=4, pending=nodes)
    make_finding(cluster, "units-mixed", "warning")
    for number in range(nodes // 5 + 1):
        make_claim(cluster, f"claim-{number}")
        make_claiming_pod(cluster, f"claiming-{number}", claim=f"claim-{number}")
    card = Card.objects.order_by("pk")[0].pk
    made = {path: _count(client, path.format(card=card)) for path in PAGES}
    cluster.delete()
    return made


def test_the_number_of_queries_does_not_grow_with_the_cluster(viewer: Client) -> None:
    small = _counts(viewer, 7)
    large = _counts(viewer, 300)
    # Fewer is well: a page that is full needs no second look for rows without a value.
    assert {path: count for path, count in large.items() if count > small[path]} == {}
    assert max(small.values()) <= MOST
