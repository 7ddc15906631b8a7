"""A kind that is read in several places: what comes is of all of them, and one that may not be read does not keep the others."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kube import reflector as reflector_module
from kube.config_maps import ConfigMap
from kube.messages import Changes, Listed, ListEnd, Message, Relist, Trouble, Watching
from kube.reflector import Reflector
from kube.source import Place, Source
from tests.kube.routed import Routed
from tests.kube.scripted import PATIENCE_S, Answer, Hang, refusal, stream
from tests.kube.words import bookmark, client, error_line, line
from tests.services import wait_until

MAPS = "/api/v1/configmaps"
A, B = "/api/v1/namespaces/a/configmaps", "/api/v1/namespaces/b/configmaps"
PLACES = (
    Place(A, (("fieldSelector", "metadata.name=one"),), "a/one"),
    Place(B, (("labelSelector", "x=y"),), "b, label x=y"),
)


def config_map(namespace: str, name: str, version: int) -> dict[str, Any]:
    uid = f"{namespace}-{name}"
    return {"metadata": {"name": name, "namespace": namespace, "uid": uid, "resourceVersion": str(version)}, "data": {}}


def listed(*items: Any, version: int) -> Answer:
    body = {"kind": "ConfigMapList", "metadata": {"resourceVersion": str(version)}, "items": list(items)}
    return Answer(json.dumps(body).encode())


Serve, Take = Callable[..., Routed], Callable[..., "Taken"]


@pytest.fixture
def serve() -> Iterator[Serve]:
    made: list[Routed] = []

    def start(**routes: list[Any]) -> Routed:
        made.append(Routed({A: routes["a"], B: routes["b"]}))
        return made[-1]

    yield start
    for server in made:
        server.close()


class Taken:
    """A reflector's messages, in words."""

    def __init__(self, folder: Path, server: Routed, version: str = "") -> None:
        source = Source(MAPS, places=PLACES)
        self.reflector: Reflector[ConfigMap] = Reflector(
            client(folder, server.url), source, ConfigMap, version, backoff=lambda failures, asked: 0.001
        )
        self.messages: list[Message[ConfigMap]] = []
        self.reflector.start()

    def until(self, done: Callable[[], bool]) -> None:
        def look() -> bool:
            if (message := self.reflector.next(0.05)) is not None:
                self.messages.append(message)
            return done()

        wait_until(look, f"it comes; there is {self.messages}", PATIENCE_S, 0)

    def of(self, kind: type) -> list[Any]:
        return [message for message in self.messages if isinstance(message, kind)]

    def names(self) -> list[str]:
        return [thing.metadata.name for message in self.of(Listed) for thing in message.page.objects]

    def events(self) -> list[str]:
        return [
            f"{event.type} {event.object.metadata.name}"
            for message in self.of(Changes)
            for event in message.events
            if event.object is not None
        ]


@pytest.fixture
def take(tmp_path: Path) -> Iterator[Take]:
    made: list[Taken] = []

    def start(server: Routed, version: str = "") -> Taken:
        made.append(Taken(tmp_path, server, version))
        return made[-1]

    yield start
    for taken in made:
        taken.reflector.stop()


def test_all_places_are_one_list_and_are_watched_from_the_earliest_version(serve: Serve, take: Take) -> None:
    server = serve(
        a=[listed(config_map("a", "one", 3), version=10), stream(Hang)],
        b=[listed(config_map("b", "two", 4), config_map("b", "three", 5), version=14), stream(Hang)],
    )
    taken = take(server)
    taken.until(lambda: bool(taken.of(Watching)))
    assert [type(message) for message in taken.messages] == [Relist, Listed, Listed, ListEnd, Watching]
    assert (taken.names(), taken.of(ListEnd)[0]) == (["one", "two", "three"], ListEnd("10"))
    first, second = server.asked[:2]
    assert (first.path, first.query["fieldSelector"]) == (A, "metadata.name=one")
    assert (second.path, second.query["labelSelector"]) == (B, "x=y")
    server.wait_for(4)
    watches = [asked for asked in server.asked if "watch" in asked.query]
    assert sorted(asked.path for asked in watches) == [A, B]
    assert {asked.query["resourceVersion"] for asked in watches} == {"10"}
    assert {asked.query.get("fieldSelector", asked.query.get("labelSelector")) for asked in watches} == {
        "metadata.name=one",
        "x=y",
    }


def test_the_version_is_that_of_the_place_that_is_behind(serve: Serve, take: Take) -> None:
    told = threading.Event()
    server = serve(
        a=[stream(line("MODIFIED", config_map("a", "one", 20)), told, bookmark(40), Hang)],
        b=[stream(told, line("ADDED", config_map("b", "two", 30)), Hang)],
    )
    taken = take(server, "10")
    taken.until(lambda: taken.events() == ["MODIFIED one"])
    assert taken.of(Changes)[0].version == "10"
    told.set()
    taken.until(lambda: len(taken.of(Changes)) == 3)
    assert taken.of(Changes)[-1].version == "30"
    assert taken.reflector.resource_version == "30"
    assert sorted(taken.events()) == ["ADDED two", "MODIFIED one"]


def test_the_end_of_one_watch_begins_all_of_them_from_the_earliest(serve: Serve, take: Take) -> None:
    server = serve(
        a=[stream(line("MODIFIED", config_map("a", "one", 20)), bookmark(25)), stream(Hang)],
        b=[stream(bookmark(30), Hang), stream(line("ADDED", config_map("b", "two", 31)), Hang)],
    )
    taken = take(server, "10")
    taken.until(lambda: "ADDED two" in taken.events())
    again = [asked.query["resourceVersion"] for asked in server.asked if "watch" in asked.query][2:]
    assert set(again) <= {"10", "25"}
    assert taken.of(Trouble) == []


def test_one_that_may_not_be_read_is_told_and_the_others_are_read(serve: Serve, take: Take) -> None:
    server = serve(
        a=[refusal(403, "Forbidden", 'configmaps "one" is forbidden')],
        b=[listed(config_map("b", "two", 4), version=14), stream(line("ADDED", config_map("b", "three", 15)), Hang)],
    )
    taken = take(server)
    taken.until(lambda: taken.events() == ["ADDED three"])
    assert taken.of(ListEnd) == [ListEnd("14", ("a/one",))]
    assert taken.of(Watching)[0].refused == 'a/one: 403 Forbidden: configmaps "one" is forbidden'
    assert (taken.names(), taken.of(Trouble)) == (["two"], [])
    assert taken.reflector.places == PLACES[1:]
    # While something is refused the watch is short, so that it is looked whether it still is.
    assert [asked.query["timeoutSeconds"] for asked in server.asked if "watch" in asked.query] == [
        str(reflector_module.REFUSED_S)
    ]


def test_where_all_are_refused_it_is_trouble(serve: Serve, take: Take) -> None:
    taken = take(serve(a=[refusal(403, "Forbidden")] * 9, b=[refusal(403, "Forbidden")] * 9))
    taken.until(lambda: bool(taken.of(Trouble)))
    assert (taken.of(Trouble)[0].refused, taken.of(Trouble)[0].absent, taken.of(ListEnd)) == (True, False, [])


def test_what_was_granted_since_is_listed(serve: Serve, take: Take) -> None:
    server = serve(
        a=[refusal(403, "Forbidden"), listed(version=20), listed(config_map("a", "one", 21), version=22), stream(Hang)],
        b=[listed(version=14), stream(bookmark(15)), listed(version=22), stream(Hang)],
    )
    taken = take(server)
    taken.until(lambda: len(taken.of(ListEnd)) == 2)
    taken.until(lambda: len(taken.of(Watching)) == 2)
    assert [end.refused for end in taken.of(ListEnd)] == [("a/one",), ()]
    assert (taken.names(), taken.of(Watching)[-1].refused) == (["one"], "")
    assert "permissions were extended" in taken.of(Relist)[-1].reason


def test_a_right_that_is_taken_away_leaves_the_others(serve: Serve, take: Take) -> None:
    server = serve(
        a=[stream(bookmark(11)), refusal(403, "Forbidden", "not any more")],
        b=[stream(bookmark(12)), stream(line("ADDED", config_map("b", "two", 13)), Hang)],
    )
    taken = take(server, "10")
    taken.until(lambda: "ADDED two" in taken.events())
    assert "a/one: 403" in taken.of(Watching)[-1].refused
    assert (taken.of(Relist), taken.of(Trouble)) == ([], [])
    assert taken.reflector.places == PLACES, "of both it is known what is there"


@pytest.mark.parametrize("place", ["a", "b"])
def test_what_is_too_old_in_one_place_lists_all(serve: Serve, take: Take, place: str) -> None:
    routes = {"a": [listed(version=50), stream(Hang)], "b": [listed(version=51), stream(Hang)]}
    first = {name: stream(error_line(410, "Expired"), Hang) if name == place else stream(Hang) for name in routes}
    taken = take(serve(**{name: [first[name], *rest] for name, rest in routes.items()}), "10")
    taken.until(lambda: bool(taken.of(ListEnd)))
    assert "410" in taken.of(Relist)[0].reason


def test_an_outage_of_one_place_is_trouble_of_the_kind_and_heals(serve: Serve, take: Take) -> None:
    server = serve(
        a=[refusal(503, "ServiceUnavailable"), listed(version=20), stream(Hang)], b=[listed(version=21), stream(Hang)]
    )
    taken = take(server)
    taken.until(lambda: bool(taken.of(Watching)))
    assert ["503" in trouble.reason for trouble in taken.of(Trouble)] == [True]


def test_it_stops_at_once_and_leaves_no_thread(serve: Serve, take: Take) -> None:
    taken = take(serve(a=[stream(Hang)], b=[stream(Hang)]), "10")
    taken.until(lambda: bool(taken.of(Watching)))
    taken.reflector.stop()
    wait_until(lambda: not [one for one in threading.enumerate() if one.name == "watch"], "the threads end", 5)
