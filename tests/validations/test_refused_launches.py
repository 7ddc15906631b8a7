"""A launch that a rule refuses is in the audit log: who, what, on what, why, and by which way; what is merely wrong is not."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.roles import Role
from accounts.users import give
from audit.models import Entry
from inventory.models import Cluster, Node
from tests.cast import bearer, make_token, make_user, signed_in
from tests.factories import make_cluster, make_node
from tests.scopes.world import scoped_user
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import passed_by, wish
from validations import campaigns
from validations.models import Run
from validations.planning import Refused
from validations.requests import request_run

EVIL = "registry.example.com/evil:1"
JSON = "application/json"
BODY: dict[str, Any] = {"suite": "cuda-vectoradd", "cluster": "prod", "node": "gpu-1"}


@pytest.fixture
def olga(db: None) -> User:
    return make_user("olga", Role.OPERATOR)


def refused() -> list[Entry]:
    return list(Entry.objects.filter(outcome="refused").order_by("number"))


def told(entry: Entry, *names: str) -> tuple[Any, ...]:
    return (entry.actor, entry.kind, entry.action, entry.target, *(entry.detail.get(name) for name in names))


def taint(node: Node) -> None:
    spec = '"spec":{"taints":[{"key":"dedicated","value":"ml","effect":"NoSchedule"}]}'
    node.facts = node.facts.replace('"spec":{}', spec) if '"spec":{}' in node.facts else f"{node.facts[:-1]},{spec}}}"
    node.save()


@pytest.mark.parametrize(
    ("options", "why"),
    [({"image": EVIL}, "image-not-allowed"), ({"pull_secret": "theirs"}, "secret-not-allowed")],
)
def test_by_rest_for_an_image_or_a_secret(prod: Cluster, olga: User, options: dict[str, str], why: str) -> None:
    client = bearer(make_token(olga, Role.OPERATOR))
    assert client.post("/api/v1/runs", BODY | {"options": options}, content_type=JSON).status_code == 400
    (entry,) = refused()
    (name,) = options
    assert told(entry, "why", "by", "suite", name) == (
        "olga", "token", "run-launch", "prod/gpu-1", why, "REST", "cuda-vectoradd", options[name],
    )  # fmt: skip
    assert entry.token
    assert entry.address == "127.0.0.1"
    assert entry.detail["text"]
    assert not Run.objects.exists()


def test_by_the_page_and_by_the_command(prod: Cluster, olga: User) -> None:
    form = {"suite": "cuda-vectoradd", "cluster": "prod", "node": "gpu-1", "option.image": EVIL}
    assert signed_in(olga).post("/validations/new", form).status_code == 400
    with pytest.raises(CommandError):
        call_command("validate", "cuda-vectoradd", "--node", "gpu-1", "--option", f"image={EVIL}")
    page, command = refused()
    assert told(page, "why", "by") == ("olga", "session", "run-launch", "prod/gpu-1", "image-not-allowed", "page")
    assert (command.kind, command.detail["by"], command.target) == ("command", "command", "gpu-1")


def test_for_a_taint_that_no_setting_names(prod: Cluster, olga: User) -> None:
    taint(Node.objects.get(name="gpu-1"))
    client = bearer(make_token(olga, Role.OPERATOR))
    assert client.post("/api/v1/runs", BODY, content_type=JSON).status_code == 400
    assert [told(one, "why") for one in refused()] == [("olga", "token", "run-launch", "prod/gpu-1", "taint")]


def test_for_a_place_that_is_there_for_others(prod: Cluster) -> None:
    make_node(make_cluster("other"), "gpu-9", "nvidia", 1)
    carl = scoped_user("carl", "prod", role=Role.OPERATOR)
    client = bearer(make_token(carl, Role.OPERATOR))
    for node in ("gpu-9", "no-such-node"):
        body = BODY | {"cluster": "other", "node": node}
        assert client.post("/api/v1/runs", body, content_type=JSON).status_code == 400
    assert [told(one, "why", "text") for one in refused()] == [
        ("carl", "token", "run-launch", "other/gpu-9", "scope", None),
    ]


def test_who_lacks_the_role_is_written_with_what_was_asked_for(prod: Cluster, viewer: Client) -> None:
    program = bearer(make_token(User.objects.get(username="vera")))
    assert program.post("/api/v1/runs", BODY, content_type=JSON).status_code == 403
    assert viewer.post("/validations/new", BODY).status_code == 403
    assert [told(one, "wanted", "suite", "cluster", "node") for one in refused()] == [
        ("vera", kind, "access", f"POST {path}", "operator", "cuda-vectoradd", "prod", "gpu-1")
        for kind, path in (("token", "/api/v1/runs"), ("session", "/validations/new"))
    ]
    assert program.post("/api/v1/runs", "[", content_type=JSON).status_code == 403, "a body that is none hides nothing"


def test_by_the_worker_when_the_rules_have_changed_meanwhile(
    prod: Cluster, olga: User, fake: FakeCluster, settings: Any
) -> None:
    first, _ = request_run(wish(), olga)
    settings.ALLOWED_IMAGES = ["registry.example.com/team/*"]
    passed_by(first, prod)
    (entry,) = refused()
    assert told(entry, "why", "by", "run") == (
        "olga", "process", "run-launch", "prod/gpu-1", "image-not-allowed", "worker", first.pk,
    )  # fmt: skip


def test_by_the_worker_when_who_asked_may_not_any_more(prod: Cluster, olga: User, fake: FakeCluster) -> None:
    run, _ = request_run(wish(), olga)
    give(olga, Role.VIEWER)
    assert passed_by(run, prod).state == "ended"
    (entry,) = refused()
    assert told(entry, "why", "by", "run") == (
        "olga", "process", "run-launch", "prod/gpu-1", "requester-not-allowed", "worker", run.pk,
    )  # fmt: skip


def test_a_campaign_for_an_image_once_and_not_for_each_place(prod: Cluster, olga: User) -> None:
    with pytest.raises(Refused):
        campaigns.create("cuda-vectoradd", [("prod", "gpu-1", "")], olga, name="night", options={"image": EVIL})
    (entry,) = refused()
    assert (entry.action, entry.target, entry.detail["why"]) == ("campaign-create", "night", "image-not-allowed")


@pytest.mark.parametrize(
    "changed",
    [{"suite": "no-such"}, {"node": "no-such"}, {"options": {"no-such": 1}}, {"card": "99"}],
)
def test_what_is_mistyped_is_no_refusal_by_a_rule(prod: Cluster, olga: User, changed: dict[str, Any]) -> None:
    client = bearer(make_token(olga, Role.OPERATOR))
    assert client.post("/api/v1/runs", BODY | changed, content_type=JSON).status_code == 400
    assert refused() == []


def test_looking_at_what_would_run_is_no_launch(prod: Cluster, olga: User) -> None:
    client = bearer(make_token(olga, Role.OPERATOR))
    body = BODY | {"options": {"image": EVIL}}
    assert client.post("/api/v1/runs/preview", body, content_type=JSON).status_code == 400
    assert refused() == []
