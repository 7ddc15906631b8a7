"""A token that is for less than its person: no endpoint names what lies outside of it, and it takes nothing of its person away."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver
from django.utils import timezone

from accounts import saved_views
from accounts.models import ApiToken
from accounts.roles import Role
from api.urls import urlpatterns
from inventory.models import Cluster, DirtyNode, UsageSource, Watch
from inventory.models.usage import Way
from tests.cast import bearer, make_user
from tests.database import RowsOfModule
from tests.factories import make_cluster, make_fleet

pytestmark = pytest.mark.django_db

SECRET = "nobodys-cluster"


def token(user: User, role: Role, *places: str) -> Client:
    return bearer(ApiToken.issue(user, "narrow", role, timezone.now() + timedelta(days=1), places=places)[1])


@pytest.fixture(scope="module")
def two(rows_of_module: RowsOfModule) -> User:
    """An administrator, and two clusters, of which the token is for one."""
    with rows_of_module():
        return _two()


def _two() -> User:
    ada = make_user("ada", Role.ADMIN)
    for name in ("prod", SECRET):
        cluster = make_cluster(name)
        make_fleet(cluster, nodes=3)
        UsageSource.objects.create(cluster=cluster, way=Way.DIRECT, failures=1)
        DirtyNode.objects.create(cluster=cluster, node_name="gpu-1")
        Watch.objects.filter(cluster=cluster).update(
            holder="h", expires_at=timezone.now() + timedelta(hours=1), last_event_at=timezone.now()
        )
    saved_views.save(ada, "nodes", "mine", f"cluster={SECRET}")
    saved_views.save(ada, "nodes", "shared", f"cluster={SECRET}", shared=True)
    return ada


def addresses() -> list[str]:
    """Lists and single answers without a parameter, of REST and the scrape; with a slash at the end it is the same view."""
    found = ["/metrics", "/metrics/self"]
    for one in urlpatterns:
        if isinstance(one, URLPattern | URLResolver) and "<" not in str(one.pattern):
            found.append(f"/api/v1/{one.pattern}".removesuffix("/"))
    return list(dict.fromkeys(found))


def body(client: Client, address: str) -> str:
    answer = client.get(address)
    parts = b"".join(answer) if answer.streaming else answer.content  # type: ignore[attr-defined]
    return bytes(parts).decode()


@pytest.mark.parametrize("address", addresses())
@pytest.mark.parametrize("place", ["prod", "prod/team-a"])
def test_nothing_outside_of_its_places_is_named(two: User, address: str, place: str) -> None:
    assert SECRET not in body(token(two, Role.VIEWER, place), address)


def test_metrics_of_itself_name_the_clusters_that_are_seen(two: User) -> None:
    assert 'cluster="prod"' in body(token(two, Role.VIEWER, "prod"), "/metrics/self")
    assert f'cluster="{SECRET}"' in body(token(two, Role.ADMIN), "/metrics/self")


def test_its_person_s_views_are_not_its_own(two: User) -> None:
    mine = saved_views.SavedView.objects.get(name="mine")
    narrow = token(two, Role.OPERATOR, "prod")
    assert narrow.get("/api/v1/views").json()["results"] == []
    assert narrow.get(f"/api/v1/views/{mine.pk}").status_code == 404
    assert narrow.delete(f"/api/v1/views/{mine.pk}").status_code == 404
    assert token(two, Role.ADMIN).get(f"/api/v1/views/{mine.pk}").status_code == 200


def test_what_it_saves_it_sees_and_so_does_its_person(two: User) -> None:
    narrow = token(two, Role.OPERATOR, "prod")
    made = narrow.post("/api/v1/views", {"page": "nodes", "name": "own"}, "application/json")
    assert made.status_code == 201, made.content
    assert [one["name"] for one in narrow.get("/api/v1/views").json()["results"]] == ["own"]
    assert token(two, Role.OPERATOR, SECRET).get(made.headers["Location"]).status_code == 404
    assert token(two, Role.ADMIN).delete(made.headers["Location"]).status_code == 204


def test_a_token_of_a_lesser_role_removes_none_of_its_person_s_views(two: User) -> None:
    mine = saved_views.SavedView.objects.get(name="mine")
    assert token(two, Role.VIEWER).delete(f"/api/v1/views/{mine.pk}").status_code == 403
    assert saved_views.SavedView.objects.filter(pk=mine.pk).exists()


def test_clusters_of_the_fixture_are_there(two: User) -> None:
    assert Cluster.objects.count() == 2
