"""One answer for all who ask for the same: the same as without, of nobody in particular, and never older than it may be."""

from __future__ import annotations

import gzip
import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.roles import Role
from gpudash.middleware import compression
from gpudash.middleware.shared_answers import SharedPage
from inventory.models import Card, CardUsage, Cluster, UsageSource, Watch
from pages.frame.live import LivePage, Part
from runtime import cached as shared
from tests.cast import make_user, signed_in
from tests.factories import GIB, make_node
from tests.factories.usage import measure

PAGES = (
    "/",
    "/?open=gpushare+·+Tesla-T4",
    "/map",
    "/nodes",
    "/cards",
    "/cards?state=free",
    "/allocations",
    "/allocations/pending",
    "/allocations/idle",
    "/findings",
)
LISTS = ("/api/v1/nodes", "/api/v1/cards", "/api/v1/allocations", "/api/v1/pods", "/api/v1/findings")
_OWN = re.compile(r'csrfmiddlewaretoken" value="[^"]*"|data-now="[^"]*"|<time [^>]*>[^<]*')


@pytest.fixture
def sharing(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sharing as in production, with a look for each request, and nothing kept from other tests."""
    monkeypatch.setattr(shared.look, "_seen", None)
    monkeypatch.setattr(shared.store, "_kept", type(shared.store._kept)())
    settings.SHARED_LOOK_S = 1e-9
    monkeypatch.setattr(shared, "TIMES", 0.0)
    return settings


def _plain(html: str) -> str:
    """Without what differs from one answer to the next."""
    return _OWN.sub("", html)


def touch() -> None:
    """As a watcher does with each change."""
    Watch.objects.update(last_event_at=timezone.now())


@pytest.mark.parametrize("path", PAGES)
def test_a_shared_page_is_the_page(viewer: Client, cluster: Cluster, sharing: Any, path: str) -> None:
    make_node(cluster, "a")
    first, second = (viewer.get(path).content.decode() for _ in range(2))
    sharing.SHARED_LOOK_S = 0
    assert _plain(first) == _plain(second) == _plain(viewer.get(path).content.decode())


def test_a_round_of_the_exporters_is_seen_and_so_is_that_there_are_no_more(
    viewer: Client, cluster: Cluster, sharing: Any
) -> None:
    """Collectors write no watch: without them in the version a page would keep yesterday's used memory on a quiet cluster."""
    make_node(cluster, "a", "nvidia", 1)
    usage = measure(Card.objects.get(), memory_used_bytes=3 * GIB)

    def used() -> list[str]:
        return re.findall(r'title="(\d+) B · dcgm-exporter"', viewer.get("/cards").content.decode())

    assert used() == [str(3 * GIB)]
    CardUsage.objects.filter(pk=usage.pk).update(memory_used_bytes=5 * GIB)
    UsageSource.objects.update(round_at=Now())
    assert used() == [str(5 * GIB)]
    UsageSource.objects.update(round_at=Now() - timedelta(minutes=6))
    assert used() == []


def test_each_visitor_sees_his_own_name_and_token(cluster: Cluster, sharing: Any) -> None:
    make_node(cluster, "a")
    texts = {}
    for name in ("vera", "<victor>"):
        client = signed_in(make_user(name, Role.VIEWER))
        texts[name] = client.get("/cards").content.decode()
        token = re.search(r'csrfmiddlewaretoken" value="([^"]+)"', texts[name])
        assert token is not None
        assert client.post("/account/theme", {"theme": "dark", "csrfmiddlewaretoken": token[1]}).status_code == 302
    assert ">vera</span>" in texts["vera"]
    assert "victor" not in texts["vera"]
    assert ">&lt;victor&gt;</span>" in texts["<victor>"]
    assert "visitor-" not in texts["vera"]


def test_the_token_of_a_shared_page_is_good_for_its_form(cluster: Cluster, sharing: Any) -> None:
    signed_in(make_user("first", Role.VIEWER)).get("/nodes")
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user("second", Role.VIEWER))
    token = re.findall(r'csrfmiddlewaretoken" value="([^"]+)"', client.get("/nodes").content.decode())
    assert len(set(token)) == 1
    answers = [
        client.post("/account/theme", {"theme": "dark", "csrfmiddlewaretoken": given}).status_code
        for given in (token[0], "x" * 64)
    ]
    assert answers == [302, 403]


def test_roles_do_not_share(cluster: Cluster, sharing: Any) -> None:
    make_node(cluster, "a")
    seen = {role: signed_in(make_user(role.value, role)).get("/nodes").content.decode() for role in Role}
    sharing.SHARED_LOOK_S = 0
    for role in Role:
        own = signed_in(make_user(f"{role.value}2", role)).get("/nodes").content.decode()
        assert _plain(seen[role]) == _plain(own).replace(f"{role.value}2", role.value)


def test_languages_do_not_share(viewer: Client, cluster: Cluster, sharing: Any) -> None:
    english = viewer.get("/cards", headers={"Accept-Language": "en"}).content.decode()
    chinese = viewer.get("/cards", headers={"Accept-Language": "zh-hans"}).content.decode()
    assert 'lang="en"' in english
    assert 'lang="zh-hans"' in chinese


def test_who_has_no_role_sees_nothing_shared(viewer: Client, cluster: Cluster, sharing: Any) -> None:
    assert viewer.get("/cards").status_code == 200
    assert signed_in(make_user("nobody")).get("/cards").status_code == 403
    assert Client().get("/cards").status_code == 302


def test_a_change_of_the_mirror_is_seen(viewer: Client, cluster: Cluster, sharing: Any) -> None:
    make_node(cluster, "a")
    before = viewer.get("/cards").content.decode()
    Card.objects.filter(index=0).update(model="Changed-1")
    assert "Changed-1" not in viewer.get("/cards").content.decode()
    touch()
    assert "Changed-1" not in before
    assert "Changed-1" in viewer.get("/cards").content.decode()
    assert "Changed-1" in viewer.get("/api/v1/cards").content.decode()


def test_a_watcher_that_dies_is_seen_without_any_write(viewer: Client, cluster: Cluster, sharing: Any) -> None:
    viewer.get("/cards")
    Watch.objects.update(expires_at=timezone.now() - timedelta(minutes=5))
    assert "No watch worker holds the lease" in viewer.get("/cards").content.decode()


def test_nothing_is_kept_for_long_whatever_the_version_says(
    viewer: Client, cluster: Cluster, sharing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_node(cluster, "a")
    viewer.get("/cards")
    Card.objects.update(model="Changed-2")
    monkeypatch.setattr(shared, "MOST_S", 0.0)
    assert "Changed-2" in viewer.get("/cards").content.decode()


@pytest.mark.parametrize("path", [*PAGES, *LISTS])
def test_what_nobody_changed_costs_no_queries(viewer: Client, cluster: Cluster, sharing: Any, path: str) -> None:
    """Session, user, role; the rest is the look at the version, once a second for all."""
    make_node(cluster, "a")
    viewer.get(path)
    sharing.SHARED_LOOK_S = 3600.0
    with CaptureQueriesContext(connection) as queries:
        assert viewer.get(path).status_code == 200
    assert len(queries) <= 3


def test_a_live_part_that_did_not_change_is_not_sent(viewer: Client, cluster: Cluster, sharing: Any) -> None:
    make_node(cluster, "a")
    first = viewer.get("/cards", headers={"HX-Request": "true"})
    again = viewer.get("/cards", headers={"HX-Request": "true", "X-Fingerprint": first.headers["X-Fingerprint"]})
    page = viewer.get("/cards").content.decode()
    assert (first.status_code, again.status_code, again.content) == (200, 204, b"")
    assert f'data-fingerprint="{first.headers["X-Fingerprint"]}"' in page
    assert first.content.decode() in page
    assert ("HX-Trigger" in first.headers, "HX-Trigger" in again.headers) == (True, False)


@pytest.mark.parametrize("path", LISTS)
def test_a_list_that_did_not_change_is_not_sent(api: Client, cluster: Cluster, sharing: Any, path: str) -> None:
    make_node(cluster, "a")
    first = api.get(path)
    same = api.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", first.headers["ETag"])
    Card.objects.all().delete()
    make_node(cluster, "b", loads=(0.5,))
    touch()
    assert api.get("/api/v1/nodes", headers={"If-None-Match": first.headers["ETag"]}).status_code == 200


@pytest.mark.parametrize("path", [*PAGES, *LISTS, "/clusters", "/cards?format=csv", "/metrics"])
def test_compressed_and_plain_hold_the_same(viewer: Client, cluster: Cluster, sharing: Any, path: str) -> None:
    make_node(cluster, "a")
    plain, packed = viewer.get(path), viewer.get(path, headers={"Accept-Encoding": "gzip"})
    text, body = plain.getvalue(), packed.getvalue()
    if len(text) >= compression.LEAST_BYTES:
        assert packed.headers["Content-Encoding"] == "gzip"
        assert _plain(gzip.decompress(body).decode()) == _plain(text.decode())
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert "Content-Encoding" not in plain.headers


def test_refusals_are_not_shared(viewer: Client, cluster: Cluster, sharing: Any) -> None:
    assert [viewer.get("/cards?state=strange").status_code for _ in range(2)] == [400, 400]
    assert [viewer.get("/api/v1/cards?state=strange").status_code for _ in range(2)] == [400, 400]


def test_many_at_once_wait_for_one() -> None:
    store, begun, go, made = shared.Store(), threading.Event(), threading.Event(), []

    def compute() -> str:
        made.append(1)
        begun.set()
        go.wait(10)
        return "value"

    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(store.get("key", 1, compute))) for _ in range(8)]
    threads[0].start()
    assert begun.wait(10)
    for thread in threads[1:]:
        thread.start()
    go.set()
    for thread in threads:
        thread.join(10)
    assert (found, len(made)) == (["value"] * 8, 1)


def test_what_fails_is_tried_by_each() -> None:
    store = shared.Store()
    with pytest.raises(ZeroDivisionError):
        store.get("key", 1, lambda: 1 / 0)
    assert store.get("key", 1, lambda: "value") == "value"


def test_the_store_is_bounded() -> None:
    class Large:
        size = 10

    store = shared.Store(most_values=100, most_bytes=25)
    for number in range(5):
        store.get(number, 1, Large)
    assert (len(store._kept), store._bytes) == (2, 20)
    for number in range(200):
        store.get(("small", number), 1, object)
    assert len(store._kept) <= 100


def test_an_answer_of_the_version_before_serves_while_the_next_is_made() -> None:
    store = shared.Store()
    store.get("key", 1, lambda: "old")
    inside: list[str] = []

    def compute() -> str:
        inside.append(store.get("key", 2, lambda: "never", behind=True))
        return "new"

    assert store.get("key", 2, compute) == "new"
    assert inside == ["old"]
    assert store.get("key", 2, lambda: "never") == "new"


@pytest.mark.parametrize("text", ["5 s ago", "59 s", "5 秒前", "59 秒"])
def test_an_age_in_seconds_makes_an_answer_short_lived(text: str) -> None:
    def page(age: str) -> SharedPage:
        made = LivePage("<p></p>")
        made.part = Part(f'<time datetime="2026-01-01T00:00:05Z" data-form="ago" title="x">{age}</time>', "")
        return SharedPage.of(made)

    assert (page(text).good_s, page("5 min ago").good_s, page("5 分钟前").good_s) == (1.0, 60.0, 60.0)
