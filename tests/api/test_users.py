"""Accounts over REST: what an administrator's program does to them, what it may not give, and that the audit log has it."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import two_factor
from accounts.models import ApiToken
from accounts.roles import Role, granted
from audit.models import Entry
from inventory.models import Cluster
from tests.cast import PASSWORD, bearer, make_token, make_user, signed_in
from tests.scopes.world import scoped_user

pytestmark = pytest.mark.django_db

USERS = "/api/v1/users"
NEW = {"name": "nora", "password": PASSWORD, "role": "viewer", "scope": ["prod/team-a"]}
JSON = "application/json"


@pytest.fixture
def program(db: None, cluster: Cluster) -> Client:
    """A token of ada, an administrator."""
    return bearer(make_token(make_user("ada", Role.ADMIN), Role.ADMIN))


def names(answer: Any) -> list[str]:
    return [row["name"] for row in answer.json()["results"]]


def acts(action: str, outcome: str = "done") -> list[tuple[str, str, str, dict[str, Any]]]:
    rows = Entry.objects.filter(action=action, outcome=outcome).order_by("number")
    return [(one.actor, one.kind, one.target, one.detail) for one in rows]


def patch(client: Client, user: User, **change: Any) -> Any:
    return client.patch(f"{USERS}/{user.pk}", change, content_type=JSON)


def test_a_user_is_made_who_signs_in_and_the_log_says_by_which_token(program: Client) -> None:
    answer: Any = program.post(USERS, NEW, content_type=JSON)
    assert answer.status_code == 201, answer.content
    made = User.objects.get(username="nora")
    assert answer.headers["Location"] == f"{USERS}/{made.pk}"
    told = answer.json()
    assert PASSWORD not in answer.content.decode()
    assert told | {"created_at": ""} == {
        "id": made.pk,
        "name": "nora",
        "role": "viewer",
        "scope": ["prod/team-a"],
        "active": True,
        "sign_in_method": "password",
        "two_factor": False,
        "tokens": 0,
        "created_at": "",
        "signed_in_at": None,
    }
    assert program.get(f"{USERS}/{made.pk}").json() == told
    assert Client().login(username="nora", password=PASSWORD)
    assert acts("user-create") == [("ada", "token", "nora", {})]
    assert acts("user-scope") == [("ada", "token", "nora", {"scope": "prod/team-a"})]
    assert PASSWORD not in str(list(Entry.objects.values()))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"name": "ada"}, "name"),
        ({"name": "a b"}, "name"),
        ({"name": ""}, "name"),
        ({"password": "1234"}, "password"),
        ({"password": "x" * 1025}, "password"),
        ({"role": "root"}, "role"),
        ({"role": None}, "role"),
        ({"role": "operator"}, "role"),
        ({"scope": ["nowhere"]}, "scope"),
        ({"scope": "prod"}, "scope"),
        ({"active": False}, "active"),
    ],
)
def test_what_cannot_be_made_is_said_at_its_field(program: Client, changed: dict[str, Any], field: str) -> None:
    answer: Any = program.post(USERS, NEW | changed, content_type=JSON)
    assert answer.status_code == 400
    assert {one["field"] for one in answer.json()["errors"]} == {field}
    assert list(User.objects.values_list("username", flat=True)) == ["ada"]
    assert acts("user-create") == []


def test_the_list_says_of_each_what_it_may_and_how_it_signs_in(program: Client) -> None:
    carl = scoped_user("carl", "prod", "*/team-a", role=Role.OPERATOR)
    SocialAccount.objects.create(user=carl, provider="oidc-0123456789abcdef", uid="1")
    gone = make_user("gone", Role.VIEWER)
    two_factor.switch_on(gone, two_factor.new_secret())
    ApiToken.issue(gone, "ended", Role.VIEWER, timezone.now() - timedelta(days=1))
    make_token(gone)
    gone.set_password(PASSWORD)
    gone.save()
    patch(program, gone, active=False)
    SocialAccount.objects.create(user=make_user("pia"), provider="proxy", uid="pia")
    rows = {row["name"]: row for row in program.get(USERS).json()["results"]}
    told = ("role", "scope", "active", "sign_in_method", "two_factor", "tokens")
    assert {name: [row[one] for one in told] for name, row in rows.items()} == {
        "ada": ["admin", [], True, "none", False, 1],
        "carl": ["operator", ["prod", "*/team-a"], True, "oidc", False, 0],
        "gone": ["viewer", [], False, "password", True, 0],
        "pia": [None, [], True, "proxy", False, 0],
    }
    for query, found in {
        "q=AR": ["carl"],
        "role=admin&role=none": ["ada", "pia"],
        "active=false": ["gone"],
        "sign_in_method=oidc&sign_in_method=proxy": ["carl", "pia"],
        "sign_in_method=password": ["gone"],
        "sign_in_method=none": ["ada"],
        "limited=true": ["carl"],
        "limited=false&active=true": ["ada", "pia"],
        "ordering=-tokens,name": ["ada", "carl", "gone", "pia"],
        "ordering=-name": ["pia", "gone", "carl", "ada"],
    }.items():
        assert names(program.get(f"{USERS}?{query}")) == found, query
    text = b"".join(program.get(f"{USERS}?format=csv")).decode()
    assert [row["name"] for row in csv.DictReader(io.StringIO(text))] == ["ada", "carl", "gone", "pia"]
    assert "0123456789abcdef" not in f"{rows}{text}"


def test_the_highest_role_counts_as_it_does_at_the_door(program: Client) -> None:
    user = make_user("vera", Role.VIEWER)
    user.groups.add(*User.objects.get(username="ada").groups.all())
    root = User.objects.create_superuser("root")
    for one in (user, root):
        assert granted(one)[0] == program.get(f"{USERS}/{one.pk}").json()["role"] == "admin"


def test_pages_go_on_by_cursor_and_cost_the_same_whatever_their_number(program: Client) -> None:
    program.get(USERS)
    for number in range(7):
        make_user(f"user-{number}", Role.VIEWER)
    with CaptureQueriesContext(connection) as few:
        page = program.get(f"{USERS}?page_size=3").json()
    seen = [row["name"] for row in page["results"]]
    while page["next"]:
        page = program.get(page["next"]).json()
        seen += [row["name"] for row in page["results"]]
    assert seen == ["ada", *(f"user-{number}" for number in range(7))]
    with CaptureQueriesContext(connection) as many:
        assert len(names(program.get(f"{USERS}?page_size=1000"))) == 8
    assert len(many) == len(few)


def test_what_is_left_out_of_a_change_stays(program: Client) -> None:
    user = scoped_user("vera", "prod")
    client = signed_in(user)
    assert patch(program, user, role="operator").json()["scope"] == ["prod"]
    assert granted(user) == (Role.OPERATOR, ["prod"])
    assert patch(program, user, scope=[]).json()["role"] == "operator"
    assert patch(program, user).json()["role"] == "operator"
    assert client.get("/").status_code == 200
    assert patch(program, user, role=None).json()["role"] is None
    assert client.get("/").status_code == 403
    assert [detail for *_, detail in acts("user-role")] == [
        *({"role": one} for one in ("admin", "viewer", "operator", "none")),
    ]


def test_a_change_that_is_refused_changes_nothing_of_it(program: Client) -> None:
    user = make_user("vera", Role.VIEWER)
    for change, field in (
        ({"role": "operator", "scope": ["prod/team-a"], "active": False}, "role"),
        ({"role": "operator", "scope": ["nowhere"]}, "scope"),
        ({"role": "king"}, "role"),
        ({"name": "other"}, "name"),
    ):
        answer = patch(program, user, **change)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)
    user.refresh_from_db()
    assert (user.is_active, granted(user)) == (True, (Role.VIEWER, []))


def test_a_deactivated_account_keeps_its_role_and_nothing_that_lets_in(program: Client) -> None:
    user = scoped_user("vera", "prod", role=Role.OPERATOR)
    client, own = signed_in(user), bearer(make_token(user))
    assert patch(program, user, active=False).json()["active"] is False
    assert (client.get("/").status_code, own.get("/api/v1/nodes").status_code) == (302, 401)
    assert patch(program, user, active=False).status_code == 200
    assert patch(program, user, role="viewer").json()["scope"] == ["prod"]
    again = patch(program, user, active=True).json()
    assert (again["active"], again["role"], again["scope"]) == (True, "viewer", ["prod"])
    assert own.get("/api/v1/nodes").status_code == 401, "it has ended, and does not sleep"
    assert [detail for *_, detail in acts("user-state")] == [{"state": "deactivated"}, {"state": "active"}]


def test_the_last_administrator_stays_one(program: Client) -> None:
    ada = User.objects.get(username="ada")
    for change in ({"active": False}, {"role": "viewer"}, {"role": None}):
        answer = patch(program, ada, **change)
        assert answer.status_code == 409
        assert "last administrator" in answer.json()["detail"]
    assert granted(User.objects.get(pk=ada.pk)) == (Role.ADMIN, [])


def test_sessions_and_tokens_end_and_the_answer_says_how_many(program: Client) -> None:
    user = make_user("vera", Role.VIEWER)
    clients = [signed_in(user), signed_in(user)]
    make_token(user)
    assert program.post(f"{USERS}/{user.pk}/end-sessions").json() == {"ended": 2}
    assert program.post(f"{USERS}/{user.pk}/end-tokens").json() == {"ended": 1}
    assert program.post(f"{USERS}/{user.pk}/end-tokens").json() == {"ended": 0}
    assert [client.get("/").status_code for client in clients] == [302, 302]
    assert acts("sessions-end") == [("ada", "token", "vera", {"ended": 2})]
    ada = signed_in(User.objects.get(username="ada"))
    own = User.objects.get(username="ada").pk
    assert ada.post(f"{USERS}/{own}/end-sessions").json() == {"ended": 0}
    assert ada.get("/").status_code == 200, "the session that asks stays"


def test_who_is_not_there_is_404_with_where_to_look(program: Client) -> None:
    for method, path in (("get", ""), ("patch", ""), ("post", "/end-sessions"), ("post", "/end-tokens")):
        answer = getattr(program, method)(f"{USERS}/4711{path}", {}, content_type=JSON)
        assert (answer.status_code, "/api/v1/users lists them" in answer.json()["detail"]) == (404, True), path


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_only_administrators_ask(program: Client, role: Role) -> None:
    user = make_user("vera", role)
    for client in (
        signed_in(user),
        bearer(make_token(user, role)),
        bearer(make_token(User.objects.get(username="ada"), role)),
    ):
        for method, path in (("get", ""), ("post", ""), ("get", f"/{user.pk}"), ("patch", f"/{user.pk}")):
            assert getattr(client, method)(f"{USERS}{path}", NEW, content_type=JSON).status_code == 403
        for verb in ("end-sessions", "end-tokens"):
            assert client.post(f"{USERS}/{user.pk}/{verb}").status_code == 403
    assert not User.objects.filter(username="nora").exists()


def test_by_a_token_nobody_becomes_an_administrator(program: Client) -> None:
    vera, boss = make_user("vera", Role.VIEWER), make_user("boss", Role.ADMIN)
    assert patch(program, boss, active=False).status_code == 200
    for answer in (
        program.post(USERS, NEW | {"role": "admin", "scope": []}, content_type=JSON),
        patch(program, vera, role="admin"),
        patch(program, boss, active=True),
    ):
        assert (answer.status_code, "no" in answer.json()["detail"]) == (403, True)
    assert patch(program, boss, role=None).status_code == 200
    ada = signed_in(User.objects.get(username="ada"))
    assert patch(ada, vera, role="admin").status_code == 200
    assert granted(vera) == (Role.ADMIN, [])


def test_a_token_of_some_networks_takes_away_and_gives_nothing(program: Client) -> None:
    ada, vera = User.objects.get(username="ada"), make_user("vera", Role.VIEWER)
    until = timezone.now() + timedelta(days=1)
    limited = bearer(ApiToken.issue(ada, "ci", Role.ADMIN, until, networks=("127.0.0.0/8",))[1])
    assert limited.get(USERS).status_code == 200
    assert limited.post(USERS, NEW, content_type=JSON).status_code == 403
    assert patch(limited, vera, role="operator").status_code == 403
    assert patch(limited, vera, role=None).status_code == 200
    assert patch(limited, vera, active=False).status_code == 200
    assert limited.post(f"{USERS}/{vera.pk}/end-tokens").status_code == 200


def test_a_token_for_places_is_no_administrators(program: Client) -> None:
    ada = User.objects.get(username="ada")
    until = timezone.now() + timedelta(days=1)
    assert bearer(ApiToken.issue(ada, "ci", Role.ADMIN, until, places=("prod",))[1]).get(USERS).status_code == 403
