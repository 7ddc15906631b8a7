"""Commands that people copy: what a cluster says in them is one word for the shell, whatever it says."""

from __future__ import annotations

import shlex

import msgspec
import pytest

from kube.objects import Metadata
from stacks.engine.shell import delete_pod, describe_object, label_node, pod_log
from tests.stacks.build import node, pod

HOSTILE = "n; rm -rf / #"


@pytest.mark.parametrize("name", ["gpu-1", HOSTILE, "$(reboot)", "a b"])
def test_names_of_a_cluster_are_one_word(name: str) -> None:
    mine = node({}, name=name)
    theirs = pod(metadata={"name": name, "namespace": name})
    assert shlex.split(label_node(mine, ("gpu", name), overwrite=True)) == [
        *("kubectl", "label", "node", name, f"gpu={name}", "--overwrite")
    ]
    assert shlex.split(delete_pod(theirs, "--force")) == ["kubectl", "delete", "pod", "-n", name, name, "--force"]
    assert shlex.split(pod_log(theirs, name, previous=True)) == [
        *("kubectl", "logs", "-n", name, name, "-c", name, "--previous")
    ]


def test_what_is_in_no_namespace_is_asked_for_without_one() -> None:
    assert describe_object("clusterpolicy", Metadata(name="policy")) == "kubectl describe clusterpolicy policy"
    inside = msgspec.structs.replace(Metadata(name="d"), namespace="kube-system")
    assert describe_object("daemonset", inside) == "kubectl describe daemonset -n kube-system d"
