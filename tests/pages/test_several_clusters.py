"""Two clusters with the same names in them: each row says of which it is, and no two links of one name lead to different places."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from inventory.models import Card, Cluster, Pod
from tests.factories import make_cluster, make_finding, make_fleet
from tests.pages.reading import get
from tests.pages.validations.rows import make_run

pytestmark = pytest.mark.django_db
CLUSTERS = ("harbour", "meadow")
PAGES = (
    *(
        "/",
        "/?open=gpushare+·+Tesla-T4",
        "/nodes",
        "/cards",
        "/allocations",
        "/allocations/pending",
        "/findings",
        "/validations",
        "/allocations/idle",
    ),
    *("/namespaces", "/clusters", "/map", "/search?q=gpu-00000", "/fit?cards=1&all=1", "/fit?cards=99"),
)


def fill(cluster: Cluster) -> None:
    make_fleet(cluster, nodes=2, cards=2, pending=2)
    make_finding(cluster, "count-zero", "error", "gpu-00000", "0")
    make_finding(cluster, "index-out-of-range", "warning", "gpu-00001")
    for card in Card.objects.filter(cluster=cluster):
        make_run(cluster, node=card.node_name, card=card, verdict="failed")


@pytest.fixture
def two() -> list[Cluster]:
    made = [make_cluster(name) for name in CLUSTERS]
    for cluster in made:
        fill(cluster)
    return made


class _Links(HTMLParser):
    """(name, address) of each link, as a screen reader says it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._open: tuple[str, str] | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a" and given.get("href") and "aria-hidden" not in given:
            self._open, self._text = (given.get("aria-label") or "", str(given["href"])), ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._open is not None:
            label, address = self._open
            self.found.append((" ".join((label or self._text).split()), address))
            self._open = None


@pytest.mark.parametrize("path", PAGES)
def test_links_of_one_name_lead_to_one_place(viewer: Client, two: list[Cluster], path: str) -> None:
    links = _Links()
    html = get(viewer, path).html
    links.feed(html[html.index("<main") : html.index("</main>")])
    places: dict[str, set[str]] = {}
    for name, address in links.found:
        places.setdefault(name, set()).add(address)
    assert len(places) > 4
    assert {name: sorted(found) for name, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    "path", ["/nodes", "/cards", "/allocations", "/allocations/pending", "/findings?group=none", "/validations"]
)
def test_each_row_says_of_which_cluster_it_is(viewer: Client, two: list[Cluster], path: str) -> None:
    rows = get(viewer, path).rows
    assert len(rows) >= 4
    assert all(any(name in " ".join(row) for name in CLUSTERS) for row in rows)


def test_where_there_is_one_cluster_nobody_has_to_read_its_name(viewer: Client) -> None:
    only = make_cluster("harbour")
    fill(only)
    assert Pod.objects.filter(pending=True).exists()
    for path in ("/allocations", "/findings", "/validations", "/fit?cards=99"):
        rows: Any = get(viewer, path)
        assert not any("harbour" in " ".join(row) for row in rows.rows), path
