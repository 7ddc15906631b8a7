"""A refresh costs what changed: little to send, nothing to render where the mirror stands still, and nobody else's page."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.roles import Role
from inventory.charges import now
from inventory.models import Allocation, Card, Cluster, Watch
from pages.frame import live
from pages.frame.changes import changed
from pages.frame.earlier import Earlier, earlier
from pages.frame.live import content_of
from runtime import cached as shared
from tests.cast import make_user, signed_in
from tests.factories import make_finding, make_node
from tests.pages.test_shared import sharing, touch

__all__ = ["sharing"]
SHARED = ("/", "/nodes", "/cards", "/allocations", "/findings")
OWN = ("/clusters", "/nodes/prod/a", "/namespaces")


def ask(client: Client, path: str, fingerprint: str, accept: str = "application/json") -> Any:
    headers = {"HX-Request": "true", "X-Fingerprint": fingerprint, "Accept": accept}
    return client.get(path, headers=headers)


def opened(client: Client, path: str) -> tuple[str, str]:
    """Fingerprint and text of a page that was just drawn, as its script finds them."""
    page = client.get(path).content.decode()
    _, _, rest = page.partition('data-fingerprint="')
    fingerprint, _, rest = rest.partition('">')
    return fingerprint, live._AGES.sub(r"\1", rest.partition("<!--/live-->")[0])


def head_bytes(response: Any) -> int:
    return sum(len(f"{name}: {value}\r\n") for name, value in response.headers.items())


@pytest.mark.parametrize("path", [*SHARED, *OWN])
@pytest.mark.parametrize("how", ["shared", "alone"])
def test_only_what_changed_is_sent(viewer: Client, cluster: Cluster, sharing: Any, path: str, how: str) -> None:
    if how == "alone":
        sharing.SHARED_LOOK_S = 0
    for name in "abcdefgh":
        make_node(cluster, name, "nvidia", 8)
    now.look()
    fingerprint, text = opened(viewer, path)
    Card.objects.filter(node_name="a").update(model="Changed-1", health="unhealthy")
    Allocation.objects.filter(node_name="b").delete()
    make_node(cluster, "i", "nvidia", 4)
    make_finding(cluster)
    now.look()
    touch()
    answer = ask(viewer, path, fingerprint)
    whole = ask(viewer, path, "").content.decode()
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")
    assert changed(text, answer.json()["changes"]) == live._AGES.sub(r"\1", whole)
    assert len(answer.content) < len(whole) / 2 or len(whole) < 6000
    assert ask(viewer, path, answer.headers["X-Fingerprint"]).status_code == 204


@pytest.mark.parametrize("path", SHARED)
def test_who_cannot_follow_gets_the_whole_part(viewer: Client, cluster: Cluster, path: str) -> None:
    make_node(cluster, "a")
    fingerprint, _ = opened(viewer, path)
    Watch.objects.update(state="refused", reason="401")
    for one in (ask(viewer, path, fingerprint, "text/html, */*"), ask(viewer, path, "0" * 18 + ".000000")):
        assert one.headers["Content-Type"].startswith("text/html")
        assert "access denied" in one.content.decode()


@pytest.mark.parametrize("path", SHARED)
def test_where_the_mirror_stands_still_nothing_is_rendered_or_asked(
    viewer: Client, cluster: Cluster, sharing: Any, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    make_node(cluster, "a")
    fingerprint, _ = opened(viewer, path)
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
    fingerprint, _ = opened(viewer, "/nodes")
    same = ask(viewer, "/nodes", fingerprint)
    assert (same.status_code, same.headers["Cache-Control"], same.cookies) == (204, "no-store", {})
    assert head_bytes(same) < 250
    page = viewer.get("/nodes")
    assert {"Content-Security-Policy", "X-Frame-Options", "Referrer-Policy", "Vary"} <= set(page.headers)


def test_the_line_of_the_clusters_comes_when_it_changes(viewer: Client, cluster: Cluster) -> None:
    path = "/fit"
    fingerprint, _ = opened(viewer, path)
    assert "HX-Trigger" not in ask(viewer, path, fingerprint).headers
    other = ask(viewer, path, f"{content_of(fingerprint)}.000000")
    assert (other.status_code, json.loads(other.headers["HX-Trigger"])["sync"]["level"]) == (204, "good")


def test_what_another_visitor_has_seen_is_no_ground_to_tell_changes_of(
    cluster: Cluster, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fingerprint that fell into other hands tells nothing: not even which parts are the same."""
    monkeypatch.setattr(earlier, "_kept", OrderedDict())
    make_node(cluster, "a")
    fingerprint, _ = opened(signed_in(make_user("root", Role.ADMIN)), "/namespaces")
    Allocation.objects.all().delete()
    answer = ask(viewer, "/namespaces", fingerprint)
    assert answer.headers["Content-Type"].startswith("text/html")


def test_earlier_parts_are_bounded_and_the_oldest_goes_first() -> None:
    kept = Earlier(most_bytes=40)
    for name in "abcd":
        kept.keep("vera", name, name * 9)
        kept.find("vera", "a")
    assert [bool(kept.find("vera", name)) for name in "abcd"] == [True, False, True, True]
    assert kept.find("victor", "a") is None
    assert kept._bytes == sum(len(one) for one in kept._kept.values()) <= 40
    assert earlier.most_bytes == 8 * 2**20
