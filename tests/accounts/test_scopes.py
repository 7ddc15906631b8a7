"""What a role and a token are for, and where a token may be used from."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import ApiToken, UserScope
from accounts.networks import BadNetwork, networks_in, outside
from accounts.roles import Role
from accounts.scopes import BadScope, places_in, scope_of
from audit.models import Entry
from inventory.models import Cluster
from runtime.scope import ANY, EVERYTHING, Scope
from tests.cast import bearer, make_token, make_user, signed_in
from tests.factories import make_cluster, make_node
from tests.scopes.world import scoped_token, scoped_user

pytestmark = pytest.mark.django_db


def names(client: Client, **headers: Any) -> list[str]:
    return [one["name"] for one in client.get("/api/v1/clusters", **headers).json()["results"]]


@pytest.fixture
def two(cluster: Cluster) -> Cluster:
    make_node(cluster, "gpu-1", cards=1)
    make_node(make_cluster("lab"), "gpu-2", cards=1)
    return cluster


@pytest.mark.parametrize("role", Role)
def test_who_has_no_scope_sees_everything(two: Cluster, role: Role) -> None:
    user = make_user("someone", role)
    assert names(signed_in(user)) == names(bearer(make_token(user))) == ["lab", "prod"]


def test_administrators_see_everything_whatever_stands_in_their_scope(two: Cluster) -> None:
    assert names(signed_in(scoped_user("ada", "prod", role=Role.ADMIN))) == ["lab", "prod"]


def test_a_cluster_that_is_gone_leaves_nothing_and_not_everything(two: Cluster) -> None:
    client = signed_in(scoped_user("carl", "prod"))
    assert names(client) == ["prod"]
    Cluster.objects.filter(name="prod").delete()
    assert names(client) == []
    assert "the clusters of your scope do not exist" in client.get("/").content.decode()


def test_an_empty_scope_cannot_be_stored() -> None:
    from django.db import IntegrityError

    with pytest.raises(IntegrityError):
        UserScope.objects.create(user=make_user("vera", Role.VIEWER), places="")


def test_pages_say_what_is_left_out(two: Cluster) -> None:
    page = signed_in(scoped_user("nora", "prod/team-a")).get("/").content.decode()
    assert "Your scope: prod/team-a." in page
    assert "counted without names" in page
    assert "Your scope: prod." in signed_in(scoped_user("carl", "prod")).get("/nodes").content.decode()
    assert 'id="scope"' not in signed_in(make_user("vera", Role.VIEWER)).get("/").content.decode()


def test_an_operator_of_a_cluster_acts_there_alone(two: Cluster) -> None:
    client = signed_in(scoped_user("olga", "prod", role=Role.OPERATOR))
    assert client.post("/clusters/prod/relist").status_code == 302
    assert client.post("/clusters/lab/relist").status_code == 404
    draft = {"suite": "cuda-vectoradd", "node": "gpu-2", "cluster": "lab"}
    answer = client.post("/api/v1/runs/preview", draft, content_type="application/json")
    assert answer.status_code == 400
    assert "lab" not in answer.json()["detail"].replace("'lab'", "")


def test_an_operator_of_a_namespace_looks_only(two: Cluster) -> None:
    client = signed_in(scoped_user("olga", "prod/team-a", role=Role.OPERATOR))
    draft = {"suite": "cuda-vectoradd", "node": "gpu-1", "cluster": "prod"}
    assert client.post("/api/v1/runs", draft, content_type="application/json").status_code == 403
    for path in ("/clusters/prod/relist", "/validations/runs/x/cancel"):
        assert client.post(path).status_code == 403
    assert client.post("/validations/new", {}).status_code == 403


def test_the_scope_costs_one_query_a_request_and_none_without(two: Cluster, django_assert_num_queries: Any) -> None:
    from django.db import connection

    def queries(client: Client) -> int:
        client.get("/api/v1/nodes")
        with CaptureQueriesContext(
            connection,
        ) as seen:
            client.get("/api/v1/nodes")
        return len(seen)

    plain = queries(bearer(make_token(make_user("vera", Role.VIEWER))))
    assert queries(bearer(make_token(scoped_user("carl", "prod")))) == plain + 1


def test_a_token_sees_no_more_than_both_its_places_and_its_user(two: Cluster) -> None:
    of_all, of_one = make_user("vera", Role.VIEWER), scoped_user("carl", "prod")
    assert names(bearer(scoped_token(of_all, "lab"))) == ["lab"]
    assert names(bearer(scoped_token(of_one, "lab"))) == []
    text = scoped_token(of_all, "lab")
    UserScope.objects.create(user=of_all, places="prod")
    assert names(bearer(text)) == []


@pytest.mark.parametrize(
    ("places", "role", "told"),
    [
        ("prod", "admin", "at most operator"),
        ("prod/team-a", "operator", "at most viewer"),
        ("nowhere", "viewer", "There is no cluster 'nowhere'. Clusters: lab, prod."),
        ("*", "viewer", "Invalid scope"),
        ("prod/", "viewer", "Invalid scope"),
        ("prod/Team_A", "viewer", "Invalid scope"),
    ],
)
def test_rest_refuses_places_that_are_none_or_too_high(two: Cluster, places: str, role: str, told: str) -> None:
    body = {"name": "x", "role": role, "scope": [places]}
    answer = signed_in(make_user("ada", Role.ADMIN)).post("/api/v1/tokens", body, content_type="application/json")
    assert answer.status_code == 400
    assert told in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_rest_makes_and_shows_a_token_with_limits(two: Cluster) -> None:
    client = signed_in(make_user("ada", Role.ADMIN))
    body = {"name": "x", "role": "viewer", "scope": ["prod"], "networks": ["127.0.0.0/8", "::1"]}
    made = client.post("/api/v1/tokens", body, content_type="application/json").json()
    assert (made["scope"], made["networks"]) == (["prod"], ["127.0.0.0/8", "::1/128"])
    assert names(bearer(made["token"])) == ["prod"]
    [entry] = Entry.objects.filter(action="token-create")
    assert entry.detail["scope"] == "prod"
    assert entry.detail["networks"] == "127.0.0.0/8, ::1/128"
    page = client.get("/account").content.decode()
    assert "scope: prod" in page
    assert "from 127.0.0.0/8, ::1/128" in page


@pytest.mark.parametrize(
    ("networks", "address", "status"),
    [
        ("10.0.0.0/8", "10.1.2.3", 200),
        ("10.0.0.0/8", "11.1.2.3", 401),
        ("10.0.0.7", "10.0.0.7", 200),
        ("2001:db8::/64", "2001:db8::1", 200),
        ("2001:db8::1", "2001:db8::1", 200),
        ("2001:db8::1", "2001:db8::2", 401),
        ("10.0.0.0/8", "::ffff:10.1.2.3", 200),
        ("10.0.0.0/8 2001:db8::/32", "2001:db8:1::1", 200),
        ("0.0.0.0/0", "", 401),
    ],
)
def test_a_token_works_from_its_networks_alone(two: Cluster, networks: str, address: str, status: int) -> None:
    text = make_token(make_user("vera", Role.VIEWER))
    ApiToken.objects.update(networks="\n".join(networks.split()))
    for path in ("/api/v1/nodes", "/metrics", "/api/v1/runs"):
        assert bearer(text).get(path, REMOTE_ADDR=address).status_code == status, path
    assert (ApiToken.objects.get().last_used_at is None) == (status == 401)
    refused = Entry.objects.filter(action="access", outcome="refused", actor="vera")
    assert refused.exists() == (status == 401)


def test_who_was_let_in_a_moment_ago_is_not_let_in_from_elsewhere(two: Cluster, settings: Any) -> None:
    settings.SHARED_LOOK_S = 60.0
    text = make_token(make_user("vera", Role.VIEWER))
    ApiToken.objects.update(networks="10.0.0.0/8")
    assert bearer(text).get("/api/v1/nodes", REMOTE_ADDR="10.0.0.1").status_code == 200
    assert bearer(text).get("/api/v1/nodes", REMOTE_ADDR="192.0.2.1").status_code == 401


def test_a_token_makes_none_with_wider_networks(two: Cluster) -> None:
    text = make_token(make_user("ada", Role.ADMIN), Role.ADMIN)
    ApiToken.objects.update(networks="127.0.0.0/8")

    def make(**more: Any) -> Any:
        body = {"name": "x", "role": "viewer", "expires_in_days": 1} | more
        return bearer(text).post("/api/v1/tokens", body, content_type="application/json")

    ApiToken.objects.update(expires_at="2999-01-01T00:00Z")
    assert make().json()["networks"] == ["127.0.0.0/8"]
    assert make(networks=["127.1.0.0/16"]).json()["networks"] == ["127.1.0.0/16"]
    refused = make(networks=["0.0.0.0/0"])
    assert refused.status_code == 400
    assert "0.0.0.0/0 is outside the networks" in refused.content.decode()


def test_a_token_for_places_makes_no_others(two: Cluster) -> None:
    """It is no administrator's, whoever made it."""
    text = scoped_token(make_user("ada", Role.ADMIN), "prod", role=Role.ADMIN)
    body = {"name": "x", "role": "viewer"}
    assert bearer(text).post("/api/v1/tokens", body, content_type="application/json").status_code == 403
    assert bearer(text).get("/api/v1/audit").status_code == 403
    assert len(bearer(text).get("/api/v1/tokens").json()["results"]) == 1


def test_places_are_read_as_people_write_them(two: Cluster) -> None:
    assert places_in(" prod, lab/team-a\n*/team-b prod") == ("prod", "lab/team-a", "*/team-b")
    assert places_in("") == ()
    lab = Cluster.objects.get(name="lab").pk
    expected = Scope(frozenset({two.pk}), frozenset({(lab, "team-a"), (ANY, "team-b")}))
    assert scope_of(("prod", "lab/team-a", "*/team-b")) == expected
    assert scope_of(()) == EVERYTHING
    with pytest.raises(BadScope, match="at most"):
        places_in(" ".join(f"*/n{number}" for number in range(101)))


@pytest.mark.parametrize("text", ["10.0.0.0/33", "10.0.0.1/8", "here", "::/129", "1.2.3"])
def test_what_is_no_network_is_refused_by_name(text: str) -> None:
    with pytest.raises(BadNetwork, match=text.split("/")[0]):
        networks_in(f"192.0.2.0/24 {text}")


def test_networks_within_others() -> None:
    assert outside(("10.1.0.0/16", "::1/128"), ()) == ""
    assert outside(("10.1.0.0/16",), ("10.0.0.0/8",)) == ""
    assert outside(("10.1.0.0/16", "::1/128"), ("10.0.0.0/8",)) == "::1/128"
