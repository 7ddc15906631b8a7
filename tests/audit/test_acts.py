"""What people, tokens and commands do is in the log, and what they may not do as well."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.models import ApiToken
from accounts.roles import Role
from audit.models import Entry
from inventory.mirror.anew import relist
from inventory.models import Cluster
from tests.cast import PASSWORD, bearer, make_token, make_user, signed_in

pytestmark = pytest.mark.django_db


def told() -> list[tuple[str, str, str, str]]:
    """(action, actor, target, outcome), oldest first, of requests: the cast is made and signed in without one."""
    rows = Entry.objects.order_by("number").exclude(request="")
    return list(rows.values_list("action", "actor", "target", "outcome"))


def test_signing_in_and_out_and_a_wrong_password(client: Client) -> None:
    vera = make_user("vera", Role.VIEWER)
    vera.set_password(PASSWORD)
    vera.save()
    client.post("/sign-in", {"username": "vera", "password": "wrong"}, REMOTE_ADDR="10.0.0.9")
    client.post("/sign-in", {"username": "my-secret-typed-here", "password": "x"})
    client.post("/sign-in", {"username": "vera", "password": PASSWORD})
    client.post("/sign-out")
    assert told() == [
        ("sign-in", "", "vera", "refused"),
        ("sign-in", "", "", "refused"),
        ("sign-in", "vera", "vera", "done"),
        ("sign-out", "vera", "vera", "done"),
    ]
    first = Entry.objects.filter(outcome="refused").earliest("number")
    assert first.address == "10.0.0.9"
    assert "my-secret" not in str(list(Entry.objects.values()))


def test_tokens_made_and_revoked_and_never_their_secret(admin: Client) -> None:
    made = admin.post("/api/v1/tokens", {"name": "ci", "role": "viewer"}, content_type="application/json").json()
    admin.delete(f"/api/v1/tokens/{made['id']}")
    token = ApiToken.objects.get(pk=made["id"])
    assert told() == [("token-create", "ada", str(token), "done"), ("token-revoke", "ada", str(token), "done")]
    secret = made["token"].split("_", 2)[
        2
    ]  # It may hold "_" itself: what stands after the last is then a letter or two.
    assert len(secret) >= 20
    assert secret not in json.dumps(list(Entry.objects.values()), default=str)


def test_a_token_acts_in_its_own_name_for_its_user(cluster: Cluster) -> None:
    olga = make_user("olga", Role.OPERATOR)
    client = bearer(make_token(olga, Role.OPERATOR))
    assert client.post("/api/v1/clusters/prod/relist").status_code == 202
    entry = Entry.objects.get(action="cluster-relist")
    assert (entry.actor, entry.kind, entry.target) == ("olga", "token", "prod")
    assert entry.token == f"gpd_{ApiToken.objects.get().pk}"
    assert entry.request


@pytest.mark.parametrize(
    ("method", "path"),
    [("post", "/api/v1/clusters/prod/relist"), ("get", "/api/v1/audit"), ("get", "/audit"), ("post", "/api/v1/runs")],
)
def test_who_lacks_the_role_is_refused_and_that_is_written(
    viewer: Client, cluster: Cluster, method: str, path: str
) -> None:
    assert getattr(viewer, method)(path).status_code == 403
    assert told() == [("access", "vera", f"{method.upper()} {path}", "refused")]


def test_reading_writes_nothing(viewer: Client, cluster: Cluster) -> None:
    for path in ("/", "/nodes", "/api/v1/cards", "/metrics"):
        viewer.get(path)
    assert told() == []


def test_commands_act_in_the_name_of_who_runs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "olga-at-the-shell")
    monkeypatch.setattr("sys.stdin", io.StringIO("a-long-Password-8\n"))
    call_command("user", "create", "newcomer", "--role", "operator", "--password-stdin")
    call_command("token", "create", "newcomer")
    rows = Entry.objects.filter(kind="command").order_by("number")
    assert [(row.action, row.actor, row.detail.get("role", "")) for row in rows] == [
        ("user-create", "olga-at-the-shell", ""),
        ("user-role", "olga-at-the-shell", "operator"),
        ("token-create", "olga-at-the-shell", "viewer"),
    ]


def test_what_is_not_done_is_not_written(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr("audit.acts.append", fails)
    before = list(cluster.watches.values_list("relist_requested_at", flat=True))
    with pytest.raises(RuntimeError):
        relist(cluster, "ada")
    assert list(cluster.watches.values_list("relist_requested_at", flat=True)) == before


def test_administrators_see_it_as_page_rest_and_csv(admin: Client, cluster: Cluster) -> None:
    admin.post("/api/v1/clusters/prod/relist")
    signed_in(make_user("vera", Role.VIEWER)).get("/audit")
    page = admin.get("/audit").content.decode()
    assert "relist cluster" in page
    assert "denied access" in page
    rows = admin.get("/api/v1/audit?outcome=refused&actor=vera").json()["results"]
    assert [(row["action"], row["target"]) for row in rows] == [("access", "GET /audit")]
    assert b"cluster-relist" in b"".join(admin.get("/api/v1/audit?format=csv"))
