"""Signing in by OpenID Connect: what is believed of an answer of the issuer, and what becomes of it.

Forged tokens: test_forged. Dex: test_dex.
"""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from accounts.issuer import published
from accounts.roles import Role, granted
from audit.models import Entry
from tests.accounts.openid.asking import asked, sign_in, use
from tests.accounts.openid.issuer import CLIENT, CLIENT_SECRET, Issuer, issuer
from tests.cast import PASSWORD, make_token, make_user

pytestmark = pytest.mark.django_db


def test_who_is_in_a_group_is_signed_in_with_its_role(there: Issuer) -> None:
    client = Client()
    assert sign_in(there, client, groups=["ops", "unknown"]).headers["Location"] == "/account"
    assert client.get("/account").status_code == 200
    user = User.objects.get()
    assert (user.username, user.has_usable_password(), granted(user)) == ("ana", False, (Role.OPERATOR, ["prod"]))
    told = [(one.action, one.detail.get("by")) for one in Entry.objects.order_by("number")]
    assert ("sign-in", "single sign-on") in told


def test_the_question_holds_to_this_browser(there: Issuer) -> None:
    question = asked(Client())
    assert question["redirect_uri"] == "http://testserver/sign-in/oidc/callback"
    assert (question["response_type"], question["code_challenge_method"]) == ("code", "S256")
    assert question["client_id"] == CLIENT
    assert set(question["scope"].split()) == {"openid", "groups"}
    assert len(question["state"]) >= 16
    assert len(question["nonce"]) >= 16
    sign_in(there)
    assert len(there.asked["code_verifier"][0]) >= 43


@pytest.mark.parametrize(
    ("groups", "has"),
    [
        (["team"], (Role.VIEWER, ["prod/team-a"])),
        (["ops", "more-ops", "all"], (Role.OPERATOR, ["prod", "lab"])),
        (["team", "all"], (Role.VIEWER, [])),
        (["team", "admins"], (Role.ADMIN, [])),
        ("all", (Role.VIEWER, [])),
    ],
)
def test_the_highest_role_counts(there: Issuer, groups: Any, has: Any) -> None:
    sign_in(there, groups=groups)
    assert granted(User.objects.get()) == has


def test_role_and_scope_follow_at_each_sign_in(there: Issuer) -> None:
    for groups in (["admins"], ["team"], ["ops"]):
        sign_in(there, groups=groups)
    assert granted(User.objects.get()) == (Role.OPERATOR, ["prod"])
    assert [one.actor for one in Entry.objects.filter(action="user-role")] == ["", "", ""]


@pytest.mark.parametrize("groups", [[], ["unknown"], None, 7, {"all": True}, [["all"]]])
def test_who_is_in_no_group_is_told_so(there: Issuer, groups: Any) -> None:
    client = Client()
    answer = sign_in(there, client, groups=groups)
    assert (answer.status_code, "None of your groups has access" in answer.content.decode()) == (403, True)
    assert client.get("/account").status_code == 302


def test_who_has_left_all_groups_loses_role_and_sessions(there: Issuer) -> None:
    first, second = Client(), Client()
    sign_in(there, first, groups=["admins"])
    assert first.get("/users").status_code == 200
    assert sign_in(there, second, groups=[]).status_code == 403
    assert first.get("/users").status_code == 302
    assert granted(User.objects.get()) == (None, [])
    assert Entry.objects.filter(action="sign-in", outcome="refused", detail__why="no group with a role").count() == 1


def test_a_deactivated_account_stays_out_and_keeps_its_role(there: Issuer) -> None:
    sign_in(there)
    User.objects.update(is_active=False)
    answer = sign_in(there, groups=["admins"])
    assert (answer.status_code, "deactivated" in answer.content.decode()) == (403, True)
    User.objects.update(is_active=True)
    assert granted(User.objects.get()) == (Role.VIEWER, [])


def test_nobody_gets_into_a_local_account_of_the_same_name_or_address(there: Issuer) -> None:
    local = make_user("ana", Role.ADMIN)
    local.email = "ana@example.com"
    local.set_password(PASSWORD)
    local.save()
    client = Client()
    sign_in(there, client, email="ana@example.com", email_verified=True)
    assert client.get("/users").status_code == 403
    other = User.objects.exclude(pk=local.pk).get()
    assert (other.username, other.email, granted(other)) == ("ana-2", "", (Role.VIEWER, []))
    assert granted(User.objects.get(pk=local.pk)) == (Role.ADMIN, [])


def test_an_account_is_its_subject_whatever_its_name(there: Issuer) -> None:
    sign_in(there)
    sign_in(there, preferred_username="anastasia")
    assert User.objects.get().username == "ana"
    sign_in(there, sub="s-2")
    assert [one.username for one in User.objects.order_by("pk")] == ["ana", "ana-2"]


def test_the_same_subject_of_another_issuer_is_somebody_else(there: Issuer, settings: Any) -> None:
    sign_in(there, groups=["admins"])
    with issuer() as other:
        use(settings, other.url)
        sign_in(other, groups=["all"])
    assert [(one.username, granted(one)[0]) for one in User.objects.order_by("pk")] == [
        ("ana", Role.ADMIN),
        ("ana-2", Role.VIEWER),
    ]


@pytest.mark.parametrize("name", ["../../etc", "Ä b", "x" * 500, "\x00", "<script>", ""])
def test_any_name_becomes_one(there: Issuer, name: str) -> None:
    assert sign_in(there, preferred_username=name).status_code == 302
    User.objects.get().full_clean(exclude=["password"])


def test_a_state_counts_once_and_in_its_own_browser(there: Issuer) -> None:
    mine, other = Client(), Client()
    question = asked(mine)
    there.claims["nonce"] = question["nonce"]
    answer = {"code": "c", "state": question["state"]}
    assert other.get("/sign-in/oidc/callback", answer).status_code == 400
    assert mine.get("/sign-in/oidc/callback", {**answer, "state": "x" * 16}).status_code == 400
    assert mine.get("/sign-in/oidc/callback", {"code": "c"}).status_code == 400
    assert mine.get("/sign-in/oidc/callback", answer).status_code == 302
    assert mine.get("/sign-in/oidc/callback", answer).status_code == 400


@pytest.mark.parametrize("error", ["access_denied", "server_error"])
def test_who_turns_back_at_the_issuer_sees_a_page(there: Issuer, error: str) -> None:
    client = Client()
    question = asked(client)
    answer = client.get("/sign-in/oidc/callback", {"error": error, "state": question["state"]})
    assert (answer.status_code, "Start again from the sign-in page" in answer.content.decode()) == (400, True)


@pytest.mark.parametrize("after", ["https://evil.example/", "//evil.example", "javascript:alert(1)", ""])
def test_nobody_is_sent_to_another_host(there: Issuer, after: str) -> None:
    client = Client()
    question = asked(client, after)
    there.claims["nonce"] = question["nonce"]
    answer = client.get("/sign-in/oidc/callback", {"code": "c", "state": question["state"], "next": "//evil.example"})
    assert answer.headers["Location"] == "/"


@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_issuer_that_is_away_is_a_clear_page(settings: Any, moment: str, caplog: Any) -> None:
    client = Client()
    with issuer() as there:
        use(settings, there.url)
        question = asked(client)
    published.clear()
    path = {"before": "/sign-in/oidc", "after": "/sign-in/oidc/callback"}[moment]
    with caplog.at_level(logging.WARNING):
        answer = client.get(path, {"code": "a-code", "state": question["state"]})
    assert (answer.status_code, "Sign-in with Company failed" in answer.content.decode()) == (503, True)
    assert "a-code" not in caplog.text
    assert CLIENT_SECRET not in caplog.text


@pytest.mark.parametrize(
    "document", [{"issuer": "https://other.example"}, {"jwks_uri": None}, {"token_endpoint": 7}], ids=str
)
def test_an_issuer_that_is_another_one_is_not_asked(there: Issuer, document: dict[str, Any]) -> None:
    there.document = document
    assert Client().get("/sign-in/oidc").status_code == 503


@pytest.mark.parametrize("token", [{"error": "invalid_client"}, [1], {"access_token": "a", "expires_in": "soon"}])
def test_a_strange_answer_of_the_issuer_is_a_clear_page(there: Issuer, token: Any) -> None:
    there.token = token
    assert sign_in(there).status_code == 400


def test_a_session_ends_whether_it_is_used_or_not(there: Issuer, settings: Any) -> None:
    settings.EXTERNAL_SESSION_HOURS = 2
    client = Client()
    sign_in(there, client)
    ends = client.session.get_expiry_date()
    assert 7100 < (ends - timezone.now()).total_seconds() <= 7200
    client.post("/i18n/setlang/", {"language": "en"})
    client.get("/account")
    assert client.session.get_expiry_date() == ends


def test_a_token_of_the_account_loses_what_the_account_loses(there: Issuer) -> None:
    sign_in(there)
    program = Client(headers={"Authorization": f"Bearer {make_token(User.objects.get())}"})
    assert program.get("/api/v1/summary").status_code == 200
    sign_in(there, groups=[])
    assert program.get("/api/v1/summary").status_code == 403


def test_the_sign_in_page_offers_both_ways(there: Issuer, settings: Any) -> None:
    page = Client().get("/sign-in", {"next": "/nodes?cluster=prod"}).content.decode()
    assert 'href="/sign-in/oidc?next=%2Fnodes%3Fcluster%3Dprod"' in page
    assert "Sign in with Company" in page
    assert 'type="password"' in page
    settings.LOCAL_ACCOUNTS = False
    page = Client().get("/sign-in").content.decode()
    assert "Sign in with Company" in page
    assert 'type="password"' not in page


def test_without_an_issuer_there_is_no_such_page() -> None:
    assert Client().get("/sign-in/oidc").status_code == Client().get("/sign-in/oidc/callback").status_code == 404
    assert "/sign-in/oidc" not in Client().get("/sign-in").content.decode()


def test_who_signs_in_elsewhere_has_no_password_here(there: Issuer) -> None:
    client = Client()
    sign_in(there, client)
    assert client.get("/account/password").status_code == 404
    assert "Change password" not in client.get("/account").content.decode()


def test_no_secret_is_in_what_is_shown_of_the_settings(settings: Any, there: Issuer) -> None:
    assert CLIENT_SECRET not in repr(settings.OIDC)


def test_what_a_stranger_leaves_is_kept_for_minutes_and_who_signs_in_for_long(there: Issuer) -> None:
    client = Client()
    asked(client)
    assert 0 < client.session.get_expiry_age() <= 900
    user = make_user("vera", Role.VIEWER)
    user.set_password(PASSWORD)
    user.save()
    client.post("/sign-in", {"username": "vera", "password": PASSWORD})
    assert client.session.get_expiry_age() > 86_400
