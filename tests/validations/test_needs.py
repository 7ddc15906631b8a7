"""What a node is known not to have is refused wherever a run is asked for, and once more before the Job is created."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.roles import Role
from inventory.models import Card, Cluster, Node, ResourceSlice
from tests.cast import bearer, make_token, make_user, signed_in
from tests.factories import make_node
from tests.pages.reading import read
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import codes, passed_by, wish
from validations import campaigns, tasks
from validations.coverage import coverage
from validations.models import Campaign, CampaignTarget, Run
from validations.planning import plan
from validations.requests import request_run
from validations.targets import find_place

OLD = "470.57.02"
SAID = "Driver 470.57.02 is too old: CUDA 12.5 of the image needs 525.60."
DRIVER, NEWEST = "cuda.driver-version.full", "cuda.runtime-version.full"
MAJOR, MINOR = "gpu.compute.major", "gpu.compute.minor"


def labelled(labels: dict[str, str | None], node: str = "gpu-1") -> None:
    """Give a node these labels of NVIDIA, and take those away that are None."""
    row = Node.objects.get(name=node)
    facts = json.loads(row.facts)
    there = facts["metadata"].setdefault("labels", {})
    for name, value in labels.items():
        there.pop(f"nvidia.com/{name}", None)
        if value is not None:
            there[f"nvidia.com/{name}"] = value
    row.facts = json.dumps(facts)
    row.save()


@pytest.fixture
def olga(db: None) -> User:
    return make_user("olga", Role.OPERATOR)


@pytest.fixture
def api(olga: User) -> Client:
    return bearer(make_token(olga, Role.OPERATOR))


BODY = {"suite": "cuda-vectoradd", "node": "gpu-1"}


def test_rest_form_and_command_refuse_with_the_same_sentence(prod: Cluster, olga: User, api: Client) -> None:
    labelled({DRIVER: OLD})
    answer = api.post("/api/v1/runs", BODY, content_type="application/json")
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/problem+json")
    [error] = answer.json()["errors"]
    assert error["field"] == "node"
    assert f"{SAID} (driver-below)" in error.values()
    preview = api.post("/api/v1/runs/preview", BODY, content_type="application/json").json()
    assert preview["launchable"] is False
    assert [(one["code"], one["text"]) for one in preview["reasons"]] == [("driver-below", SAID)]
    operator = signed_in(olga)
    page = read(operator.get("/validations/new?suite=cuda-vectoradd&node=gpu-1"))
    assert "Cannot run on this target:" in page.text
    assert SAID in page.text
    sent = operator.post("/validations/new", {"suite": "cuda-vectoradd", "cluster": "prod", "node": "gpu-1"})
    assert (sent.status_code, SAID in sent.content.decode()) == (400, True)
    with pytest.raises(CommandError) as caught:
        call_command("validate", "cuda-vectoradd", "--node", "gpu-1")
    assert SAID in str(caught.value)
    assert not Run.objects.exists()


def test_nobody_can_wait_for_another_driver(prod: Cluster, api: Client) -> None:
    labelled({DRIVER: OLD})
    answer = api.post("/api/v1/runs", BODY | {"queue_if_full": True}, content_type="application/json")
    assert answer.status_code == 400
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        ({DRIVER: "525.60.13"}, None),
        ({DRIVER: None}, None),
        ({DRIVER: None, "vgpu.host-driver-version": OLD}, None),
        ({DRIVER: None, "cuda.driver.major": "470", "cuda.driver.minor": "57"}, "driver-below"),
        ({DRIVER: None, "cuda.runtime.major": "11", "cuda.runtime.minor": "4"}, "cuda-below"),
        ({DRIVER: None, NEWEST: "11.4"}, "cuda-below"),
        ({MAJOR: "3", MINOR: "5"}, "compute-capability"),
        ({MAJOR: "7", MINOR: "5"}, None),
        ({MINOR: "5"}, None),
    ],
)
def test_the_labels_of_a_node_say_what_it_has(prod: Cluster, labels: dict[str, str | None], code: str | None) -> None:
    labelled(labels)
    assert [one.code for one in plan(wish()).reasons] == ([code] if code else [])


def test_a_label_of_one_of_several_kinds_of_cards_says_nothing_of_the_others(prod: Cluster) -> None:
    labelled({MAJOR: "3", MINOR: "5"})
    assert [one.code for one in plan(wish()).reasons] == ["compute-capability"]
    Card.objects.filter(pk=Card.objects.filter(node_name="gpu-1").latest("pk").pk).update(model="Tesla K80")
    assert [one.code for one in plan(wish()).reasons] == []


def test_what_is_not_known_is_listed_on_the_form_and_in_rest_and_refuses_nothing(
    prod: Cluster, olga: User, api: Client
) -> None:
    labelled({DRIVER: None, MAJOR: None, MINOR: None})
    texts = [
        "Driver version unknown: CUDA 12.5 of the image needs 525.60.",
        "Compute capability unknown: the image needs 5.0.",
    ]
    preview = api.post("/api/v1/runs/preview", BODY, content_type="application/json").json()
    assert (preview["launchable"], [one["text"] for one in preview["unchecked"]]) == (True, texts)
    page = read(signed_in(olga).get("/validations/new?suite=cuda-vectoradd&node=gpu-1"))
    assert all(text in page.text for text in ("Ready to launch.", "Not checked", *texts))
    labelled({DRIVER: "550.54.15", MAJOR: "7", MINOR: "5"})
    assert "Not checked" not in read(signed_in(olga).get("/validations/new?suite=cuda-vectoradd&node=gpu-1")).text
    assert api.post("/api/v1/runs/preview", BODY, content_type="application/json").json()["unchecked"] == []


def test_rest_says_what_each_suite_needs(prod: Cluster, api: Client) -> None:
    found = api.get("/api/v1/suites/cuda-devicequery").json()["needs"]
    assert [(one["os"], one["cuda"], one["driver"], one["windows_builds"]) for one in found] == [
        ("linux", "12.5", "525.60", []),
        ("windows", None, None, ["10.0.20348"]),
    ]


def test_the_form_says_it_in_chinese(prod: Cluster, olga: User) -> None:
    labelled({DRIVER: OLD})
    operator = signed_in(olga)
    operator.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    page = read(operator.get("/validations/new?suite=cuda-vectoradd&node=gpu-1"))
    assert "驱动 470.57.02 过旧：镜像的 CUDA 12.5 需要 525.60。" in page.text
    assert "too old" not in page.text


def test_a_campaign_leaves_out_the_targets_that_lack_it_and_says_why(prod: Cluster, fake: FakeCluster) -> None:
    make_node(prod, "gpu-2", "nvidia", 1, loads=(0.0,))
    labelled({DRIVER: OLD})
    labelled({DRIVER: "550.54.15"}, "gpu-2")
    key = Card.objects.filter(node_name="gpu-1").earliest("index").key
    campaign, _ = campaigns.create("cuda-vectoradd", [("prod", "gpu-1", key), ("prod", "gpu-2", "")])
    tasks.advance_campaigns()
    left_out, started = CampaignTarget.objects.filter(campaign=campaign).order_by("position")
    assert (left_out.run, left_out.skipped) == (None, f"{SAID} (driver-below)")
    assert started.run is not None
    assert coverage(Campaign.objects.get()).why == {"driver-below": 1}


def test_the_form_of_a_campaign_says_which_target_lacks_it(prod: Cluster, olga: User) -> None:
    labelled({DRIVER: OLD})
    page = read(signed_in(olga).get("/validations/campaigns/new?suite=cuda-vectoradd&targets=prod/gpu-1"))
    assert SAID in page.text


def test_the_worker_refuses_when_the_node_has_changed_since(prod: Cluster, fake: FakeCluster) -> None:
    labelled({DRIVER: "550.54.15"})
    run, _ = request_run(wish())
    labelled({DRIVER: OLD})
    passed_by(run, prod)
    assert (run.state, run.verdict, codes(run)) == ("ended", "errored", ["driver-below"])
    assert run.reasons[0]["text"] == SAID
    assert fake.created == []


def offered(cluster: Cluster, *versions: str, driver: str = "gpu.nvidia.com") -> None:
    """A slice of the node whose devices say these versions of their driver."""
    devices = [
        {"name": f"gpu-{number}", "attributes": {"type": {"string": "gpu"}, "driverVersion": {"version": version}}}
        for number, version in enumerate(versions)
    ]
    facts = {"metadata": {"name": "s", "uid": "u"}, "spec": {"driver": driver, "nodeName": "gpu-1", "devices": devices}}
    row = {"name": "s", "uid": driver, "driver": driver, "pool": "gpu-1", "node_name": "gpu-1", "digest": 0}
    ResourceSlice.objects.create(cluster=cluster, facts=json.dumps(facts), **row)


def test_the_driver_that_a_slice_says_comes_before_that_of_a_label(prod: Cluster) -> None:
    labelled({DRIVER: "550.54.15"})
    offered(prod, "470.57.2", "470.57.2")
    [reason] = plan(wish()).reasons
    assert (reason.code, reason.text) == ("driver-below", SAID.replace("57.02", "57.2"))


@pytest.mark.parametrize(
    ("versions", "driver"),
    [(("470.57.2", "550.54.15"), "gpu.nvidia.com"), (("6.8.5",), "gpu.amd.com"), ((), "gpu.nvidia.com")],
)
def test_slices_that_disagree_or_are_of_another_vendor_say_nothing(
    prod: Cluster, versions: tuple[str, ...], driver: str
) -> None:
    labelled({DRIVER: None})
    offered(prod, *versions, driver=driver)
    assert find_place("prod", "gpu-1").target.facts.driver == ""
    labelled({DRIVER: "550.54.15"})
    assert find_place("prod", "gpu-1").target.facts.driver == "550.54.15"


def test_a_windows_node_without_the_label_is_known_by_its_kernel(prod: Cluster) -> None:
    make_node(prod, "win-1", "directx", 1, loads=(0.0,))
    row = Node.objects.get(name="win-1")
    facts: dict[str, Any] = json.loads(row.facts)
    facts["metadata"]["labels"].pop("node.kubernetes.io/windows-build", None)
    facts["status"]["nodeInfo"] |= {"operatingSystem": "windows", "kernelVersion": "10.0.20348.1787"}
    Node.objects.filter(pk=row.pk).update(facts=json.dumps(facts))
    assert find_place("prod", "win-1").target.facts.windows_build == "10.0.20348.1787"
