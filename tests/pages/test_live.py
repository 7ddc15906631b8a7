"""The live refresh: only the part that changes, and nothing at all when nothing changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from inventory.models import Allocation, Card, Cluster, Watch
from pages.frame.live import fingerprint_of
from tests.factories import make_node

PAGES = (
    "/",
    "/nodes",
    "/cards",
    "/allocations",
    "/allocations/pending",
    "/allocations/idle",
    "/namespaces",
    "/fit",
    "/map",
    "/findings",
    "/clusters",
    "/nodes/prod/a",
)


def _ask(client: Client, path: str, fingerprint: str = "") -> Any:
    return client.get(path, headers={"HX-Request": "true", "X-Fingerprint": fingerprint})


@pytest.mark.parametrize("path", PAGES)
def test_an_unchanged_page_answers_with_nothing(viewer: Client, cluster: Cluster, path: str) -> None:
    make_node(cluster, "a")
    first = _ask(viewer, path)
    again = _ask(viewer, path, first.headers["X-Fingerprint"])
    assert (first.status_code, again.status_code, again.content) == (200, 204, b"")


@pytest.mark.parametrize("path", PAGES)
def test_the_page_and_its_part_have_the_same_fingerprint(viewer: Client, cluster: Cluster, path: str) -> None:
    make_node(cluster, "a")
    fingerprint = _ask(viewer, path).headers["X-Fingerprint"]
    page = viewer.get(path)
    assert f'data-fingerprint="{fingerprint}"' in page.content.decode()
    assert b"<html" not in _ask(viewer, path).content
    assert "HX-Request" in page.headers["Vary"]


def test_a_card_page_stays_the_same_while_nothing_happens(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a")
    path = f"/cards/{Card.objects.filter(index=1).get().pk}?window=30d"
    assert _ask(viewer, path, _ask(viewer, path).headers["X-Fingerprint"]).status_code == 204


def test_a_change_is_answered_with_the_part(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", loads=(0.4,))
    first = _ask(viewer, "/allocations")
    Allocation.objects.filter(pod="train-a-0-0").delete()
    second = _ask(viewer, "/allocations", first.headers["X-Fingerprint"])
    assert second.status_code == 200
    assert "train-a-0-0" not in second.content.decode()


def test_ages_alone_are_no_change() -> None:
    old, new = (f'<td><time datetime="T" data-form="ago">{n} s ago</time></td>' for n in (5, 6))
    assert fingerprint_of(old) == fingerprint_of(new)
    assert fingerprint_of(old) != fingerprint_of(old.replace('"T"', '"U"'))


def test_the_state_of_the_clusters_comes_when_it_changes(viewer: Client, cluster: Cluster) -> None:
    fingerprint = _ask(viewer, "/nodes").headers["X-Fingerprint"]
    Watch.objects.update(state="refused", reason="401")
    answer = _ask(viewer, "/nodes", fingerprint)
    assert json.loads(answer.headers["HX-Trigger"])["sync"]["level"] == "error"
    assert "access denied" in answer.content.decode()
