"""A refresh costs what changed: little to send, nothing to render where the mirror stands still, and nobody else's page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.charges import now
from inventory.models import Allocation, Card, Cluster
from pages.frame import live
from pages.frame.live import fingerprint_of
from runtime import cached as shared
from tests.factories import make_finding, make_node
from tests.pages.test_shared import sharing, touch

__all__ = ["sharing"]
SHARED = ("/", "/nodes", "/cards", "/allocations", "/findings")
OWN = ("/clusters", "/nodes/prod/a", "/namespaces")


def ask(client: Client, path: str, fingerprint: str) -> Any:
    return client.get(path, headers={"HX-Request": "true", "X-Fingerprint": fingerprint})


def opened(client: Client, path: str) -> str:
    """Fingerprint of a page that was just drawn, as its script finds it."""
    return client.get(path).content.decode().partition('data-fingerprint="')[2].partition('">')[0]


def head_bytes(response: Any) -> int:
    return sum(len(f"{name}: {value}\r\n") for name, value in response.headers.items())


@pytest.mark.parametrize("path", [*SHARED, *OWN])
@pytest.mark.parametrize("how", ["shared", "alone"])
def test_a_part_that_changed_is_sent_once(viewer: Client, cluster: Cluster, sharing: Any, path: str, how: str) -> None:
    if how == "alone":
        sharing.SHARED_LOOK_S = 0
    for name in "abcdefgh":
        make_node(cluster, name, "nvidia", 8)
    now.look()
    fingerprint = opened(viewer, path)
    Card.objects.filter(node_name="a").update(model="Changed-1", health="unhealthy")
    Allocation.objects.filter(node_name="b").delete()
    make_node(cluster, "i", "nvidia", 4)
    make_finding(cluster)
    now.look()
    touch()
    answer = ask(viewer, path, fingerprint)
    whole = ask(viewer, path, "").content.decode()
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert fingerprint_of(answer.content.decode()) == fingerprint_of(whole)
    assert "<html" not in whole
    assert ask(viewer, path, answer.headers["X-Fingerprint"]).status_code == 204


@pytest.mark.parametrize("path", SHARED)
def test_where_the_mirror_stands_still_nothing_is_rendered_or_asked(
    viewer: Client, cluster: Cluster, sharing: Any, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    make_node(cluster, "a")
    fingerprint = opened(viewer, path)
    monkeypatch.setattr(shared, "MOST_S", 0.0)  # a visit would be rendered
    sharing.SHARED_LOOK_S = 3600.0
    monkeypatch.setattr(live, "render_to_string", None)
    with CaptureQueriesContext(connection) as queries:
        assert ask(viewer, path, fingerprint).status_code == 204
    assert len(queries) <= 3
    sharing.SHARED_LOOK_S = 1e-9
    touch()
    with pytest.raises(TypeError):
        ask(viewer, path, fingerprint)


def test_an_answer_that_nothing_changed_has_a_short_head(viewer: Client, cluster: Cluster, sharing: Any) -> None:
    fingerprint = opened(viewer, "/nodes")
    same = ask(viewer, "/nodes", fingerprint)
    assert (same.status_code, same.headers["Cache-Control"], same.cookies) == (204, "no-store", {})
    assert head_bytes(same) < 250
    page = viewer.get("/nodes")
    assert {"Content-Security-Policy", "X-Frame-Options", "Referrer-Policy", "Vary"} <= set(page.headers)


def test_the_line_of_the_clusters_comes_when_it_changes(viewer: Client, cluster: Cluster) -> None:
    path = "/fit"
    fingerprint = opened(viewer, path)
    assert "HX-Trigger" not in ask(viewer, path, fingerprint).headers
    other = ask(viewer, path, f"{fingerprint.partition('.')[0]}.000000")
    assert (other.status_code, json.loads(other.headers["HX-Trigger"])["sync"]["level"]) == (204, "good")
