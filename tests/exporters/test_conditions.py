"""Conditions of nodes give what they say of the cards. `GOLDEN=rewrite pytest tests/exporters/test_conditions.py` writes
the cases anew.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters import xid
from exporters.conditions import ACTIONS, HEALTHY, NOT_TOLD, TELLERS, UNHEALTHY, Statement, statement, statements
from exporters.conditions.known import EKS_REASONS, KNOWN, NVSENTINEL
from exporters.conditions.messages import nvsentinel
from exporters.conditions.statement import MOST_ENTRIES, TEXT_CHARS
from kube.objects import Condition

GOLDEN = Path(__file__).parent / "golden_conditions"
REWRITE = os.environ.get("GOLDEN") == "rewrite"
NAMES = sorted(path.parent.name for path in GOLDEN.glob("*/node.json"))
STATES = {"healthy", "degraded", "unhealthy", "not-told"}


def read(name: str) -> tuple[Statement, ...]:
    status = json.loads((GOLDEN / name / "node.json").read_text())["status"]
    return statements(msgspec.convert(status["conditions"], list[Condition]), status["nodeInfo"]["bootID"])


def rendered(found: tuple[Statement, ...]) -> str:
    return json.dumps([_said(msgspec.to_builtins(item)) for item in found], indent=2, ensure_ascii=False) + "\n"


def _said(item: Any) -> Any:
    """Without what is empty or not known."""
    if isinstance(item, list | tuple):
        return [_said(one) for one in item]
    if isinstance(item, dict):
        kept = {key: value for key, value in item.items() if value is not None and value is not False}
        return {key: _said(value) for key, value in kept.items() if value not in ("", (), [])}
    return item


@pytest.mark.parametrize("name", NAMES)
def test_the_conditions_of_a_node_give_their_statements(name: str) -> None:
    path = GOLDEN / name / "expected.json"
    got = rendered(read(name))
    if REWRITE:
        path.write_text(got)
    assert got == path.read_text()


def test_every_known_type_is_in_a_case_with_its_bad_status_or_is_named_in_the_table_alone() -> None:
    bad = {item.type for name in NAMES for item in read(name) if item.state not in (HEALTHY, NOT_TOLD)}
    assert set(KNOWN) - bad == {"NVLinkStatusInactive", "UnhealthyNvidiaDevicePlugin", "GPUXIDErrors"}


def test_what_is_said_is_in_the_tables() -> None:
    found = [item for name in NAMES for item in read(name)]
    assert {item.state for item in found} == STATES
    assert {item.said_by for item in found} == set(TELLERS)
    assert {item.action for item in found} | {entry.action for item in found for entry in item.entries} <= {
        "",
        *ACTIONS,
    }
    for known in (*KNOWN.values(), *NVSENTINEL.values()):
        assert known.action in ACTIONS
        assert known.state in STATES - {HEALTHY, NOT_TOLD}
    assert {action for _, _, _, action in EKS_REASONS} <= ACTIONS.keys()


@pytest.mark.parametrize("kind", sorted({*KNOWN, *NVSENTINEL}))
def test_only_its_good_status_is_healthy(kind: str) -> None:
    """A condition of GKE is never good: it is there or not."""
    good = KNOWN[kind].good if kind in KNOWN else "False"
    states = {
        status: statement(Condition(type=kind, status=status)) for status in ("True", "False", "Unknown", "", "true")
    }
    healthy = [status for status, said in states.items() if said is not None and said.state == HEALTHY]
    assert healthy == ([] if kind == "XidCriticalError" else [good])
    for status in ("Unknown", "", "true"):
        said = states[status]
        assert said is not None
        assert said.state == NOT_TOLD


def test_conditions_that_speak_of_no_card_say_nothing() -> None:
    for kind in (
        "Ready",
        "MemoryPressure",
        "DiskPressure",
        "PIDPressure",
        "NetworkUnavailable",
        "FrequentKubeletRestart",
        "",
    ):
        assert statement(Condition(type=kind, status="True")) is None


def test_a_cut_name_is_no_name() -> None:
    whole = "ErrorCode:48 PCI:0000:1a:00 GPU_UUID:GPU-aaaaaaaa-0000-0000-0000-000000000000 x Recommended Action=NONE;"
    for length in range(len(whole)):
        entries, cut = nvsentinel("SysLogsXIDError", whole + whole[:length])
        assert cut == (0 < length < len(whole) - 1)
        for entry in entries:
            for card in entry.cards:
                assert card.uuid in (None, "GPU-aaaaaaaa-0000-0000-0000-000000000000")
                assert card.pci in (None, "0000:1a:00.0")
            assert set(entry.xids) <= {48}


_WORDS = "ErrorCode:|119|PCI:0000:1a:00|GPU:|GPU_UUID:GPU-1| |;|Recommended Action=|NONE|RESET|Xid|(PCI:|): 79|…|\x00"
_words = st.sampled_from(_WORDS.split("|"))
_texts = st.one_of(st.text(max_size=200), st.lists(_words, max_size=60).map("".join))


@pytest.mark.sweep
@given(
    kind=st.one_of(st.sampled_from(sorted({*KNOWN, *NVSENTINEL, "MyGPUThing"})), st.text(max_size=40)),
    status=st.one_of(st.sampled_from(["True", "False", "Unknown"]), st.text(max_size=10)),
    reason=st.one_of(st.none(), st.sampled_from(["GpuMemWatchIsHealthy", "NvidiaXID79Error", '{"48":true}']), _texts),
    message=st.one_of(st.none(), _texts),
    at=st.one_of(st.none(), st.just("2026-07-01T08:00:00Z"), st.text(max_size=30)),
    boot=st.text(max_size=5),
)
def test_no_condition_raises_and_every_statement_is_in_bounds(
    kind: str, status: str, reason: str | None, message: str | None, at: str | None, boot: str
) -> None:
    said = statement(Condition(type=kind, status=status, reason=reason, message=message, lastTransitionTime=at), boot)
    if said is None:
        return
    assert said.state in STATES
    assert said.said_by in TELLERS
    assert said.action in {"", *ACTIONS}
    assert (said.action == "") == (said.action_by == "")
    assert len(said.message) <= TEXT_CHARS
    assert len(said.entries) <= MOST_ENTRIES
    assert all(0 <= code <= 9999 for code in said.xids)
    if said.state == HEALTHY:
        assert status in ("True", "False")


@pytest.mark.parametrize(
    ("check", "xids"),
    [("SysLogsXIDError", (48,)), ("SysLogsSXIDError", ()), ("GpuMemWatch", ()), ("RepeatedXIDErrorOnSameGPU", (48,))],
)
def test_codes_of_switches_are_no_xids(check: str, xids: tuple[int, ...]) -> None:
    (entry,), _ = nvsentinel(check, "ErrorCode:48 text Recommended Action=NONE;")
    assert entry.xids == xids
    assert entry.codes == ("48",)


@pytest.mark.sweep
def test_a_huge_message_is_read_in_linear_time() -> None:
    began = time.process_time()
    for message in (
        "ErrorCode:1 " * 200_000,
        "Recommended Action=" * 100_000,
        "Xid (PCI:" * 200_000,
        "a" * 2_000_000,
        "GPU:1 x Recommended Action=NONE;" * 50_000,
    ):
        for kind in ("SysLogsXIDError", "XIDErrors", "AcceleratedHardwareReady", "XidCriticalError"):
            said = statement(Condition(type=kind, status="True", reason=message, message=message))
            assert said is not None
            assert len(said.entries) <= MOST_ENTRIES
    assert time.process_time() - began < 20


def test_many_conditions_are_bounded() -> None:
    found = statements(Condition(type=f"GPU{number}", status="True") for number in range(5000))
    assert len(found) == MOST_ENTRIES


def test_a_program_error_that_is_asked_nothing_for_does_not_make_a_card_unhealthy_but_one_of_the_card_does() -> None:
    text = "ErrorCode:{0} GPU:1 XID {0} Recommended Action=NONE;"
    for code, known in xid.XIDS.items():
        said = statement(
            Condition(type="GpuMemWatch", status="True", reason="GpuMemWatchIsNotHealthy", message=text.format(code))
        )
        assert said is not None
        assert (said.state == UNHEALTHY) == known.hits_card


def test_an_action_of_nvsentinel_that_is_not_known_is_told_and_is_not_taken_for_none() -> None:
    message = "ErrorCode:31 GPU:0 GPU_UUID:GPU-1 Xid 31 Recommended Action=POWER_CYCLE;"
    condition = Condition(type="SysLogsXIDError", status="True", reason="SysLogsXIDErrorIsNotHealthy", message=message)
    found = statement(condition)
    assert found is not None
    assert (found.state, found.action) == (UNHEALTHY, "check-node")
    assert "Recommended Action=POWER_CYCLE" in found.entries[0].text


def test_a_reason_of_eks_that_is_in_no_table_is_called_unknown_and_stays_readable() -> None:
    condition = Condition(type="AcceleratedHardwareReady", status="False", reason="NvidiaOpticsError", message="lane 3")
    found = statement(condition)
    assert found is not None
    assert (found.state, found.reason, found.message) == (UNHEALTHY, "NvidiaOpticsError", "lane 3")
    assert "unknown reason" in found.headline
