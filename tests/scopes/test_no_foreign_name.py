"""Every address of the service, asked by everybody, for names that they must not see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import StreamingHttpResponse
from django.test import Client, RequestFactory

from gpudash.middleware.roles import RoleMiddleware
from inventory.models import Watch
from resources.namespace import NAMESPACES
from runtime import cached as shared
from runtime.scope import EVERYTHING, Scope, current, sees
from tests.accounts.test_every_url import TABLE
from tests.scopes.addresses import LISTS, PODS_NAMED, addresses, all_asked
from tests.scopes.world import ELSEWHERE, MINE, OTHERS, SEEN, UNSEEN, Everybody, Identity, World
from tests.sweeps import first_and_rest

pytestmark = pytest.mark.django_db

#: Who must not see everything; the first holds for all in the tests that are always run.
NAMES = (
    "viewer of a namespace",
    "viewer of a cluster",
    "token for a namespace, of an admin",
    "operator of a namespace",
    "viewer of a namespace in any cluster",
    "token of a viewer of a cluster",
    "token of a viewer of a namespace",
    "token for a cluster",
)


@pytest.fixture(autouse=True)
def unlimited(settings: Any) -> None:
    """One person asks for more than a minute allows: what is refused says nothing."""
    settings.REQUESTS_PER_MINUTE = settings.REQUESTS_PER_MINUTE_ADDRESS = 0


def body_of(client: Client, address: str, **headers: str) -> str:
    """What came back, without what was asked: a form repeats it."""
    response: Any = client.get(address, headers=headers)
    assert response.status_code < 500, address
    assert response.status_code != 429, address
    content = b"".join(response.streaming_content) if response.streaming else response.content
    text = content.decode() + response.headers.get("Location", "")
    path, _, query = address.partition("?")
    asked = [part.partition("=")[2] for part in query.split("&")] + [part for part in path.split("/") if part]
    for value in sorted(filter(None, asked), key=len, reverse=True):
        if any(mark in value for mark in (OTHERS, ELSEWHERE)):
            text = text.replace(value, "")
    return text


def told(one: Identity, address: str, **headers: str) -> list[str]:
    text = body_of(one.client, address, **headers)
    return [f"{address} {headers or ''}: …{_near(text, mark)}…" for mark in one.hidden if mark in text]


def _near(text: str, mark: str) -> str:
    at = text.index(mark)
    return " ".join(text[max(0, at - 120) : at + 40].split())


def test_every_route_is_asked() -> None:
    """A parameter that this table does not know would be asked for as it stands."""
    world = World({SEEN: "r"}, {SEEN: 1}, {SEEN: "c"}, ["p"], ["k"], [1], [1], [1], "m", {SEEN: "x"})
    assert [one for one in addresses(world) if "<" in one or "(" in one] == []
    assert len(set(addresses(world))) > len(TABLE) / 2


@pytest.mark.timeout(400)  # hundreds of addresses
@pytest.mark.parametrize("name", first_and_rest(NAMES))
def test_nobody_is_told_a_name_that_they_must_not_see(world: World, everybody: Everybody, name: str) -> None:
    asked = all_asked(world)
    one = everybody[name]
    assert [found for address in asked for found in told(one, address)] == []


def test_everybody_is_asked(everybody: Everybody) -> None:
    assert {name for name, one in everybody.items() if one.hidden} == set(NAMES)


def test_the_names_are_there_for_who_may_see_them(everybody: Everybody) -> None:
    """Else the test above could not fail."""
    lists = ("allocations", "pods", "findings", "runs", "campaigns", "idle", "namespaces", "cards", "components")
    for name in ("admin", "viewer of all"):
        for path in (*(f"/api/v1/{one}" for one in lists), "/allocations", "/findings", "/validations"):
            text = body_of(everybody[name].client, path)
            assert OTHERS in text, (name, path)
            assert ELSEWHERE in text, (name, path)
    for path in (f"/api/v1/{one}" for one in lists):
        assert OTHERS in body_of(everybody["viewer of a cluster"].client, path), path


@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", first_and_rest(NAMES))
def test_live_parts_tell_no_more_than_pages(world: World, everybody: Everybody, name: str) -> None:
    pages = [one for one in sorted(set(addresses(world))) if not one.startswith(("/api", "/i18n", "/account"))]
    wrong = [
        found for address in pages for found in told(everybody[name], address, HX_Request="true", HX_Target="live")
    ]
    assert wrong == []


def test_what_is_shared_is_shared_only_by_who_see_the_same(
    everybody: Everybody, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared.look, "_seen", None)
    monkeypatch.setattr(shared.store, "_kept", type(shared.store._kept)())
    settings.SHARED_LOOK_S = 60.0
    shareable = ["/", "/nodes", "/cards", "/allocations", "/allocations/pending", "/allocations/idle", "/findings"]
    shareable += [f"/api/v1/{one.name}" for one in LISTS if one is not NAMESPACES]
    for address in shareable:
        for name in ("admin", "viewer of all"):
            assert ELSEWHERE in body_of(everybody[name].client, address), address
        wrong = [found for name in NAMES for found in told(everybody[name], address)]
        assert wrong == [], address
        assert ELSEWHERE in body_of(everybody["admin"].client, address), address
    assert len(shared.store._kept) > len(shareable)


def test_a_refresh_tells_only_what_the_visitor_sees(
    everybody: Everybody, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also to who names the fingerprint of the page of somebody who sees everything."""
    monkeypatch.setattr(shared.look, "_seen", None)
    monkeypatch.setattr(shared.store, "_kept", type(shared.store._kept)())
    monkeypatch.setattr(shared, "TIMES", 0.0)
    settings.SHARED_LOOK_S = 1e-9
    for address in ("/", "/nodes", "/cards", "/allocations", "/findings", "/namespaces", "/clusters"):
        seen = {name: _fingerprint(one.client, address) for name, one in everybody.items() if name in (*NAMES, "admin")}
        Watch.objects.update(state="refused", reason=f"401 {address}")
        for name in NAMES:
            for fingerprint in (seen[name], seen["admin"]):
                headers = {"HX_Request": "true", "X_Fingerprint": fingerprint}
                assert told(everybody[name], address, **headers) == []
        changed = body_of(everybody["admin"].client, address, **(headers | {"X_Fingerprint": seen["admin"]}))
        assert "<html" not in changed, address
        assert ELSEWHERE in changed, address


def _fingerprint(client: Client, address: str) -> str:
    return client.get(address).content.decode().partition('data-fingerprint="')[2].partition('"')[0]


def test_filters_and_counts_do_not_tell_that_something_is_there(everybody: Everybody) -> None:
    client = everybody["viewer of a namespace"].client

    def rows(path: str) -> list[Any]:
        found: list[Any] = client.get(path).json()["results"]
        return found

    for name in (f"namespace-{OTHERS}", f"namespace-{ELSEWHERE}", "nothing-like-it"):
        for path in ("allocations", "pods", "idle", "namespaces"):
            assert rows(f"/api/v1/{path}?namespace={name}") == []
        assert rows(f"/api/v1/cards?q={name}") == []
    unknown = client.get("/api/v1/nodes?cluster=nothing-like-it")
    hidden = client.get(f"/api/v1/nodes?cluster={UNSEEN}")
    assert hidden.status_code == unknown.status_code == 400
    assert hidden.content.replace(UNSEEN.encode(), b"") == unknown.content.replace(b"nothing-like-it", b"")
    for path in (f"/api/v1/clusters/{UNSEEN}", f"/api/v1/nodes/{UNSEEN}/gpu-{ELSEWHERE}", f"/clusters/{UNSEEN}"):
        assert client.get(path).status_code == 404, path


def test_sums_of_a_cluster_are_those_of_an_installation_that_has_no_other(everybody: Everybody) -> None:
    of_cluster = everybody["viewer of a cluster"].client.get("/api/v1/summary").json()
    [whole] = [
        one for one in everybody["admin"].client.get("/api/v1/clusters").json()["results"] if one["name"] == SEEN
    ]
    for name in ("cards_total", "cards_free", "nodes_total", "pending_pods", "memory_free_bytes"):
        if name in of_cluster and name in whole:
            assert of_cluster[name] == whole[name], name
    metrics = body_of(everybody["token of a viewer of a cluster"].client, "/metrics")
    assert f'cluster="{SEEN}"' in metrics
    assert UNSEEN not in metrics


def test_a_card_shows_what_others_hold_and_not_who_they_are(world: World, everybody: Everybody) -> None:
    card = world.cards[SEEN]
    own = everybody["viewer of a namespace"].client.get(f"/api/v1/cards/{card}").json()
    whole = everybody["admin"].client.get(f"/api/v1/cards/{card}").json()
    assert own["memory_allocated_bytes"] == whole["memory_allocated_bytes"]
    assert [one["memory_bytes"] for one in own["allocations"]] == [one["memory_bytes"] for one in whole["allocations"]]
    assert {one["namespace"] for one in own["allocations"]} == {MINE, "another namespace"}
    page = everybody["viewer of a namespace"].client.get(f"/cards/{card}").content.decode()
    assert "another namespace" in page
    assert f"{MINE}/mine-pod" in page


def test_what_is_streamed_sees_what_the_request_saw() -> None:
    """The answer is read when the request is over: whatever is asked for then is in its scope too."""
    seen: list[Scope] = []

    def parts() -> Iterator[bytes]:
        for _ in range(2):
            seen.append(current())
            yield b"x"

    scope = Scope(frozenset({7}))

    def view(_request: Any) -> StreamingHttpResponse:
        sees(scope)
        return StreamingHttpResponse(parts())

    response: Any = RoleMiddleware(view)(RequestFactory().get("/"))  # type: ignore[arg-type]
    assert current() == EVERYTHING
    assert b"".join(response.streaming_content) == b"xx"
    assert seen == [scope, scope]
    assert current() == EVERYTHING


def test_what_is_no_page_tells_nothing(everybody: Everybody) -> None:
    """No view is asked there, nor where a form's token is wrong, and the frame of the page is the same."""
    Watch.objects.filter(cluster__name=UNSEEN).update(state="backing-off", reason="gone")
    assert UNSEEN in everybody["admin"].client.get("/").content.decode()
    nora = User.objects.get(username="nora")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(nora)
    for response in (strict.get("/nowhere"), strict.get("/"), strict.post("/account/theme"), strict.get("/users")):
        assert UNSEEN not in response.content.decode()
    assert [one.status_code for one in (strict.get("/nowhere"), strict.post("/account/theme"))] == [404, 403]


def test_the_history_of_a_namespace_is_for_who_sees_it(everybody: Everybody) -> None:
    for name, expected in (("viewer of a namespace", 404), ("viewer of a cluster", 200), ("admin", 200)):
        client = everybody[name].client
        for path in ("/history?", f"/api/v1/clusters/{SEEN}/history?"):
            cluster = f"cluster={SEEN}&" if path == "/history?" else ""
            assert client.get(f"{path}{cluster}namespace=namespace-{OTHERS}").status_code == expected, (name, path)
            assert client.get(f"{path}{cluster}namespace={MINE}").status_code == 200, (name, path)


def test_the_page_of_a_pod_is_for_who_sees_its_namespace(everybody: Everybody) -> None:
    for (namespace, name), of_namespace in zip(PODS_NAMED[:3], (200, 404, 404), strict=True):
        path = f"/pods/{SEEN}/{namespace}/{name}"
        assert everybody["viewer of a namespace"].client.get(path).status_code == of_namespace, path
        assert everybody["viewer of a cluster"].client.get(path).status_code == 200, path
    assert everybody["viewer of a cluster"].client.get(f"/pods/{UNSEEN}/mine/mine-pod").status_code == 404


def test_logs_of_runs_are_for_who_sees_their_namespace(world: World, everybody: Everybody) -> None:
    namespace, cluster = everybody["viewer of a namespace"].client, everybody["viewer of a cluster"].client
    for run, of_namespace, of_cluster in (
        (world.mine, 200, 200),
        (world.runs[SEEN], 404, 200),
        (world.runs[UNSEEN], 404, 404),
    ):
        for path in (f"/api/v1/runs/{run}", f"/api/v1/runs/{run}/log", f"/validations/runs/{run}/log.txt"):
            assert namespace.get(path).status_code == of_namespace, path
            assert cluster.get(path).status_code == of_cluster, path
