"""Kinds that a cluster does not serve: nobody holds their lease, and what comes is found by one question now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from inventory.mirror import served
from inventory.mirror.served import Served
from inventory.models import Cluster, Watch
from tests.kube.routed import Routed
from tests.kube.scripted import PATIENCE_S, Answer, ok, refusal
from tests.kube.words import client

GROUP = "/apis/scheduling.koordinator.sh"
THERE = ok(
    {"kind": "APIGroup", "versions": [{"groupVersion": "scheduling.koordinator.sh/v1alpha1", "version": "v1alpha1"}]}
)
DEVICES = ok({"kind": "APIResourceList", "resources": [{"name": "devices"}]})
Serve = Callable[[dict[str, list[Answer]]], Routed]


@pytest.fixture
def routed() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda routes: stack.enter_context(Routed(routes))


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "LOOK_S", 0.0)


@pytest.fixture
def absent(fresh: Cluster) -> Cluster:
    """Koordinator is not installed."""
    Watch.objects.filter(kind="devices").update(
        state="not-served", reason="no devices", next_try_at=timezone.now() + timedelta(minutes=10)
    )
    return fresh


def looked(asker: Served, server: Routed, times: int) -> None:
    """Turn its loop until the server was asked that often and the answers are taken."""
    until = time.monotonic() + PATIENCE_S
    while len(server.asked) < times or asker._thread is not None:
        assert time.monotonic() < until
        asker.step()


def row() -> dict[str, Any]:
    return Watch.objects.values("state", "reason", "next_try_at", "holder").get(kind="devices")


@pytest.mark.django_db
def test_what_came_is_watched_and_what_did_not_rests(absent: Cluster, routed: Serve, tmp_path: Path) -> None:
    groups = ["apps"], ["apps", "scheduling.koordinator.sh"]
    lists = [ok({"groups": [{"name": name} for name in names]}) for names in groups]
    server = routed({"/apis": lists, GROUP: [THERE], f"{GROUP}/v1alpha1": [DEVICES]})
    asker = Served(absent.id, client(tmp_path, server.url))
    looked(asker, server, 1)
    assert len(server.asked) == 1
    assert (row()["state"], row()["reason"]) == ("not-served", "no devices")
    assert Watch.objects.get(kind="devices").rests(timezone.now())
    looked(asker, server, 4)
    assert row() == {"state": "waiting", "reason": "", "next_try_at": None, "holder": ""}
    assert not Watch.objects.get(kind="devices").rests(timezone.now())


@pytest.mark.django_db
@pytest.mark.parametrize(
    "answer", [refusal(503, "ServiceUnavailable", "later"), Answer(b"<html>"), ok({"versions": 1})]
)
def test_an_answer_that_says_nothing_changes_nothing(
    absent: Cluster, routed: Serve, tmp_path: Path, answer: Answer
) -> None:
    server = routed({"/apis": [answer], GROUP: [answer]})
    looked(Served(absent.id, client(tmp_path, server.url)), server, 1)
    assert row()["state"] == "not-served"


@pytest.mark.django_db
def test_where_all_is_served_nothing_is_asked(fresh: Cluster, routed: Serve, tmp_path: Path) -> None:
    server = routed({})
    Watch.objects.filter(state="not-served").update(state="watching")
    asker = Served(fresh.id, client(tmp_path, server.url))
    for _ in range(3):
        asker.step()
    assert server.asked == []


@pytest.mark.django_db
def test_it_is_not_asked_more_often_than_it_should_be(
    absent: Cluster, routed: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "LOOK_S", 60.0)
    server = routed({"/apis": [ok({"groups": [{"name": "apps"}]})]})
    asker = Served(absent.id, client(tmp_path, server.url))
    looked(asker, server, 1)
    for _ in range(3):
        asker.step()
    assert asker._thread is None
    assert len(server.asked) == 1
