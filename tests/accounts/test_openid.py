"""Signing in by OpenID Connect: what is believed of an issuer's answer, and what becomes of it. (By Dex: test_dex.)"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
import requests
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from accounts import issuer as asking
from accounts.group_roles import parsed
from accounts.issuer import published
from accounts.roles import Role, granted
from audit.models import Entry
from gpudash.external_accounts import Issuer as Settings
from tests.accounts.issuer import CLIENT, CLIENT_SECRET, KID, Issuer, issuer, new_key
from tests.cast import PASSWORD, make_token, make_user

pytestmark = pytest.mark.django_db
ROLES = "admins=admin; ops=operator:prod; more-ops=operator:lab; team=viewer:prod/team-a; all=viewer"


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    published.clear()
    yield
    published.clear()


@pytest.fixture
def there(settings: Any) -> Iterator[Issuer]:
    with issuer() as made:
        made.claims = {"groups": ["all"]}
        use(settings, made.url)
        yield made


def use(settings: Any, url: str, **more: Any) -> None:
    given = {"name": "Company", "claim": "groups", "scopes": ("openid", "groups")} | more
    settings.OIDC = Settings(url, CLIENT, CLIENT_SECRET, **given)
    settings.SOCIALACCOUNT_PROVIDERS = settings.OIDC.providers
    settings.GROUP_ROLES = parsed(ROLES)


def asked(client: Client, after: str = "/account") -> dict[str, str]:
    """What the issuer is asked."""
    answer = client.get("/sign-in/oidc", {"next": after})
    assert answer.status_code == 302, answer.content.decode()
    return {name: value for name, [value] in parse_qs(urlsplit(answer.headers["Location"]).query).items()}


def sign_in(there: Issuer, client: Client | None = None, **claims: Any) -> Any:
    """The whole way; the issuer's token has the nonce that it was asked for."""
    client = client or Client()
    question, usual = asked(client), there.claims
    there.claims = {"nonce": question["nonce"]} | usual | claims
    answer = client.get("/sign-in/oidc/callback", {"code": "c", "state": question["state"]})
    there.claims = usual
    return answer


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
    assert (answer.status_code, "You are in no group" in answer.content.decode()) == (403, True)
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


def hmac_of_the_public_key(there: Issuer) -> Any:
    """As those try who hope that the algorithm is taken from the token."""
    public = str(there.answer("/keys", b"")["keys"][0]["n"])
    return lambda claims: jwt.encode(claims, public, algorithm="HS256", headers={"kid": KID})


FORGED: dict[str, Any] = {
    "another key": lambda there: lambda claims: jwt.encode(claims, new_key(), algorithm="RS256", headers={"kid": KID}),
    "a key that is not there": lambda there: (
        lambda claims: jwt.encode(claims, there.key, algorithm="RS256", headers={"kid": "second"})
    ),
    "no signature": lambda there: lambda claims: jwt.encode(claims, None, algorithm="none", headers={"kid": KID}),
    "a secret": hmac_of_the_public_key,
    "the client's secret": lambda there: (
        lambda claims: jwt.encode(claims, CLIENT_SECRET * 3, algorithm="HS256", headers={"kid": KID})
    ),
    "no token": lambda there: lambda claims: "",
    "no JWT": lambda there: lambda claims: "a.b.c",
}


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_token_signs_nobody_in(there: Issuer, how: str) -> None:
    there.sign = FORGED[how](there)
    refused(there)


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://other.example"},
        {"aud": "another-client"},
        {"aud": [CLIENT, "another-client"]},
        {"aud": [CLIENT, "another-client"], "azp": "another-client"},
        {"exp": int(time.time()) - 60},
        {"exp": None},
        {"iat": int(time.time()) + 600},
        {"nonce": "of-another-sign-in"},
        {"nonce": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "x" * 400},
    ],
    ids=lambda claims: " ".join(claims),
)
def test_a_token_for_something_else_signs_nobody_in(there: Issuer, claims: dict[str, Any]) -> None:
    refused(there, **claims)


def refused(there: Issuer, **claims: Any) -> None:
    client = Client()
    answer = sign_in(there, client, **claims)
    assert (answer.status_code, "Signing in did not work" in answer.content.decode()) == (400, True)
    assert client.get("/account").status_code == 302
    assert not User.objects.exists()


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
    assert (answer.status_code, "Try again from the sign-in page" in answer.content.decode()) == (400, True)


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
    assert (answer.status_code, "Company does not answer" in answer.content.decode()) == (503, True)
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


def test_what_the_issuer_publishes_is_asked_for_once(there: Issuer) -> None:
    for _ in range(5):
        sign_in(there)
    known = "/.well-known/openid-configuration"
    assert [there.paths.count(path) for path in (known, "/keys", "/token")] == [1, 1, 5]


def test_a_new_key_is_asked_for_when_a_token_names_it(there: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.openid.AGAIN_S", 0.0)
    assert sign_in(there).status_code == 302
    there.kid, there.key = "second", new_key()
    assert sign_in(there).status_code == 302
    assert there.paths.count("/keys") == 2


def test_a_slow_issuer_holds_few_threads_and_each_for_a_moment(there: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It sends a byte now and then, for which no time-out of a socket is too short."""
    monkeypatch.setattr(asking, "DEADLINE_S", 0.5)
    monkeypatch.setattr(asking, "PLACE_S", 0.01)
    there.go.clear()
    answers: list[int] = []
    began = time.monotonic()

    def ask() -> None:
        answers.append(_asks(there.url))

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == [503] * 20
    assert time.monotonic() - began < 5
    assert len(there.paths) <= asking.AT_ONCE
    asked_before = len(there.paths)
    assert Client().get("/sign-in/oidc").status_code == 503
    assert len(there.paths) == asked_before, "what failed a moment ago is not asked again"
    there.go.set()


def _asks(url: str) -> int:
    try:
        published.get(f"{url}/.well-known/openid-configuration", _got)
    except requests.RequestException:
        return 503
    return 200


def _got(url: str) -> dict[str, Any]:
    with asking.Session() as session:
        return dict(session.get(url).json())
