"""Names come from whoever may create a pod: whatever they are, they are text on a page and nothing else."""

from __future__ import annotations

import pytest
from django.test import Client

from inventory.models import Allocation, Card, Cluster, Finding, Node, NodeTotals, Pod
from inventory.models.cluster import Watch
from tests.factories import make_node, make_pending_pod, make_unreadable
from tests.pages.reading import get
from tests.sweeps import first_and_rest

SCRIPT = "<script>alert(1)</script>"
QUOTES = "\"' onmouseover='x' \""
TURNED = "abc\u202egnp.exe\u2066"
LONG = "x" * 253
BRACES = "{{ 7|add:7 }}{% url 'nodes' %}%(n)d"
SLASHES = "../../etc/passwd?x=1#y&z"
NAMES = (SCRIPT, QUOTES, TURNED, LONG, BRACES, SLASHES, "☃" * 60, " ", "%00%0a")
PAGES = (
    "/",
    "/nodes",
    "/cards",
    "/allocations",
    "/allocations/pending",
    "/allocations/idle",
    "/namespaces",
    "/namespaces/chargeback",
    "/fit?all=1",
    "/map",
    "/map?by=health",
    "/history?cluster=prod",
    "/findings",
    "/clusters",
    "/clusters/prod",
    "/search?q=a",
    "/palette?q=a",
    "/nodes?columns=name,pool,model,driver_version,address,zone",
)


@pytest.fixture
def strange(request: pytest.FixtureRequest, cluster: Cluster) -> str:
    name: str = request.param
    make_node(cluster, "a", "gpushare", 2)
    make_pending_pod(cluster, "w")
    make_unreadable(cluster, name)
    Pod.objects.filter(name="w").update(
        name=name,
        namespace=name,
        owner_name=name,
        pending_reason=name[:128],
        pending_message=name,
        requests={name: name},
    )
    Allocation.objects.update(pod=name, namespace=name, owner_name=name, container=name, node_name=name, resource=name)
    Card.objects.update(
        node_name=name, model=name[:128], model_source=name[:250], memory_source=name[:250], health=name[:16]
    )
    NodeTotals.objects.update(
        node_name=name,
        pool=name,
        model=name[:128],
        unit=name[:8],
        unit_source=name,
        stacks=[name],
        worst_severity=name[:8],
    )
    Node.objects.update(
        name=name, ready_reason=name, ready=False, os_image=name, driver_version=name[:64], zone=name[:128]
    )
    Finding.objects.create(
        cluster=cluster,
        code=name[:64],
        severity=name[:8],
        node_name=name,
        card_key=name[:128],
        pod=f"{name}/{name}"[:512],
        text=name,
        first_seen_at=Card.objects.all()[0].changed_at,
    )
    Watch.objects.filter(kind="pods").update(reason=name, state="backing-off")
    Cluster.objects.update(permissions=[{"verb": name, "allowed": name}, name, None], server=name)
    return name


@pytest.mark.parametrize("strange", first_and_rest(NAMES, 2), indirect=True, ids=range(len(NAMES)))
def test_a_strange_name_is_text_on_every_page(viewer: Client, strange: str) -> None:
    card = Card.objects.order_by("pk")[0]
    for path in (*PAGES, f"/cards/{card.pk}"):
        page = get(viewer, path)
        assert "<script>alert" not in page.html
        assert not [tag for name, tag in page.tags if any(key.startswith("on") for key in tag)]
        assert "14{%" not in page.html
        assert "/nodes//nodes" not in page.html


@pytest.mark.parametrize("strange", NAMES, indirect=True, ids=range(len(NAMES)))
def test_a_node_of_a_strange_name_has_its_page(viewer: Client, strange: str) -> None:
    links = [
        tag["href"] for tag in get(viewer, "/nodes").tags_of("a") if tag.get("href", "").startswith("/nodes/prod/")
    ]
    if strange == SLASHES:
        return  # browsers and proxies shorten such an address; the row is there, and the cards have pages
    assert strange.strip() in get(viewer, links[0]).text or not strange.strip()
