"""Users, by page and by command: made, given roles and scopes, deactivated, signed out; and the last administrator stays."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import ApiToken, UserScope
from accounts.roles import Role, granted
from audit.models import Entry
from inventory.models import Cluster
from tests.cast import PASSWORD, bearer, make_token, make_user, signed_in
from tests.pages.reading import Page, get
from tests.scopes.world import scoped_user

pytestmark = pytest.mark.django_db


def run(*words: str) -> str:
    out = io.StringIO()
    call_command("user", *words, stdout=out, stderr=out)
    return out.getvalue()


def places(*given: str) -> dict[str, Any]:
    """As the form of a page sends them."""
    whole, parts = [one for one in given if "/" not in one], [one for one in given if "/" in one]
    return {"scope": "some", "scope_clusters": whole, "scope_namespaces": parts}


def acts(action: str) -> list[tuple[str, str, dict[str, Any]]]:
    rows = Entry.objects.filter(action=action, outcome="done").order_by("number")
    return [(one.actor, one.target, one.detail) for one in rows]


def test_only_administrators_see_and_change_users(viewer: Client) -> None:
    user = make_user("olga", Role.OPERATOR)
    assert viewer.get("/users").status_code == 403
    for path in (
        "new",
        f"{user.pk}",
        *(f"{user.pk}/{verb}" for verb in ("deactivate", "activate", "end-sessions", "end-tokens")),
    ):
        assert viewer.post(f"/users/{path}").status_code == 403, path
        assert signed_in(user).post(f"/users/{path}").status_code == 403, path
    assert User.objects.get(pk=user.pk).is_active


def names(page: Page) -> list[str]:
    """First cell of each row, up to its first blank."""
    return [row[0].split(" ")[0] for row in page.rows]


def test_the_page_lists_users_in_as_many_queries_for_three_as_for_thirty(admin: Client, cluster: Cluster) -> None:
    scoped_user("carl", "prod")
    with CaptureQueriesContext(connection) as few:
        page = get(admin, "/users")
    assert names(page) == ["ada", "carl"]
    assert page.rows[1][1] == "viewer scope: prod"
    for number in range(30):
        make_user(f"user-{number}", Role.VIEWER)
    with CaptureQueriesContext(connection) as many:
        assert len(get(admin, "/users").rows) == 32
    assert len(many) <= len(few) <= 25
    assert names(get(admin, "/users?q=CAR")) == ["carl"]


def test_the_list_goes_on_by_pages_and_each_name_leads_to_its_page(admin: Client, cluster: Cluster) -> None:
    for number in range(5):
        make_user(f"user-{number}", Role.VIEWER)
    page, seen = get(admin, "/users?page_size=4"), []
    seen += names(page)
    assert "4 of 6" in page.text
    (following,) = [tag["href"] for tag in page.tags_of("a") if tag.get("rel") == "next"]
    seen += names(get(admin, following))
    assert seen == ["ada", *(f"user-{number}" for number in range(5))]
    (last,) = User.objects.filter(username="user-4").values_list("pk", flat=True)
    assert f"/users/{last}" in get(admin, following).links


def test_the_page_of_a_user_says_what_there_is_and_of_ended_tokens_only_some(admin: Client, cluster: Cluster) -> None:
    user = scoped_user("vera", "prod", role=Role.OPERATOR)
    SocialAccount.objects.create(user=user, provider="proxy", uid="vera")
    for number in range(12):
        ApiToken.issue(user, f"old-{number:02}", Role.VIEWER, timezone.now() - timedelta(days=1))
    make_token(user)
    with CaptureQueriesContext(connection) as few:
        page = get(admin, f"/users/{user.pk}")
    assert [row[0] for row in page.rows] == ["test", *(f"old-{number:02}" for number in range(11, 1, -1))]
    assert "All tokens in REST" in page.text
    assert "Groups set the role" in page.text
    assert 'name="scope_clusters" value="prod" checked' in page.html
    assert f"/audit?actor={user.username}" in page.links
    for number in range(12):
        ApiToken.issue(user, f"new-{number}", Role.VIEWER, timezone.now() + timedelta(days=1))
    with CaptureQueriesContext(connection) as many:
        assert len(get(admin, f"/users/{user.pk}").rows) == 23
    assert len(many) == len(few)
    assert admin.get("/users/4711").status_code == 404


def test_an_administrator_revokes_a_token_and_is_back_at_its_user(admin: Client, cluster: Cluster) -> None:
    user = make_user("vera", Role.VIEWER)
    program, token = bearer(make_token(user)), ApiToken.objects.get()
    answer = admin.post(f"/account/tokens/{token.pk}/revoke")
    assert answer.headers["Location"] == f"/users/{user.pk}"
    assert program.get("/api/v1/nodes").status_code == 401


def test_an_administrator_makes_a_user_who_signs_in(admin: Client, cluster: Cluster) -> None:
    data = {"name": "nora", "password": PASSWORD, "role": "viewer", **places("prod/team-a")}
    assert admin.post("/users/new", data).status_code == 302
    user = User.objects.get(username="nora")
    assert granted(user) == (Role.VIEWER, ["prod/team-a"])
    assert Client().login(username="nora", password=PASSWORD)
    assert acts("user-create") == [("ada", "nora", {})]
    assert acts("user-scope") == [("ada", "nora", {"scope": "prod/team-a"})]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"name": "ada"}, "already exists"),
        ({"password": "1234"}, "too short"),
        (places("nowhere"), "There is no cluster"),
        ({"role": "operator", **places("prod/team-a")}, "at most viewer"),
        ({"scope": "some"}, "Choose a cluster or a namespace."),
        ({"scope": "everything"}, "Choose a cluster or a namespace."),
        (places("prod/Team"), "Invalid scope: "),
        ({"role": ""}, "Choose a role"),
        ({"name": "a b"}, "valid username"),
    ],
)
def test_what_cannot_be_made_is_said(admin: Client, cluster: Cluster, changed: dict[str, str], told: str) -> None:
    data = {"name": "nora", "password": PASSWORD, "role": "viewer", "scope": "all"} | changed
    answer: Any = admin.post("/users/new", data)
    assert answer.status_code == 400
    assert told in answer.content.decode()
    assert PASSWORD not in answer.content.decode()
    assert list(User.objects.values_list("username", flat=True)) == ["ada"]


def test_role_and_scope_are_changed_and_act_at_once(admin: Client, cluster: Cluster) -> None:
    user = make_user("vera", Role.VIEWER)
    client = signed_in(user)
    admin.post(f"/users/{user.pk}", {"role": "operator", **places("prod")})
    assert granted(user) == (Role.OPERATOR, ["prod"])
    assert "Your scope: prod." in client.get("/").content.decode()
    admin.post(f"/users/{user.pk}", {"role": "", "scope": "all"})
    assert granted(user) == (None, [])
    assert client.get("/").status_code == 403
    assert not UserScope.objects.exists()
    page: Any = admin.post(f"/users/{user.pk}", {"role": "viewer", **places("nowhere")}, follow=True)
    assert "There is no cluster" in page.content.decode()


def test_a_deactivated_user_is_out_at_once_and_tokens_stay_ended(admin: Client, cluster: Cluster) -> None:
    user = make_user("vera", Role.VIEWER)
    client, program = signed_in(user), bearer(make_token(user))
    assert program.get("/api/v1/nodes").status_code == client.get("/").status_code == 200
    admin.post(f"/users/{user.pk}/deactivate")
    assert program.get("/api/v1/nodes").status_code == 401
    assert client.get("/").status_code == 302
    admin.post(f"/users/{user.pk}/activate")
    assert program.get("/api/v1/nodes").status_code == 401
    assert client.get("/").status_code == 302, "the session is gone, not asleep"
    assert [detail for _, _, detail in acts("user-state")] == [{"state": "deactivated"}, {"state": "active"}]


def test_sessions_end_but_the_one_that_asks(admin: Client, cluster: Cluster) -> None:
    ada, vera = User.objects.get(username="ada"), make_user("vera", Role.VIEWER)
    other, of_vera = signed_in(ada), signed_in(vera)
    admin.post(f"/users/{ada.pk}/end-sessions")
    assert other.get("/").status_code == 302
    assert admin.get("/").status_code == of_vera.get("/").status_code == 200
    admin.post(f"/users/{vera.pk}/end-sessions")
    assert of_vera.get("/").status_code == 302
    assert acts("sessions-end") == [("ada", "ada", {"ended": 1}), ("ada", "vera", {"ended": 1})]


def test_tokens_end(admin: Client, cluster: Cluster) -> None:
    user = make_user("vera", Role.VIEWER)
    program = bearer(make_token(user))
    admin.post(f"/users/{user.pk}/end-tokens")
    assert program.get("/api/v1/nodes").status_code == 401


def test_the_last_administrator_stays_one(admin: Client, cluster: Cluster) -> None:
    ada = User.objects.get(username="ada")
    for path, data in ((f"/users/{ada.pk}/deactivate", {}), (f"/users/{ada.pk}", {"role": "viewer", "scope": "all"})):
        page: Any = admin.post(path, data, follow=True)
        assert "is the last administrator" in page.content.decode()
    for words in (("deactivate", "ada"), ("set", "ada", "--role", "none")):
        with pytest.raises(CommandError, match="last administrator"):
            run(*words)
    assert granted(User.objects.get(pk=ada.pk)) == (Role.ADMIN, [])
    retired = make_user("old", Role.ADMIN)
    run("deactivate", "old")
    with pytest.raises(CommandError, match="last administrator"):
        run("deactivate", "ada")
    run("activate", "old")
    run("set", "ada", "--role", "viewer")
    assert granted(User.objects.get(pk=ada.pk)) == (Role.VIEWER, [])
    assert retired.is_active


def test_the_command_does_the_same(cluster: Cluster) -> None:
    make_user("ada", Role.ADMIN)
    user = make_user("vera", Role.VIEWER)
    client = signed_in(user)
    assert run("set", "vera", "--role", "operator", "--scope", "prod") == "User vera has the role operator for prod.\n"
    assert "vera  operator for prod  active" in run("list")
    assert run("set", "vera", "--scope", "everything") == "User vera has the role operator.\n"
    make_token(user)
    assert run("end-tokens", "vera") == "Revoked tokens of vera: 1.\n"
    assert not ApiToken.objects.filter(revoked_at=None).exists()
    assert run("end-sessions", "vera") == "Ended sessions of vera: 1.\n"
    assert client.get("/").status_code == 302
    for words, told in (
        (("set", "nobody", "--role", "viewer"), "There is no user 'nobody'"),
        (("set", "vera"), "--role or --scope is required"),
        (("set", "vera", "--scope", "nowhere"), "--scope: There is no cluster"),
        (("set", "vera", "--role", "admin", "--scope", "prod"), "at most operator"),
    ):
        with pytest.raises(CommandError, match=told):
            run(*words)
