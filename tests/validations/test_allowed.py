"""What may run, and for whom: refused before a launch, and again by the worker right before it makes the Job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import UserScope
from accounts.roles import Role, set_role
from accounts.users import give
from inventory.marks import TAINT
from inventory.models import Cluster, Node
from tests.cast import bearer, make_token, make_user, signed_in
from tests.factories import make_cluster, make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import codes, passed_by, wish
from validations import campaigns, tasks
from validations.models import Campaign, CampaignTarget, Run
from validations.planning import Refused
from validations.requests import request_run

EVIL = "registry.example.com/evil:1"
MINE = "registry.example.com/team/mine:1"
OWN = "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0"
DIGEST = "sha256:" + "a" * 64
SAID = f"Image {EVIL} is not allowed (GPUDASH_ALLOWED_IMAGES)."


@pytest.fixture
def olga(db: None) -> User:
    return make_user("olga", Role.OPERATOR)


def refused(**options: Any) -> dict[str, list[str]]:
    with pytest.raises(Refused) as caught:
        request_run(wish(options=options))
    return caught.value.problems


def posted_image(run: Run, fake: FakeCluster) -> str:
    return str(fake.jobs[f"gpudash-{run.pk}"]["spec"]["template"]["spec"]["containers"][0]["image"])


def test_rest_form_and_command_refuse_an_image_with_the_same_sentence(prod: Cluster, olga: User) -> None:
    body = {"suite": "cuda-vectoradd", "node": "gpu-1", "options": {"image": EVIL}}
    for path in ("runs", "runs/preview"):
        answer = bearer(make_token(olga, Role.OPERATOR)).post(f"/api/v1/{path}", body, content_type="application/json")
        assert (answer.status_code, SAID in answer.content.decode()) == (400, True)
    form = {"suite": "cuda-vectoradd", "cluster": "prod", "node": "gpu-1", "option.image": EVIL}
    page = signed_in(olga).post("/validations/new", form)
    assert page.status_code == 400
    assert SAID in page.content.decode()
    with pytest.raises(CommandError) as caught:
        call_command("validate", "cuda-vectoradd", "--node", "gpu-1", "--option", f"image={EVIL}")
    assert SAID in str(caught.value)
    assert not Run.objects.exists()


@pytest.mark.parametrize("image", [OWN, MINE, "registry.example.com/team/deep/er:2"])
def test_what_the_list_names_runs(prod: Cluster, fake: FakeCluster, settings: Any, image: str) -> None:
    settings.ALLOWED_IMAGES = ["suites", "registry.example.com/team/*"]
    run, _ = request_run(wish(options={"image": image}))
    assert passed_by(run, prod).state == "pending"
    assert posted_image(run, fake) == image


def test_without_the_word_not_even_the_suites_own_image_runs(prod: Cluster, settings: Any) -> None:
    settings.ALLOWED_IMAGES = ["registry.example.com/team/*"]
    assert OWN in refused()["options.image"][0]
    settings.ALLOWED_IMAGES = [OWN]
    request_run(wish())


def test_an_own_image_that_is_listed_with_its_digest_is_pulled_by_it_and_proves_as_much(
    prod: Cluster, fake: FakeCluster, settings: Any
) -> None:
    settings.ALLOWED_IMAGES = [f"{OWN}@{DIGEST}"]
    run, _ = request_run(wish())
    assert passed_by(run, prod).image == posted_image(run, fake) == f"{OWN}@{DIGEST}"
    assert Run.objects.get().options == {}
    assert "options.image" in refused(image=f"{OWN}@sha256:{'b' * 64}")


def test_a_pull_secret_is_one_of_a_list(prod: Cluster, fake: FakeCluster, settings: Any) -> None:
    text = refused(pull_secret="cluster-admin-token")["options.pull_secret"][0]
    assert "cluster-admin-token" in text
    assert "GPUDASH_PULL_SECRETS" in text
    settings.PULL_SECRETS = ["registry"]
    assert "registry" in refused(pull_secret="other")["options.pull_secret"][0]
    run, _ = request_run(wish(options={"pull_secret": "registry"}))
    passed_by(run, prod)
    pod = fake.jobs[f"gpudash-{run.pk}"]["spec"]["template"]["spec"]
    assert pod["imagePullSecrets"] == [{"name": "registry"}]


def taint(node: Node, key: str, value: str) -> None:
    spec = f'"spec":{{"taints":[{{"key":"{key}","value":"{value}","effect":"NoSchedule"}}]}}'
    node.facts = node.facts.replace('"spec":{}', spec) if '"spec":{}' in node.facts else f"{node.facts[:-1]},{spec}}}"
    node.save()


def test_a_node_with_a_taint_of_its_own_is_refused_until_the_setting_names_it(prod: Cluster, settings: Any) -> None:
    taint(Node.objects.get(name="gpu-1"), "dedicated", "ml")
    with pytest.raises(Refused, match=r"dedicated=ml:NoSchedule.*GPUDASH_TOLERATED_TAINTS"):
        request_run(wish())
    settings.TOLERATED_TAINTS = ["dedicated=ml"]
    request_run(wish())


def test_a_run_tolerates_the_taint_of_a_node_that_is_out_of_service_whatever_the_settings_say(
    prod: Cluster, settings: Any
) -> None:
    """Else no run could prove that its card is good again. Runs elsewhere do not carry it."""
    settings.TOLERATED_TAINTS = []
    first, _ = request_run(wish())
    Run.objects.all().delete()
    taint(Node.objects.get(name="gpu-1"), TAINT, "c1")
    second, _ = request_run(wish())

    assert [TAINT in str(run.manifest) for run in (first, second)] == [False, True]


@pytest.mark.parametrize(
    ("options", "code"),
    [({"image": EVIL}, "image-not-allowed"), ({"pull_secret": "theirs"}, "secret-not-allowed")],
)
def test_the_worker_refuses_what_was_written_into_the_row(
    prod: Cluster, fake: FakeCluster, options: dict[str, str], code: str
) -> None:
    run, _ = request_run(wish())
    Run.objects.filter(pk=run.pk).update(options=options)
    passed_by(run, prod)
    assert (run.state, run.verdict, codes(run)) == ("ended", "errored", [code])
    assert next(iter(options.values())) in run.reasons[0]["text"]
    assert fake.created == []


def test_the_worker_refuses_what_the_settings_do_not_allow_any_more(
    prod: Cluster, fake: FakeCluster, settings: Any
) -> None:
    settings.ALLOWED_IMAGES = ["suites", EVIL]
    run, _ = request_run(wish(options={"image": EVIL}))
    settings.ALLOWED_IMAGES = ["suites"]
    assert codes(passed_by(run, prod)) == ["image-not-allowed"]
    assert run.reasons[0]["text"] == SAID
    assert fake.created == []


def deactivate(user: User) -> None:
    user.is_active = False
    user.save()


def delete(user: User) -> None:
    user.delete()


def demote(user: User) -> None:
    set_role(user, Role.VIEWER)


def elsewhere(user: User) -> None:
    make_cluster("lab")
    give(user, Role.OPERATOR, ["lab"])


def namespaces_only(user: User) -> None:
    """As a scope may be that was written before the role was."""
    UserScope.objects.create(user=user, places="prod/team-a")


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (deactivate, "was deactivated"),
        (delete, "no longer exists"),
        (demote, "no longer has permission to launch"),
        (elsewhere, "no longer has permission to launch in cluster prod"),
        (namespaces_only, "no longer has permission to launch in cluster prod"),
    ],
)
def test_a_run_whose_requester_may_not_launch_any_more_is_not_launched(
    prod: Cluster, fake: FakeCluster, olga: User, act: Callable[[User], None], words: str
) -> None:
    run, _ = request_run(wish(), olga)
    act(olga)
    passed_by(run, prod)
    assert (run.state, run.verdict, codes(run)) == ("ended", "errored", ["requester-not-allowed"])
    assert "olga" in run.reasons[0]["text"]
    assert words in run.reasons[0]["text"]
    assert fake.created == []


def test_operators_and_the_command_are_launched_for(prod: Cluster, fake: FakeCluster, olga: User) -> None:
    run, _ = request_run(wish(), olga)
    assert passed_by(run, prod).state == "pending"
    other, _ = request_run(wish(suite="nvidia-smi"))
    assert passed_by(other, prod).state == "pending"


def campaign(user: User | None = None, **options: Any) -> Campaign:
    spots = [("prod", "gpu-1", ""), ("prod", "gpu-2", "")]
    return campaigns.create("cuda-vectoradd", spots, user, options=options, max_parallel=1)[0]


@pytest.fixture
def two(prod: Cluster) -> Cluster:
    make_node(prod, "gpu-2", "nvidia", 4, loads=(0.0,))
    return prod


def test_a_campaign_with_an_image_that_is_not_allowed_is_not_made(two: Cluster, olga: User) -> None:
    with pytest.raises(Refused) as caught:
        campaign(image=EVIL, pull_secret="x")
    assert set(caught.value.problems) == {"options.image", "options.pull_secret"}
    body = {"suite": "cuda-vectoradd", "targets": [{"node": "gpu-1"}], "options": {"image": EVIL}}
    answer = bearer(make_token(olga, Role.OPERATOR)).post("/api/v1/campaigns", body, content_type="application/json")
    assert (answer.status_code, SAID in answer.content.decode()) == (400, True)
    page = Client()
    page.force_login(olga)
    form = {"suite": "cuda-vectoradd", "targets": "prod/gpu-1", "max_parallel": "1", "option.image": EVIL}
    assert SAID in page.post("/validations/campaigns/new", form).content.decode()
    assert not Campaign.objects.exists()


def test_a_campaign_stops_when_its_image_is_not_allowed_any_more(two: Cluster, settings: Any) -> None:
    settings.ALLOWED_IMAGES = ["suites", EVIL]
    made = campaign(image=EVIL)
    settings.ALLOWED_IMAGES = ["suites"]
    tasks.advance_campaigns()
    made.refresh_from_db()
    assert (made.state, made.state_reason) == ("stopped", SAID)
    assert not Run.objects.exists()


def test_a_campaign_of_someone_who_may_not_launch_any_more_stops(two: Cluster, fake: FakeCluster, olga: User) -> None:
    made = campaign(olga)
    tasks.advance_campaigns()
    assert Run.objects.count() == 1
    deactivate(olga)
    tasks.advance_campaigns()
    made.refresh_from_db()
    assert made.state == "stopped"
    assert "olga" in made.state_reason
    assert Run.objects.count() == 1
    tasks.reconcile(two.pk)
    assert codes(Run.objects.get()) == ["requester-not-allowed"]
    assert CampaignTarget.objects.filter(campaign=made, run=None).count() == 1
