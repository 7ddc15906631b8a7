"""A card, a node or a part of the heat map in a few lines, for the pointer."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.models import Card, Cluster, NodeTotals
from tests.cast import signed_in
from tests.factories import make_cluster, make_node
from tests.factories.usage import measure
from tests.pages.reading import Page, get
from tests.pages.test_heat_map import fill
from tests.scopes.world import scoped_user


def brief(client: Client, of: str, status: int = 200, **more: str) -> Page:
    query = "".join(f"&{name}={quote(value)}" for name, value in more.items())
    return get(client, f"/map/brief?of={quote(of)}{query}", status)


def test_a_card_says_what_it_is_how_full_how_well_and_whose(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.4,))
    card = Card.objects.get(index=1)
    measure(card)
    page = brief(viewer, f"/cards/{card.pk}")
    assert page.text.startswith("a · card 1 Tesla-T4 Allocated 6 GiB of 15 GiB Used 9 GiB Health · unknown Pods ")
    assert "<html" not in page.html


def test_a_node_says_the_same_of_itself(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.4,))
    text = brief(viewer, "/nodes/prod/a").text
    assert text.startswith("a 2 × Tesla-T4 Status ✓ ready Allocated 12 GiB of 30 GiB Used not collected")


def test_a_range_of_nodes_is_added_up(viewer: Client, cluster: Cluster) -> None:
    for name in ("a", "b", "c"):
        make_node(cluster, name, "gpushare", 2, loads=(0.4,))
    pool = quote(NodeTotals.objects.all()[0].pool)
    text = brief(viewer, f"/map?cluster=prod&pool={pool}&from=a&to=b").text
    assert text == "a – b 2 nodes Cards 4 Allocated 24 GiB of 60 GiB"
    assert viewer.get(f"/map/brief?of={quote('/map?cluster=prod&pool=nope')}").status_code == 204


def test_a_place_of_a_picture_is_a_card_or_a_node(viewer: Client, cluster: Cluster) -> None:
    fill(cluster, 100, pools=1)
    of = f"/map?cluster=prod&pool={quote('nvidia · card 0')}&by=health"
    # The second node begins behind eight cards and what keeps nodes apart.
    assert brief(viewer, of, at="85,0", per="card").text.startswith("n-00001 · card 0")
    assert brief(viewer, of, at="10,0", per="node").text.startswith("n-00001")
    nothing: Any = viewer.get(f"/map/brief?of={quote(of)}&at=82,0&per=card")
    assert nothing.status_code == 204


def test_however_large_the_pool_the_queries_are_the_same(viewer: Client, cluster: Cluster) -> None:
    fill(cluster, 2000, pools=1)
    of = quote(f"/map?cluster=prod&pool={quote('nvidia · card 0')}")
    with CaptureQueriesContext(connection) as queries:
        # Of so many no card is read, whatever is asked.
        assert viewer.get(f"/map/brief?of={of}&at=10,10&per=card").status_code == 200
    assert len(queries) <= 16
    assert not [
        one for one in queries.captured_queries if 'FROM "inventory_card"' in one["sql"] and "LIMIT" not in one["sql"]
    ]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 400), ("?of=", 400), ("?of=/clusters/prod", 400), ("?of=%00", 400), ("?of=/map%3Ffoo=1", 400),
        ("?of=https://x.example/nodes/prod/a", 404), ("?of=/nodes/prod/nope", 404), ("?of=/cards/99999999", 404),
        ("?of=/cards/999999999999999999999999", 404), ("?of=/map&at=x", 400), ("?of=/map&at=1,-2", 400), ("?of=/map&at=1,2,3", 400),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(viewer: Client, cluster: Cluster, query: str, status: int) -> None:
    get(viewer, f"/map/brief{query}", status)


def test_nothing_is_told_of_what_is_out_of_scope(cluster: Cluster) -> None:
    make_node(make_cluster("secret"), "theirs", "gpushare", 1)
    nora = signed_in(scoped_user("nora", "prod"))
    brief(nora, "/nodes/secret/theirs", 404)
    brief(nora, f"/cards/{Card.objects.get().pk}", 404)
    brief(nora, "/map?cluster=secret", 400)
