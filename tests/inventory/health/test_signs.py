"""Signs of an exporter's reading and what they say: Xid, ECC, remapping, heat, clocks, health checks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters import xid
from exporters.engine.measures import MEASURES
from inventory.health import of_signs, signs
from inventory.health.levels import level_of
from inventory.health.signs import Sign, Signs
from inventory.health.words import ACTIONS
from stacks.engine.base import DEGRADED, HEALTH_UNKNOWN, HEALTHY, UNHEALTHY

NOW = 1_700_000_000.0


def last(code: int) -> dict[str, Any]:
    return {"xids": [{"code": code, "kind": "last", "count": None, "last_at": None}]}


def said(values: dict[str, float], told: dict[str, Any] | None = None) -> list[tuple[str, str, str]]:
    """(code, level, action) of each statement of one reading."""
    found = signs.found(values, told or {})
    return [(one.code, one.level, one.action) for one in of_signs.statements("dcgm-exporter", found)]


CASES: list[tuple[dict[str, float], dict[str, Any], list[tuple[str, str, str]]]] = [
    ({}, {}, []),
    ({"xid": 0}, last(0), []),
    ({"xid": 79}, last(79), [("xid-79", UNHEALTHY, "reboot-or-replace")]),
    ({"xid": 48}, last(48), [("xid-48", UNHEALTHY, "reset-or-replace")]),
    ({"xid": 63}, last(63), [("xid-63", DEGRADED, "ignore")]),
    ({"xid": 13}, last(13), [("xid-13", HEALTH_UNKNOWN, "look-at-application")]),
    ({"xid": 43}, last(43), [("xid-43", HEALTH_UNKNOWN, "look-at-application")]),
    ({"xid": 45}, last(45), [("xid-45", HEALTH_UNKNOWN, "look-at-others")]),
    ({"xid": 9000}, last(9000), [("xid-9000", HEALTH_UNKNOWN, "look-up-code")]),
    ({"ecc_uncorrected_volatile": 2}, {}, [("ecc-uncorrected", UNHEALTHY, "reset-and-check")]),
    ({"ecc_uncorrected_volatile": 0, "ecc_corrected_volatile": 900}, {}, []),
    ({"ecc_uncorrected_aggregate": 7}, {}, []),
    ({"row_remap_pending": 1}, {}, [("row-remap-pending", DEGRADED, "reset")]),
    ({"row_remap_failed": 1}, {}, [("row-remap-failed", UNHEALTHY, "replace")]),
    ({"sram_threshold_exceeded": 1}, {}, [("sram-threshold", UNHEALTHY, "replace")]),
    ({"retired_pages_pending": 3}, {}, [("pages-retired-pending", DEGRADED, "reset")]),
    ({"retired_pages_single_bit": 60, "retired_pages_double_bit": 2}, {}, []),
    (
        {"retired_pages_single_bit": 60, "retired_pages_double_bit": 3},
        {},
        [("pages-retired", UNHEALTHY, "replace")],
    ),
    ({"recovery_action": 2}, {}, [("recovery-action", UNHEALTHY, "reboot")]),
    ({"recovery_action": 0}, {}, []),
    ({"recovery_action": 6}, {}, [("recovery-action", UNHEALTHY, "reset-bus")]),
    ({"recovery_action": 7}, {}, [("recovery-action", UNHEALTHY, "reboot")]),
    ({"recovery_action": 15}, {}, [("recovery-action", UNHEALTHY, "unknown-recovery")]),
    ({"temperature": 89}, {}, []),
    ({"temperature": 90}, {}, [("hot", DEGRADED, "check-cooling")]),
    ({"temperature": 91, "temperature_slowdown": 100}, {}, []),
    ({"temperature": 84, "temperature_slowdown": 87}, {}, [("hot", DEGRADED, "check-cooling")]),
    ({"temperature": 95, "temperature_margin": 10}, {}, []),
    ({"temperature_margin": -2}, {}, [("hot", DEGRADED, "check-cooling")]),
    ({}, {"throttles": ["power_cap", "gpu_idle", "clocks_setting"]}, []),
    ({}, {"throttles": ["hw_thermal"]}, [("throttled-heat", DEGRADED, "check-cooling")]),
    ({}, {"throttles_lately": ["sw_thermal"]}, [("throttled-heat", DEGRADED, "check-cooling")]),
    ({}, {"throttles": ["hw_power_brake"]}, [("throttled-power", DEGRADED, "check-power-supply")]),
    ({}, {"throttles": ["hw_slowdown"]}, [("throttled-hardware", DEGRADED, "check-cooling")]),
    ({}, {"watches": [{"name": "MEM", "state": "pass", "code": ""}]}, [("watches-pass", HEALTHY, "")]),
    ({}, {"watches": [{"name": "FABRIC", "state": "pass", "code": ""}]}, []),
    # A value that is in no table may be a failure: nothing passes beside it.
    (
        {},
        {
            "watches": [
                {"name": "MEM", "state": "not-told", "code": "15"},
                {"name": "SM", "state": "pass", "code": ""},
            ]
        },
        [("watch-unknown", HEALTH_UNKNOWN, "check-exporter")],
    ),
    (
        {},
        {
            "watches": [
                {"name": "NETWORK", "state": "not-told", "code": "7"},
                {"name": "NPU", "state": "pass", "code": ""},
            ]
        },
        [("watch-unknown", HEALTH_UNKNOWN, "check-exporter"), ("watches-pass", HEALTHY, "")],
    ),
    ({}, {"throttles": ["unknown-0x200", "display_clocks"]}, [("throttled-unknown", HEALTH_UNKNOWN, "")]),
    ({}, {"watches": [{"name": "MEM", "state": "not-told", "code": ""}]}, []),
    (
        {},
        {
            "watches": [
                {"name": "MEM", "state": "fail", "code": "DCGM_FR_X"},
                {"name": "SM", "state": "pass", "code": ""},
            ]
        },
        [("watch-fail", UNHEALTHY, "check-exporter"), ("watches-pass", HEALTHY, "")],
    ),
    ({}, {"watches": [{"name": "PCIE", "state": "warn", "code": ""}]}, [("watch-warn", DEGRADED, "check-exporter")]),
]


@pytest.mark.parametrize(("values", "told", "expected"), CASES, ids=[str(number) for number in range(len(CASES))])
def test_a_reading_says(values: dict[str, float], told: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    assert said(values, told) == expected


def test_cases_name_measures_that_there_are() -> None:
    assert {name for values, _, _ in CASES for name in values} <= MEASURES.keys()


@pytest.mark.parametrize("code", sorted(xid.XIDS))
def test_each_code_of_the_catalogue_has_a_level_and_an_action_by_the_table(code: int) -> None:
    (one,) = of_signs.statements("dcgm-exporter", signs.found({"xid": code}, last(code)))
    known = xid.XIDS[code]
    expected = {xid.CRITICAL: UNHEALTHY, xid.WARNING: DEGRADED}.get(known.severity, HEALTH_UNKNOWN)
    assert (one.level, one.says) == (expected, known.title)
    assert one.action in ACTIONS
    assert (one.level in (DEGRADED, UNHEALTHY)) == known.hits_card


def test_since_when_is_the_first_sight_and_not_known_where_it_was_there_from_the_first() -> None:
    found = signs.found({"xid": 79}, last(79))
    assert signs.aged(found, {}, NOW, unbroken=False)["xid/79"].since is None
    fresh = signs.aged(found, {}, NOW, unbroken=True)
    assert fresh["xid/79"].since == NOW
    assert signs.aged(found, fresh, NOW + 600, unbroken=True)["xid/79"].since == NOW
    assert signs.aged(found, fresh, NOW + 6000, unbroken=False)["xid/79"].since == NOW


def test_an_exporter_that_says_when_it_was_is_believed() -> None:
    told = {"xids": [{"code": 79, "kind": "since-start", "count": 3, "last_at": NOW - 50}]}
    assert signs.aged(signs.found({}, told), {}, NOW, unbroken=True)["xid/79"].since == NOW - 50


def test_a_later_code_of_the_gauge_does_not_undo_the_one_before_and_a_reset_does() -> None:
    first = signs.aged(signs.found({"xid": 79}, last(79)), {}, NOW, unbroken=True)
    later = signs.aged(signs.found({"xid": 31}, last(31)), first, NOW + 60, unbroken=True)
    assert later == {"xid/79": Sign(NOW, signs.REPLACED), "xid/31": Sign(NOW + 60, "last")}
    assert level_of(of_signs.statements("dcgm-exporter", later)) == UNHEALTHY
    assert signs.aged(signs.found({"xid": 0}, last(0)), later, NOW + 120, unbroken=True) == {}


def test_a_count_in_a_window_ends_with_its_window() -> None:
    counted = {"xids": [{"code": 13, "kind": "in-window", "count": 2, "last_at": None}]}
    before = signs.aged(signs.found({}, counted), {}, NOW, unbroken=True)
    gone = {"xids": [{"code": 13, "kind": "in-window", "count": 0, "last_at": None}]}
    assert before.keys() == {"xid/13"}
    assert signs.aged(signs.found({}, gone), before, NOW + 60, unbroken=True) == {}


def test_heat_goes_when_the_card_has_cooled_down_and_not_before() -> None:
    hot = signs.found({"temperature": 91}, {})
    assert hot.keys() == {"hot"}
    assert signs.found({"temperature": 87}, {}, hot).keys() == {"hot"}
    assert signs.found({"temperature": 84}, {}, hot) == {}
    assert signs.found({"temperature": 87}, {}, ()) == {}


def test_what_an_exporter_said_last_stays_bad_and_a_moment_does_not_last() -> None:
    found = signs.found({"xid": 79, "temperature": 95}, last(79) | {"throttles": ["hw_thermal"]})
    told = {one.code: one for one in of_signs.statements("dcgm-exporter", found, lost_at=NOW)}
    assert {code: one.level for code, one in told.items()} == {
        "xid-79": UNHEALTHY,
        "throttled-heat": HEALTH_UNKNOWN,
        "hot": HEALTH_UNKNOWN,
    }
    assert {one.lost_at for one in told.values()} == {NOW}
    assert (
        level_of(of_signs.statements("x", signs.found({}, {"watches": CASES[-2][1]["watches"][1:]}), NOW))
        == HEALTH_UNKNOWN
    )


def test_another_exporter_that_says_it_is_named() -> None:
    told = {"watches": [{"name": "GPU", "state": "fail", "code": ""}]}
    found = signs.found({"xid": 79}, last(79) | told, by={"watches": "amd-exporter"})
    assert {one.code: one.source for one in of_signs.statements("dcgm-exporter", found)} == {
        "xid-79": "dcgm-exporter",
        "watch-fail": "amd-exporter",
    }


figures = st.dictionaries(
    st.sampled_from(sorted(set(MEASURES) - {"xid"})),
    st.sampled_from((0.0, 0.5, 1.0, 15.0, 63.0, 150.0, 2.0**31)),
    max_size=6,
)


@given(figures, st.integers(0, 9_999))
def test_no_figure_makes_a_card_healthy(values: dict[str, float], code: int) -> None:
    told = of_signs.statements("dcgm-exporter", signs.found(values | {"xid": code}, last(code)))
    assert level_of(told) != HEALTHY
    assert all(one.action in {"", *ACTIONS} for one in told)


strange: st.SearchStrategy[Signs] = st.dictionaries(
    st.sampled_from(("xid/", "watch/", "throttle/", "", "ecc-uncorrected", "hot", "recovery-action")).flatmap(
        lambda begin: st.text(max_size=6).map(lambda text: begin + text)
    ),
    st.builds(
        Sign, st.none() | st.floats(), st.none() | st.text(max_size=9) | st.integers() | st.lists(st.text(max_size=3))
    ),
    max_size=8,
)


@given(strange)
def test_a_column_that_somebody_wrote_into_raises_nothing_and_heals_nothing(found: Signs) -> None:
    assert level_of(of_signs.statements("x", found)) != HEALTHY
    assert signs.unpacked("nonsense") == signs.unpacked('{"xid/79": 3}') == signs.unpacked("") == {}


@given(figures, st.integers(0, 200))
def test_signs_are_the_same_after_they_were_stored(values: dict[str, float], code: int) -> None:
    found = signs.aged(signs.found(values | {"xid": code}, last(code)), {}, NOW, unbroken=True)
    assert signs.unpacked(signs.packed(found)) == found


def test_what_other_tools_make_of_a_code_stands_beside_it() -> None:
    (one,) = of_signs.statements("dcgm-exporter", signs.found({"xid": 63}, last(63)))
    assert one.text.endswith("; fatal for eks, gke; a warning for dcgm")
    (one,) = of_signs.statements("dcgm-exporter", signs.found({"xid": 109}, last(109)))
    assert one.text.endswith("; fatal for eks; ignored by nvidia-device-plugin")
