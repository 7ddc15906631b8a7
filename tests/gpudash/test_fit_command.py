"""`gpudash fit`: the answer for people and for programs, and its exit code."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

from inventory.models import Cluster, Node
from tests.factories import GIB, make_node

pytestmark = pytest.mark.django_db


def run(*words: str) -> str:
    out = io.StringIO()
    call_command("fit", *words, stdout=out)
    return out.getvalue()


@pytest.fixture(autouse=True)
def _nodes(cluster: Cluster) -> None:
    make_node(cluster, "large", "nvidia", 4, loads=(0.0, 1.0))
    make_node(cluster, "small", "gpushare", 2, loads=(0.0,))


def test_it_says_where_and_why_not_elsewhere() -> None:
    found = run("--cards", "2", "--memory", "20GiB")
    assert found.startswith("1 of 2 GPU nodes fit now:")
    assert "nvidia.com/gpu: 2" in found
    assert "  1: a pod can get a part of one card only: small" in found
    assert "Not considered: CPU" in found


def test_a_pod_for_the_first_node_is_yaml_alone() -> None:
    [pod] = yaml.safe_load_all(run("--cards", "2", "--memory", "20", "--cpu", "8", "--host-memory", "64", "--yaml"))
    assert pod["spec"]["nodeSelector"] == {"kubernetes.io/hostname": "large"}
    [container] = pod["spec"]["containers"]
    assert container["resources"] == {
        "requests": {"cpu": "8", "memory": "64Gi"},
        "limits": {"nvidia.com/gpu": 2},
    }
    with pytest.raises(SystemExit):
        assert run("--cards", "9", "--yaml") == ""


def test_cpu_that_no_node_has_is_a_reason() -> None:
    assert "  1: too little free CPU: large" in run("--cpu", "94")


def test_json_is_what_rest_has() -> None:
    found: Any = json.loads(run("--memory", "20", "-o", "json", "--stack", "nvidia"))
    assert found["request"]["memory_bytes"] == 20 * GIB
    assert [(one["node"], one["limits"]) for one in found["fitting"]] == [("large", {"nvidia.com/gpu": 1})]
    assert [one["code"] for one in found["refusing"]] == ["other-stack"]


def test_where_there_is_no_room_the_exit_code_says_so() -> None:
    Node.objects.update(unschedulable=True)
    with pytest.raises(SystemExit) as left:
        run()
    assert left.value.code == 1


def test_what_makes_no_sense_is_named_by_its_option() -> None:
    with pytest.raises(CommandError, match=r"--memory: .*; --stack: "):
        run("--memory", "much", "--stack", "abacus")


def test_moves_are_printed_as_comments(cluster: Cluster) -> None:
    make_node(cluster, "more", "nvidia", 4, loads=(1.0, 0.0, 0.0, 0.0))
    found = run("--cards", "4", "--moves")
    assert "# kubectl cordon more" in found
    assert "kubectl delete pod --namespace" in found
    assert json.loads(run("--cards", "4", "--moves", "-o", "json"))["node"] == "more"
    with pytest.raises(SystemExit):
        assert run("--cards", "9", "--moves").startswith("No plan")
    assert run("--free-node", "--stack", "gpushare").startswith("No move needed: prod/small")
