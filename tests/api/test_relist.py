"""`POST /api/v1/clusters/{name}/relist`, and states that are known from the clock."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.roles import Role
from inventory.models import Cluster, Watch
from inventory.models.cluster import Kind
from tests.cast import bearer, make_token, make_user

pytestmark = pytest.mark.django_db


def test_an_operators_token_has_a_cluster_listed_anew(fleet: Cluster) -> None:
    program = bearer(make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))
    response = program.post("/api/v1/clusters/prod/relist")
    assert response.status_code == 202
    assert response.json() == {
        "cluster": "prod",
        "kinds": list(Kind.values),
    }
    watches = program.get("/api/v1/clusters/prod").json()["watches"]
    assert {one["relist_reason"] for one in watches} == {"requested by olga"}
    assert all(one["relist_requested_at"] for one in watches)


def test_a_viewers_token_may_not_and_an_unknown_cluster_is_named(api: Client, fleet: Cluster) -> None:
    assert api.post("/api/v1/clusters/prod/relist").status_code == 403
    program = bearer(make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))
    assert program.post("/api/v1/clusters/nope/relist").status_code == 404
    assert not Watch.objects.exclude(relist_reason="").exists()


def test_a_dead_watcher_does_not_say_watching(api: Client, fleet: Cluster) -> None:
    ended = timezone.now() - timedelta(minutes=5)
    Watch.objects.update(expires_at=ended)
    answer = api.get("/api/v1/clusters/prod").json()
    assert answer["state"] == "unwatched"
    resting = {"not-served", "not-needed"}
    assert {one["state"] for one in answer["watches"]} - resting == {"unwatched"}
    assert answer["since"].startswith(f"{ended:%Y-%m-%dT%H:%M}")


def test_a_silent_cluster_says_so_with_its_age(api: Client, fleet: Cluster) -> None:
    Watch.objects.exclude(kind="cards").update(last_event_at=timezone.now() - timedelta(minutes=9))
    answer = api.get("/api/v1/clusters/prod").json()
    assert (answer["state"], round(answer["age_seconds"] / 60)) == ("silent", 9)
