"""The table of Xid codes."""

from __future__ import annotations

import pytest

from exporters import xid


def test_every_code_of_the_catalogue_is_there_once() -> None:
    assert sorted(xid.XIDS) == list(range(1, xid.LAST_CODE + 1))
    rows = [code for codes, *_ in xid._ROWS for code in codes]
    assert len(rows) == len(set(rows))


def test_what_is_said_of_a_code_is_one_of_the_words_for_it() -> None:
    for item in xid.XIDS.values():
        assert item.cause in (xid.APPLICATION, xid.DRIVER, xid.HARDWARE, xid.EITHER, xid.FOLLOWS)
        assert item.severity in xid.SEVERITIES
        assert item.action in xid.ACTIONS
        assert item.title
        assert item.known
    asked = {action for action in xid.RECOVERIES.values() if action} | {xid.recovery(8), xid.xid(999).action}
    assert set(xid._OF_BUCKET.values()) | asked == xid.ACTIONS.keys()


def test_a_recovery_that_is_newer_than_the_table_asks_for_something_as_well() -> None:
    assert xid.recovery(0) is None
    assert [xid.recovery(number) for number in (6, 7, 8, 200)] == [
        "reset-bus",
        "reboot",
        "unknown-recovery",
        "unknown-recovery",
    ]


def test_power_smoothing_that_works_again_is_no_fault_and_the_others_have_a_row_each() -> None:
    assert not xid.xid(162).hits_card
    assert all(xid.xid(code).hits_card for code in (163, 164, 165))
    assert len({xid.xid(code).title for code in range(162, 166)}) == 4


#: Code → (severity, what to do, whether it is replaced when it comes again).
CHOSEN = {
    13: ("process", "restart-process", False),
    31: ("process", "restart-process", False),
    43: ("information", "ignore", False),
    45: ("information", "look-at-others", False),
    48: ("critical", "reset-and-check", True),
    54: ("critical", "check-power", False),
    63: ("warning", "ignore", False),
    64: ("critical", "reset", True),
    74: ("critical", "check-links", True),
    78: ("warning", "update", False),
    79: ("critical", "reboot", True),
    94: ("warning", "restart-process", False),
    95: ("critical", "reset", True),
    119: ("critical", "reset", False),
    145: ("warning", "decode-link", False),
    151: ("critical", "restart-vm", False),
    154: ("warning", "follow-message", False),
    159: ("warning", "check-memory-errors", False),
    171: ("critical", "not-said", True),
    17: ("warning", "support", False),
}


@pytest.mark.parametrize("code", CHOSEN)
def test_codes_that_matter(code: int) -> None:
    found = xid.xid(code)
    assert (found.severity, found.action, found.replace) == CHOSEN[code]


def test_what_ends_a_program_only_leaves_the_card_in_use_and_what_resets_it_is_critical() -> None:
    for item in xid.XIDS.values():
        if item.action == "reset" or item.action == "reboot":
            assert item.severity == xid.CRITICAL
        if item.action == "restart-process":
            assert item.severity == xid.PROCESS or item.code == 94
        if item.cause in (xid.APPLICATION, xid.FOLLOWS):
            assert item.severity != xid.CRITICAL
        if item.replace:
            assert item.hits_card


@pytest.mark.parametrize("code", [-1, 0, 173, 999, 2**63])
def test_a_code_that_the_catalogue_does_not_have_is_unknown(code: int) -> None:
    found = xid.xid(code)
    assert (found.code, found.known, found.severity, found.nvidia) == (code, False, xid.UNKNOWN, "")
    assert not found.hits_card


def test_who_says_so() -> None:
    assert xid.said(63) == {"dcgm": "warned", "eks": "fatal", "gke": "fatal"}
    assert xid.said(109) == {"nvidia-device-plugin": "ignored", "eks": "fatal"}
    assert xid.said(31) == {"dcgm": "warned", "nvidia-device-plugin": "ignored"}
    assert xid.said(1000) == {}


def test_one_tool_says_one_thing_of_a_code() -> None:
    for tool, verdicts in xid.SAID.items():
        codes = [code for found in verdicts.values() for code in found]
        assert len(codes) == len(set(codes)), tool


def test_what_some_tool_takes_for_fatal_is_at_least_a_warning_here() -> None:
    fatal = {code for verdicts in xid.SAID.values() for code in verdicts.get(xid.FATAL, ())}
    assert [code for code in sorted(fatal) if not xid.xid(code).hits_card] == []


def test_the_worst_of_several() -> None:
    assert xid.severest([]) is None
    worst = xid.severest([31, 79, 63, 48, 45])
    assert worst is not None
    assert worst.code == 48
