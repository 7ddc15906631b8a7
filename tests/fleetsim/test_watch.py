"""Watches of the embedded API server: nothing lost, nothing twice, bookmarks, both shapes of 410, readers that are slow."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from fleetsim import Fleet, Server, serve
from fleetsim.resources import NODES
from tests.fleetsim.client import Client, Stream, name_of, version_of
from tests.fleetsim.conftest import pass_time

BOOKMARK = "BOOKMARK"


def at_end(simulated: Fleet) -> Any:
    """Wanted: the first event or bookmark at or after the version that the fleet has now."""
    version = simulated.store.version
    return lambda event: event["type"] == BOOKMARK and version_of(event) >= version


def replay(items: list[dict[str, Any]], events: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What a mirror holds that starts with a list and applies events; it is strict about what may follow what."""
    known = {item["metadata"]["uid"]: item for item in items}
    for event in events:
        if event["type"] == BOOKMARK:
            continue
        obj = {name: value for name, value in event["object"].items() if name not in ("kind", "apiVersion")}
        uid = obj["metadata"]["uid"]
        assert (uid in known) == (event["type"] != "ADDED"), (event["type"], name_of(event))
        if event["type"] == "DELETED":
            del known[uid]
        else:
            known[uid] = obj
    return known


def current(api: Client, path: str) -> dict[str, dict[str, Any]]:
    return {item["metadata"]["uid"]: item for item in api.get(path)["items"]}


def test_list_and_watch_agree_with_the_cluster_after_twenty_minutes_of_life(api: Client, simulated: Fleet) -> None:
    first = api.get("/api/v1/pods")
    version = first["metadata"]["resourceVersion"]
    pass_time(simulated, 1200, pace=5)
    stream = api.watch(f"/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion={version}")
    events = stream.until(at_end(simulated))
    stream.close()
    assert len(events) > 300
    assert replay(first["items"], events) == current(api, "/api/v1/pods")


def test_a_watch_resumed_at_any_event_neither_loses_nor_repeats(api: Client, simulated: Fleet) -> None:
    start = simulated.store.version
    pass_time(simulated, 120)
    path = "/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion="
    stream = api.watch(f"{path}{start}")
    whole = [version_of(e) for e in stream.until(at_end(simulated)) if e["type"] != BOOKMARK]
    stream.close()
    assert whole == sorted(set(whole))
    for cut in (0, 1, len(whole) // 2, len(whole) - 1):
        resumed = api.watch(f"{path}{whole[cut]}")
        rest = [version_of(e) for e in resumed.until(at_end(simulated)) if e["type"] != BOOKMARK]
        resumed.close()
        assert rest == whole[cut + 1 :]


def test_events_arrive_while_the_watch_is_open(api: Client, simulated: Fleet) -> None:
    stream = api.watch(f"/api/v1/nodes?watch=1&resourceVersion={simulated.store.version}")
    node = simulated.store.get(NODES, "", "gpu-t4-01")
    node["metadata"]["labels"]["probe"] = "1"
    simulated.store.replace(NODES, node)
    event = stream.next()
    assert (event["type"], name_of(event), event["object"]["kind"]) == ("MODIFIED", "gpu-t4-01", "Node")
    stream.close()


def test_a_selector_sees_objects_enter_and_leave_it(api: Client, simulated: Fleet) -> None:
    version = simulated.store.version
    for labels in ({"probe": "1"}, {"probe": "1", "more": "x"}, {"probe": "2"}):
        node = simulated.store.get(NODES, "", "cpu-01")
        node["metadata"]["labels"] |= labels
        simulated.store.replace(NODES, node)
    stream = api.watch(f"/api/v1/nodes?watch=1&timeoutSeconds=1&labelSelector=probe%3D1&resourceVersion={version}")
    assert [event["type"] for event in stream.rest()] == ["ADDED", "MODIFIED", "DELETED"]


def test_a_namespaced_watch_sees_its_namespace_only(api: Client, simulated: Fleet) -> None:
    version = simulated.store.version
    pass_time(simulated, 300)
    path = f"/api/v1/namespaces/team-vision/pods?watch=1&allowWatchBookmarks=1&resourceVersion={version}"
    stream = api.watch(path)
    events = [event for event in stream.until(at_end(simulated)) if event["type"] != BOOKMARK]
    stream.close()
    assert {event["object"]["metadata"]["namespace"] for event in events} == {"team-vision"}


def test_bookmarks_come_on_a_silent_stream_and_only_when_asked(api: Client, simulated: Fleet) -> None:
    version = simulated.store.version
    asked = api.watch(
        f"/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion={version}"
    ).rest()
    assert len(asked) >= 3
    assert {(event["type"], version_of(event)) for event in asked} == {(BOOKMARK, version)}
    assert api.watch(f"/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion={version}").rest() == []


def test_a_bookmark_never_runs_ahead_of_the_events(api: Client, simulated: Fleet) -> None:
    stream = api.watch(f"/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion={simulated.store.version}")
    events = []
    for _ in range(40):
        pass_time(simulated, 5)
        events += stream.until(at_end(simulated))
    stream.close()
    versions = [version_of(event) for event in events]
    assert versions == sorted(versions)
    assert {event["type"] for event in events} >= {BOOKMARK, "ADDED", "MODIFIED"}


def test_a_watch_from_a_forgotten_version_gets_http_410(api: Client, server: Server, simulated: Fleet) -> None:
    old = simulated.store.version
    pass_time(simulated, 60)
    server.compact()
    status = api.get(f"/api/v1/pods?watch=1&resourceVersion={old}", status=410)
    assert (status["reason"], status["code"], status["kind"]) == ("Expired", 410, "Status")
    api.watch(f"/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion={simulated.store.version}").rest()


def test_a_compaction_ends_an_open_watch_with_an_error_event(api: Client, server: Server, simulated: Fleet) -> None:
    stream = api.watch(f"/api/v1/pods?watch=1&resourceVersion={simulated.store.version}")
    server.compact()
    [event] = stream.rest()
    assert event["type"] == "ERROR"
    assert (event["object"]["kind"], event["object"]["code"], event["object"]["reason"]) == ("Status", 410, "Expired")


def test_history_is_bounded_and_what_falls_out_of_it_is_410(simulated: Fleet) -> None:
    with serve(simulated, live=False) as server:
        client = Client(server)
        old = simulated.store.version
        for number in range(2 * simulated.store._histories["nodes"].limit + 1):
            node = simulated.store.get(NODES, "", "cpu-01")
            node["metadata"]["annotations"]["beat"] = str(number)
            simulated.store.replace(NODES, node)
        client.get(f"/api/v1/nodes?watch=1&resourceVersion={old}", status=410)
        client.pool.clear()


def test_a_version_of_the_future_is_refused(api: Client, simulated: Fleet) -> None:
    version = simulated.store.version + 1
    assert api.get(f"/api/v1/pods?watch=1&resourceVersion={version}", status=504)["reason"] == "Timeout"


def test_a_streaming_list_ends_with_its_bookmark_and_goes_on(api: Client, simulated: Fleet) -> None:
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    stream = api.watch(f"/api/v1/pods?{query}&resourceVersion=")
    initial = stream.until(lambda event: event["type"] == BOOKMARK)
    assert initial[-1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert version_of(initial[-1]) == simulated.store.version
    assert {event["type"] for event in initial[:-1]} == {"ADDED"}
    pass_time(simulated, 60)
    events = stream.until(at_end(simulated))
    stream.close()
    assert replay([], initial + events) == current(api, "/api/v1/pods")


def test_a_watch_without_a_version_starts_with_what_is_there(api: Client, simulated: Fleet) -> None:
    for query in ("watch=1&timeoutSeconds=1", "watch=true&timeoutSeconds=1&resourceVersion=0"):
        events = api.watch(f"/api/v1/nodes?{query}").rest()
        assert [name_of(event) for event in events] == simulated.store.names(NODES)
        assert {event["type"] for event in events} == {"ADDED"}


def test_many_watchers_see_the_same(api: Client, simulated: Fleet) -> None:
    version = simulated.store.version
    path = f"/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion={version}"
    streams: list[Stream] = [api.watch(path) for _ in range(30)]
    pass_time(simulated, 60)
    seen = [[version_of(e) for e in stream.until(at_end(simulated)) if e["type"] != BOOKMARK] for stream in streams]
    for stream in streams:
        stream.close()
    assert seen[0]
    assert all(one == seen[0] for one in seen)


@pytest.fixture
def impatient(simulated: Fleet) -> Any:
    with serve(simulated, live=False, watch_buffer=50) as running:
        yield running


def test_a_reader_that_does_not_read_is_cut_off_and_the_others_go_on(impatient: Server, simulated: Fleet) -> None:
    version = simulated.store.version
    client = Client(impatient)
    good = client.watch(f"/api/v1/nodes?watch=1&resourceVersion={version}")
    with _lazy_reader(impatient, version) as lazy:
        for number in range(400):
            node = simulated.store.get(NODES, "", "cpu-01")
            node["metadata"]["annotations"]["beat"] = f"{number:100000d}"
            simulated.store.replace(NODES, node)
            assert version_of(good.next()) == simulated.store.version
        received = b"".join(iter(lambda: _receive(lazy), b""))
    good.close()
    client.pool.clear()
    assert b"HTTP/1.1 200" in received[:100]
    assert not received.endswith(b"0\r\n\r\n"), "a stream that is cut off must not look complete"
    assert received.count(b'"MODIFIED"') < 400


def _lazy_reader(server: Server, version: int) -> socket.socket:
    host, _, port = server.url.removeprefix("http://").partition(":")
    lazy = socket.socket()
    lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    lazy.settimeout(10)
    lazy.connect((host, int(port)))
    path = f"/api/v1/nodes?watch=1&resourceVersion={version}"
    lazy.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
    return lazy


def _receive(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65536)
    except ConnectionError:
        return b""


def test_an_unchanged_write_is_no_event(simulated: Fleet) -> None:
    version = simulated.store.version
    node = simulated.store.get(NODES, "", "cpu-01")
    simulated.store.replace(NODES, node)
    assert simulated.store.version == version
