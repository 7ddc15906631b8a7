"""All sources of one node together: who is meant, what is the node's, which findings there are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.conditions.known import KNOWN, NVSENTINEL
from inventory.catalogue import CATALOGUE
from inventory.health import judge, of_labels, signs
from inventory.health.judge import Judged, Measured
from kube.objects import Node, Pod
from stacks.engine.base import Context
from stacks.engine.node_report import node_report
from stacks.engine.trim_node import trim_node
from tests.inventory.mirror.objects import node_json, pod_json

ONE, TWO = "GPU-aaaaaaaa-0000-0000-0000-000000000000", "GPU-bbbbbbbb-0000-0000-0000-000000000000"
SINCE = "2026-07-01T08:00:00Z"


def condition(kind: str, status: str = "True", reason: str = "", message: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": SINCE}


def judged(
    conditions: list[dict[str, str]] = [],  # noqa: B006 - read only
    measured: list[Measured] = [],  # noqa: B006 - read only
    cards: int = 2,
    allocatable: int | None = None,
    held: tuple[str, ...] = (ONE, TWO),
    health: str = "Healthy",
) -> Judged:
    """A node of NVIDIA's plugin with its cards held by one pod, which names them. allocatable: None: not stated."""
    value: dict[str, Any] = node_json("gpu-1", cards)
    value["status"]["conditions"] += conditions
    value["status"]["allocatable"] = {"nvidia.com/gpu": str(allocatable)} if allocatable is not None else {}
    pod = pod_json("train", "gpu-1", len(held) or 1)
    if held:
        named = [{"resourceID": uuid, "health": health} for uuid in held]
        status = [{"name": "nvidia.com/gpu", "resources": named}]
        pod["status"]["containerStatuses"] = [{"name": "main", "allocatedResourcesStatus": status}]
    node, context = msgspec.convert(value, Node), Context(now=0.0)
    pods = [msgspec.convert(pod, Pod)] if held else []
    return judge.judged(node_report(node, pods, context), node, context, measured)


def levels(found: Judged) -> tuple[str, ...]:
    """Of the node, then of its cards."""
    return (found.node.level, *(found.cards[key].level for key in sorted(found.cards)))


def codes(found: Judged) -> list[tuple[str, str, str | None]]:
    return [(one.code, one.severity, one.card) for one in found.report.findings if one.code in judge_codes]


judge_codes = {
    "xid-hardware",
    "xid-application",
    "xid-unknown",
    "recovery-asked",
    "node-condition",
    "card-unhealthy",
    "row-remap-pending",
}


def reading(uuid: str = ONE, index: int = 0, pci: str = "", lost_at: float | None = None, **values: float) -> Measured:
    told = (
        {"xids": [{"code": int(values["xid"]), "kind": "last", "count": None, "last_at": None}]}
        if "xid" in values
        else {}
    )
    found = signs.found(values, told)
    return Measured(uuid=uuid, format="dcgm-exporter", signs=found, index=index, pci=pci, lost_at=lost_at)


def test_nobody_says_anything_of_cards_that_nobody_holds() -> None:
    found = judged(held=())
    assert levels(found) == ("unknown", "unknown", "unknown")
    assert found.node.told == ()


def test_the_kubelet_vouches_for_what_a_pod_holds() -> None:
    assert levels(judged()) == ("healthy", "healthy", "healthy")
    found = judged(held=(ONE,))
    assert levels(found) == ("unknown", "unknown", "healthy")


def test_the_kubelet_calls_a_device_unhealthy() -> None:
    found = judged(health="Unhealthy")
    assert levels(found) == ("unhealthy", "unhealthy", "unhealthy")
    (one,) = found.cards[ONE].told
    assert (one.source, one.code, one.action) == ("kubelet", "device-unhealthy", "check-plugin-log")


def test_a_plugin_that_gives_out_all_vouches_and_one_that_withholds_blames_the_node() -> None:
    assert levels(judged(held=(), allocatable=2)) == ("healthy", "healthy", "healthy")
    some = judged(held=(), allocatable=1)
    assert levels(some) == ("unhealthy", "unknown", "unknown")
    assert [(one.code, one.text) for one in some.node.told] == [("devices-withheld", "nvidia.com/gpu: 1 of 2")]
    none = judged(held=(), allocatable=0)
    assert (none.node.level, none.node.told[0].code) == ("degraded", "nothing-given-out")


def test_an_exporter_speaks_against_the_kubelet_and_the_worst_counts() -> None:
    found = judged(measured=[reading(xid=79)])
    assert levels(found) == ("unhealthy", "unhealthy", "healthy")
    assert [one.code for one in found.cards[ONE].told] == ["xid-79", "device-healthy"]
    ((code, severity, card),) = codes(found)
    assert (code, severity, card) == ("xid-hardware", "error", ONE)
    text = next(one.text for one in found.report.findings if one.code == "xid-hardware")
    assert "dcgm-exporter" in text
    assert "Xid 79" in text
    assert "start unknown" in text
    assert "Reboot the machine" in text


def test_an_error_of_an_application_is_no_fault_of_the_card() -> None:
    found = judged(measured=[reading(xid=31)])
    assert levels(found) == ("healthy", "healthy", "healthy")
    assert codes(found) == [("xid-application", "info", ONE)]


def test_what_a_silent_exporter_said_last_stays_with_its_age() -> None:
    found = judged(measured=[reading(xid=79, lost_at=1_782_892_800.0)])
    assert found.cards[ONE].level == "unhealthy"
    assert "stopped reporting at 2026-07-01 08:00 UTC" in next(
        one.text for one in found.report.findings if one.code == "xid-hardware"
    )


def nvsentinel(names: str) -> dict[str, str]:
    message = f"ErrorCode:DCGM_FR_FAULTY_MEMORY {names} Memory is faulty Recommended Action=CONTACT_SUPPORT;"
    return condition("GpuMemWatch", "True", "GpuMemWatchIsNotHealthy", message)


def test_a_condition_with_a_uuid_is_of_that_card() -> None:
    found = judged([nvsentinel(f"GPU:0 PCI:0000:1a:00.0 GPU_UUID:{TWO}")])
    assert levels(found) == ("unhealthy", "healthy", "unhealthy")
    bad = found.cards[TWO].told[0]
    assert (bad.source, bad.code, bad.action, bad.since) == ("nvsentinel", "GpuMemWatch", "support", 1_782_892_800.0)
    assert found.node.told == ()
    assert codes(found) == [("node-condition", "error", TWO)]


def test_an_address_or_an_index_is_of_the_card_of_which_an_exporter_says_both() -> None:
    rows = [reading(ONE, 0, "0000:1a:00.0"), reading(TWO, 1, "0000:3d:00.0")]
    assert judged([nvsentinel("PCI:0000:3d:00")], rows).cards[TWO].level == "unhealthy"
    assert judged([nvsentinel("GPU:0")], rows).cards[ONE].level == "unhealthy"


def test_a_name_that_nothing_joins_stays_with_the_node() -> None:
    for names in ("GPU:0", "PCI:0000:1a:00.0", "GPU_UUID:GPU-cccccccc-0000-0000-0000-000000000000", ""):
        found = judged([nvsentinel(names)])
        assert levels(found) == ("unhealthy", "healthy", "healthy"), names
        assert [one.code for one in found.node.told] == ["GpuMemWatch"]
        assert codes(found) == [("node-condition", "error", None)]
    twice = [reading(ONE, 0, "0000:1a:00.0"), reading(TWO, 0, "0000:1a:00.0")]
    assert levels(judged([nvsentinel("GPU:0")], twice)) == ("unhealthy", "healthy", "healthy")
    contradicts = [reading(ONE, 0, "0000:1a:00.0"), reading(TWO, 1, "0000:3d:00.0")]
    assert levels(judged([nvsentinel(f"PCI:0000:1a:00.0 GPU_UUID:{TWO}")], contradicts))[1:] == ("healthy", "healthy")


def test_a_condition_without_a_card_is_the_only_card_s_and_else_the_node_s() -> None:
    bad = condition("XidCriticalError", reason='{"79":true}')
    two = judged([bad])
    assert levels(two) == ("unhealthy", "healthy", "healthy")
    one = judged([bad], cards=1, held=(ONE,))
    assert levels(one) == ("unhealthy", "unhealthy")
    assert one.node.told == ()
    plugin = judged([condition("UnhealthyNvidiaDevicePlugin")], cards=1, held=(ONE,))
    assert levels(plugin) == ("degraded", "healthy")


def test_a_check_that_finds_nothing_makes_no_card_and_no_node_healthy_but_one_of_all_accelerators_does() -> None:
    fine = [condition("IBLinkFlapping", "False"), condition("GpuThermalWatch", "False", "GpuThermalWatchIsHealthy")]
    found = judged(fine, held=())
    assert levels(found) == ("unknown", "unknown", "unknown")
    assert [one.level for one in found.node.told] == ["healthy", "healthy"]
    whole = judged([condition("AcceleratedHardwareReady", "True")], held=())
    assert levels(whole) == ("healthy", "unknown", "unknown")


def test_a_condition_that_nobody_knows_is_shown_and_says_nothing() -> None:
    found = judged([condition("VendorGPUTrouble")], held=())
    assert levels(found) == ("unknown", "unknown", "unknown")
    assert [(one.source, one.level) for one in found.node.told] == [("node-condition", "unknown")]
    assert codes(found) == []


def test_every_finding_is_in_the_catalogue() -> None:
    kinds = [
        nvsentinel("GPU:0"),
        condition("XIDErrors"),
        condition("AcceleratedHardwareReady", "False", "NvidiaXID79Error"),
    ]
    values = {
        "xid": 79.0,
        "ecc_uncorrected_volatile": 1,
        "row_remap_pending": 1,
        "row_remap_failed": 1,
        "temperature": 99,
    }
    found = judged(kinds, [reading(**values)])
    assert {one.code for one in found.report.findings} <= CATALOGUE.keys()
    assert {"ecc-uncorrected", "row-remap-failed", "row-remap-pending", "card-hot"} <= {
        one.code for one in found.report.findings
    }


silent = st.lists(
    st.builds(
        condition,
        st.sampled_from(sorted({*KNOWN, *NVSENTINEL, "VendorGPU", "xid-nonsense", "Ready"})),
        st.sampled_from(("Unknown", "", "true", "False", "yes")),
        st.sampled_from(("", "NvidiaXID79Error", "GpuMemWatchIsNotHealthy")),
        st.text(max_size=40),
    ).filter(
        lambda one: (
            not (one["type"] in ("AcceleratedHardwareReady", "AMDGPUProblem", "GpuAllWatch") and one["status"] != "")
        )
    ),
    max_size=6,
)


@given(silent, st.sampled_from((None, 0, 1)), st.lists(st.sampled_from((0.0, 31.0, 79.0)), max_size=2))
def test_no_combination_of_silence_makes_a_card_or_the_node_healthy(
    conditions: list[dict[str, str]], allocatable: int | None, xids: list[float]
) -> None:
    found = judged(
        conditions,
        [reading(uuid, xid=code) for uuid, code in zip((ONE, TWO), xids, strict=False)],
        allocatable=allocatable,
        held=(),
    )
    assert "healthy" not in levels(found)


@given(
    st.lists(
        st.builds(
            condition,
            st.text(max_size=20) | st.sampled_from(sorted({*KNOWN, *NVSENTINEL})),
            st.text(max_size=5),
            st.text(max_size=30),
            st.text(max_size=200),
        ),
        max_size=5,
    )
)
def test_no_condition_raises_and_all_that_is_kept_is_bounded(conditions: list[dict[str, str]]) -> None:
    found = judged(conditions)
    for told in (*found.node.told, *(one for card in found.cards.values() for one in card.told)):
        assert len(told.text) <= 300
    assert len(found.node.told) <= judge.MOST_TOLD


@pytest.mark.parametrize(
    ("labels", "cordoned", "level", "says", "action"),
    [
        ({of_labels.STATE: "quarantined"}, True, "unhealthy", "quarantined the node", "wait-for-repair"),
        ({of_labels.STATE: "remediation-failed"}, True, "unhealthy", "could not repair", "repair-by-hand"),
        ({of_labels.STATE: "a-later-version"}, True, "unhealthy", "unknown state", "check-node"),
        ({of_labels.STATE: "remediation-succeeded"}, False, "healthy", "back in service", ""),
        ({of_labels.CORDONED_AT: "2026-07-01T08-00-00Z"}, True, "healthy", "", ""),
        ({}, True, "healthy", "", ""),
    ],
)
def test_where_nvsentinel_stands_with_a_node_is_the_nodes_while_it_is_cordoned(
    labels: dict[str, str], cordoned: bool, level: str, says: str, action: str
) -> None:
    value = node_json("gpu-1", 2)
    value["metadata"]["labels"] = {"kubernetes.io/hostname": "gpu-1", **labels, "k8saas.nvidia.com/other": "x"}
    value["spec"] = {"unschedulable": cordoned}
    node, context = msgspec.convert(value, Node), Context(now=0.0)
    kept = trim_node(node)
    found = judge.judged(node_report(kept, [], context), kept, context)
    assert found.node.level == level
    told = [one for one in found.node.told if one.code == of_labels.CODE]
    assert [(says in one.says, one.action) for one in told] == ([(True, action)] if says else [])
    assert ("node-condition" in {one.code for one in found.report.findings}) == (level == "unhealthy")
    assert all(health.level == "healthy" for health in found.cards.values()), "it names no card"


@pytest.mark.parametrize(("text", "since"), [("2026-07-01T08-00-00Z", 1782892800.0), ("yesterday", None), ("", None)])
def test_since_when_a_node_is_cordoned_is_read_from_the_label_that_says_it(text: str, since: float | None) -> None:
    value = node_json("gpu-1", 1)
    value["metadata"]["labels"] = {of_labels.STATE: "draining", of_labels.CORDONED_AT: text}
    value["spec"] = {"unschedulable": True}
    (told,) = of_labels.said(msgspec.convert(value, Node))
    assert told.since == since


def test_a_code_that_the_catalogue_does_not_have_is_told_once_and_puts_no_card_in_doubt() -> None:
    found = judged(measured=[reading(xid=185)])
    assert levels(found) == ("healthy", "healthy", "healthy")
    ((code, severity, card),) = codes(found)
    assert (code, severity, card) == ("xid-unknown", "info", ONE)
    (text,) = [one.text for one in found.report.findings if one.code == "xid-unknown"]
    assert "Unknown code (Xid 185" in text
    assert "support" not in text


def test_a_recovery_that_is_not_known_says_which_number_it_is() -> None:
    found = judged(measured=[reading(recovery_action=9)])
    assert codes(found) == [("recovery-asked", "error", ONE)]
    (text,) = [one.text for one in found.report.findings if one.code == "recovery-asked"]
    assert "action 9, unknown" in text
    assert "Read the recovery action" in text


def test_a_check_with_a_value_that_is_not_known_is_told_once_with_that_value() -> None:
    watches = [{"name": "MEM", "state": "not-told", "code": "15"}, {"name": "SM", "state": "pass", "code": ""}]
    found = judged(measured=[Measured(uuid=ONE, format="dcgm-exporter", signs=signs.found({}, {"watches": watches}))])
    assert [one.code for one in found.cards[ONE].told] == ["watch-unknown", "device-healthy"]
    (one,) = [one for one in found.report.findings if one.code == "exporter-value-unknown"]
    assert (one.severity, one.card) == ("info", ONE)
    assert "MEM 15" in one.text
