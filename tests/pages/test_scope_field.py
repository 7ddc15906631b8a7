"""A scope is ticked and typed, and told in numbers before it is saved; nothing chosen is never everything."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import ApiToken
from accounts.roles import Role, granted
from inventory.models import Cluster, Pod
from pages import scope_field
from pages.scope_field import ScopeField
from tests.cast import make_user, signed_in
from tests.factories import make_cluster, make_node, make_pending_pod
from tests.pages.reading import Page, get
from tests.scopes.world import scoped_user

pytestmark = pytest.mark.django_db
REACH = "/account/scope"


def make_pod(cluster: Cluster, name: str, namespace: str) -> None:
    make_pending_pod(cluster, name)
    Pod.objects.filter(cluster=cluster, name=name).update(namespace=namespace)


@pytest.fixture
def two(cluster: Cluster) -> Cluster:
    """prod with three nodes and the namespaces team-a and team-b; lab with a node and team-a."""
    lab = make_cluster("lab")
    for number in range(3):
        make_node(cluster, f"gpu-{number}", cards=1)
    make_node(lab, "lab-0", cards=1)
    make_pod(cluster, "one", "team-a")
    make_pod(cluster, "two", "team-b")
    make_pod(cluster, "three", "team-b")
    make_pod(lab, "four", "team-a")
    return cluster


def reach(client: Client, query: str) -> str:
    return get(client, f"{REACH}?{query}").text


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("scope=all", "Sees 2 clusters · 4 nodes · 3 namespaces"),
        ("scope=all&scope_clusters=lab", "Sees 2 clusters · 4 nodes · 3 namespaces"),
        ("scope=some&scope_clusters=prod", "Sees 1 cluster · 3 nodes · 2 namespaces"),
        ("scope=some&scope_clusters=lab&scope_namespaces=prod/team-a", "Sees 2 clusters · 4 nodes · 2 namespaces"),
        ("scope=some&scope_namespaces=prod/team-b", "Sees 1 cluster · 3 nodes · 1 namespace"),
        ("scope=some&scope_namespaces=*/team-a", "Sees 2 clusters · 4 nodes · 2 namespaces"),
        ("scope=some&scope_namespaces=*/team-c", "0 namespaces ! warning No pods seen: */team-c"),
        ("scope=some&scope_namespaces=prod/tema-a&scope_namespaces=", "No pods seen: prod/tema-a"),
        ("scope=some&scope_namespaces=prod/team-a,+lab/team-a", "Sees 2 clusters · 4 nodes · 2 namespaces"),
        ("scope=some", "Choose a cluster or a namespace."),
        ("scope=some&scope_namespaces=+", "Choose a cluster or a namespace."),
        ("scope_clusters=prod", "Choose a cluster or a namespace."),
        ("", "Choose a cluster or a namespace."),
        ("scope=some&scope_namespaces=team-a", "Use cluster/namespace or */namespace."),
        ("scope=some&scope_namespaces=prod/", "Invalid scope: 'prod/'"),
        ("scope=some&scope_clusters=nope", "There is no cluster 'nope'"),
    ],
)
def test_what_is_chosen_is_told_in_numbers(admin: Client, two: Cluster, query: str, told: str) -> None:
    assert told in reach(admin, query)


def test_the_numbers_cost_the_same_for_few_and_many(admin: Client, two: Cluster) -> None:
    with CaptureQueriesContext(connection) as few:
        reach(admin, "scope=some&scope_clusters=prod")
    for number in range(30):
        make_pod(two, f"pod-{number}", f"ns-{number:02}")
        make_node(two, f"node-{number}", cards=1)
    with CaptureQueriesContext(connection) as many:
        text = reach(admin, "scope=some&scope_clusters=prod")
    assert "33 nodes · 32 namespaces" in text
    assert len(many) == len(few) <= 20


def offered(page: Page) -> list[str]:
    return [tag["value"] for tag in page.tags_of("option") if "/" in tag["value"]]


def test_names_are_offered_as_they_are_typed(admin: Client, two: Cluster, monkeypatch: Any) -> None:
    assert offered(get(admin, REACH)) == ["lab/team-a", "prod/team-a", "prod/team-b"]
    assert offered(get(admin, f"{REACH}?scope=some&scope_namespaces=team-b")) == ["prod/team-b"]
    chosen = f"{REACH}?scope=some&scope_namespaces=prod/team-a"
    assert offered(get(admin, chosen)) == ["lab/team-a", "prod/team-a", "prod/team-b"]
    assert offered(get(admin, f"{chosen}&scope_namespaces=lab")) == ["lab/team-a"]
    monkeypatch.setattr(scope_field, "OFFERED", 2)
    assert offered(get(admin, REACH)) == ["lab/team-a", "prod/team-a"]


def test_nobody_learns_of_what_they_do_not_see(two: Cluster) -> None:
    carl = signed_in(scoped_user("carl", "prod/team-b"))
    page = get(carl, "/account")
    assert "lab" not in [tag.get("value") for tag in page.tags_of("input")]
    assert offered(page) == offered(get(carl, REACH)) == ["prod/team-b"]
    assert "Sees 1 cluster · 3 nodes · 1 namespace" in reach(carl, "scope=all")
    assert "There is no cluster 'lab'" in reach(carl, "scope=some&scope_clusters=lab")
    assert "No pods seen: prod/team-a" in reach(carl, "scope=some&scope_namespaces=prod/team-a")


def boxes(page: Page) -> dict[str, bool]:
    found = [tag for tag in page.tags_of("input") if tag.get("name") == "scope_clusters"]
    return {tag["value"]: "checked" in tag for tag in found}


def typed(page: Page) -> list[str]:
    return [tag["value"] for tag in page.tags_of("input") if tag.get("name") == "scope_namespaces"]


def test_the_page_of_a_user_shows_what_there_is_and_saves_what_is_chosen(admin: Client, two: Cluster) -> None:
    user = scoped_user("carl", "prod", "lab/team-a")
    page = get(admin, f"/users/{user.pk}")
    assert boxes(page) == {"lab": False, "prod": True}
    assert typed(page) == ["lab/team-a", "", ""]
    assert "Sees 2 clusters · 4 nodes · 3 namespaces" in page.text
    sent = {"role": "viewer", "scope": "some", "scope_clusters": ["lab"], "scope_namespaces": ["", " */team-a "]}
    admin.post(f"/users/{user.pk}", sent)
    assert granted(user) == (Role.VIEWER, ["lab", "*/team-a"])
    admin.post(f"/users/{user.pk}", sent | {"scope": "all"})
    assert granted(user) == (Role.VIEWER, [])


def test_a_check_without_javascript_saves_nothing(admin: Client, two: Cluster) -> None:
    user = scoped_user("carl", "prod")
    sent = {"role": "viewer", "scope": "some", "scope_namespaces": ["prod/team-a"], "check": "1"}
    answer: Any = admin.post(f"/users/{user.pk}", sent)
    assert answer.status_code == 200
    assert "1 namespace" in answer.content.decode()
    assert granted(user) == (Role.VIEWER, ["prod"])
    answer = admin.post("/users/new", sent | {"name": "nora", "password": "correct horse battery"})
    assert "1 namespace" in answer.content.decode()
    assert "correct horse" not in answer.content.decode()
    answer = signed_in(user).post("/account/tokens", sent | {"name": "ci", "expires_in_days": 5})
    assert answer.status_code == 200
    assert not ApiToken.objects.exists()


def test_a_cluster_that_is_gone_is_named_until_it_is_taken_out(admin: Client, two: Cluster) -> None:
    user = scoped_user("carl", "prod", "lab")
    Cluster.objects.filter(name="lab").delete()
    page = get(admin, f"/users/{user.pk}")
    assert boxes(page) == {"prod": True, "lab": True}
    assert "lab does not exist" in page.text
    sent = {"role": "viewer", "scope": "some", "scope_clusters": ["prod", "lab"]}
    assert "There is no cluster" in admin.post(f"/users/{user.pk}", sent).content.decode()
    admin.post(f"/users/{user.pk}", sent | {"scope_clusters": ["prod"]})
    assert granted(user) == (Role.VIEWER, ["prod"])


def test_a_token_has_its_own_scope_or_a_narrower_one(two: Cluster) -> None:
    olga = make_user("olga", Role.OPERATOR)
    client, body = signed_in(olga), {"name": "ci", "role": "viewer", "expires_in_days": 5}
    assert client.post("/account/tokens", body).status_code == 400, "nothing chosen is nothing"
    client.post("/account/tokens", body | {"scope": "all"})
    client.post("/account/tokens", body | {"scope": "some", "scope_namespaces": ["prod/team-a"]})
    assert sorted(ApiToken.objects.values_list("places", flat=True)) == ["", "prod/team-a"]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "a" * 100_000, "\x00", "\u202eprod/x", "prod/x\nlab"])
def test_strange_text_is_refused_and_escaped(admin: Client, two: Cluster, text: str) -> None:
    data = QueryDict(mutable=True)
    data["scope"] = "some"
    data.setlist("scope_namespaces", [text])
    with pytest.raises(Exception, match=r"Invalid|Choose|There is no|scope"):
        ScopeField("All clusters").clean(scope_field.typed_in(data, "scope"))
    answer: Any = admin.post("/users/new", data)
    assert answer.status_code == 400
    assert "<script>alert" not in answer.content.decode()


def test_more_entries_than_a_scope_has_are_refused(admin: Client, two: Cluster) -> None:
    user = make_user("vera", Role.VIEWER)
    sent = {"role": "viewer", "scope": "some", "scope_namespaces": [f"prod/ns-{n}" for n in range(101)]}
    assert "at most 100 entries" in admin.post(f"/users/{user.pk}", sent).content.decode()
