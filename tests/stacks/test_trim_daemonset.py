"""What the mirror keeps of a DaemonSet: only what changes an account."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import stacks
from kube.objects import DaemonSet
from stacks.engine.node_report import node_report
from stacks.engine.trim_daemonset import components, trim_daemonset
from tests.stacks import golden_case

LABELS = {"app": "gpushare", "component": "gpushare-device-plugin"}
DCGM = {"app": "nvidia-dcgm-exporter"}


def daemonset(labels: dict[str, str] = LABELS, args: tuple[str, ...] = (), **changes: Any) -> DaemonSet:
    container = {"name": "c", "image": "plugin:1", "command": ["plugin"], "args": list(args)}
    metadata = {"name": "ds", "namespace": "kube-system", "uid": "u", "labels": labels}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container | changes.get("container", {})]}}
    value = {"metadata": metadata | changes.get("metadata", {}), "spec": {"template": template}}
    return msgspec.convert(value | {"status": changes.get("status", {})}, DaemonSet)


def kept(thing: DaemonSet) -> bytes:
    return msgspec.json.encode(trim_daemonset(thing))


@pytest.mark.parametrize(
    "changes",
    [
        {"status": {"numberReady": 7, "desiredNumberScheduled": 9}},
        {"metadata": {"resourceVersion": "9", "annotations": {"deprecated.daemonset.template.generation": "2"}}},
        {"container": {"env": [{"name": "LOG_LEVEL", "value": "5"}]}},
    ],
)
def test_a_step_of_a_roll_out_changes_nothing_that_is_kept(changes: dict[str, Any]) -> None:
    assert kept(daemonset(**changes)) == kept(daemonset())


def test_arguments_and_labels_are_kept_where_a_stack_reads_them() -> None:
    assert kept(daemonset(args=("--memory-unit=MiB",))) != kept(daemonset())
    assert kept(daemonset(DCGM)) != kept(daemonset())
    assert kept(daemonset(DCGM, args=("--debug",))) == kept(daemonset(DCGM))


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {"pool": "a"}},
        {"nodeName": "n1"},
        {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
        {"hostNetwork": True},
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": "Exists"}]}]
                    }
                }
            }
        },
    ],
)
def test_where_it_runs_is_kept(spec: dict[str, Any]) -> None:
    whole = msgspec.to_builtins(daemonset())
    whole["spec"]["template"]["spec"] |= spec
    assert kept(msgspec.convert(whole, DaemonSet)) != kept(daemonset())


def test_what_is_rolled_out_is_kept_and_that_no_node_is_selected() -> None:
    assert kept(daemonset(container={"image": "plugin:2"})) != kept(daemonset())
    assert kept(daemonset(status={"desiredNumberScheduled": 0})) != kept(daemonset())


def test_daemonsets_that_have_nothing_to_do_with_gpus_are_not_kept() -> None:
    assert trim_daemonset(daemonset({"app": "log-shipper"})) is None
    assert trim_daemonset(DaemonSet()) is None


def test_who_reads_a_daemonset_is_known() -> None:
    assert stacks.readers(components(daemonset())) == {"gpushare"}
    assert stacks.readers(components(daemonset(DCGM))) == set()
    assert stacks.readers({"directx-mcdm"}) == {"directx-tensorworks"}


@pytest.mark.parametrize("name", golden_case.names())
def test_trimmed_and_without_those_that_nobody_reads_the_account_is_the_same(name: str) -> None:
    case = golden_case.load(name)
    read = [thing for thing in case.context.daemonsets if stacks.readers(components(thing))]
    trimmed = tuple(short for thing in read if (short := trim_daemonset(thing)) is not None)
    context = msgspec.structs.replace(case.context, daemonsets=trimmed)
    assert node_report(case.node, case.pods, context) == node_report(case.node, case.pods, case.context)
