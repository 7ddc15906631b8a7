"""One finding per fact of a card, with all its sources: nothing that one of them reports is lost, nothing is there twice."""

from __future__ import annotations

from typing import Any

import pytest

from inventory.health import judge, signs
from inventory.health.judge import Judged, Measured
from stacks.engine.base import Finding
from stacks.engine.node_report import node_report
from tests.inventory.health.test_judge import ONE, TWO, condition, judged
from tests.stacks import golden_case


def exporter(uuid: str = ONE, xids: tuple[int, ...] = (), **told: Any) -> Measured:
    """What dcgm-exporter reports of a card. told: `watches`, `throttles`, and measures by name."""
    more = {name: told.pop(name) for name in ("watches", "throttles") if name in told}
    more["xids"] = [{"code": code, "kind": "last", "count": None, "last_at": None} for code in xids]
    return Measured(uuid=uuid, format="dcgm-exporter", signs=signs.found(told, more), index=0)


def nvsentinel(kind: str, entry: str, uuid: str = ONE) -> dict[str, str]:
    return condition(kind, "True", f"{kind}IsNotHealthy", f"{entry} GPU_UUID:{uuid} text Recommended Action=NONE;")


def of(found: Judged, card: str | None) -> dict[str, Finding]:
    """Code → finding, of a card, or of the node."""
    mine = [one for one in found.report.findings if one.card == card and not one.pod]
    assert len({one.code for one in mine}) == len(mine)
    return {one.code: one for one in mine}


def test_an_xid_that_an_exporter_and_a_condition_report_is_one_finding_with_both() -> None:
    found = judged([nvsentinel("SysLogsXIDError", "ErrorCode:79")], [exporter(xids=(79,))])
    (one,) = of(found, ONE).values()
    assert (one.code, one.severity) == ("xid-hardware", "error")
    assert "dcgm-exporter: The card has fallen off the bus (Xid 79" in one.text
    assert "NVSentinel: The card has fallen off the bus (SysLogsXIDError=True" in one.text
    assert not of(found, None)
    assert len(found.cards[ONE].told) == 3, "the page of the card has all reports"


def test_an_xid_is_the_same_finding_whichever_source_reports_it_alone() -> None:
    by_condition = of(judged([nvsentinel("SysLogsXIDError", "ErrorCode:79")]), ONE)
    by_watch = of(
        judged(measured=[exporter(watches=[{"name": "ALL", "state": "fail", "code": "DCGM_FR_FALLEN_OFF_BUS"}])]), ONE
    )
    by_gauge = of(judged(measured=[exporter(xids=(79,))]), ONE)
    assert list(by_condition) == list(by_watch) == list(by_gauge) == ["xid-hardware"]


def test_a_condition_that_names_no_card_is_of_the_card_that_reports_its_xid() -> None:
    gke = condition("XidCriticalError", reason='{"48":true}')
    found = judged([gke], [exporter(TWO, xids=(48,))])
    assert not of(found, None)
    (one,) = of(found, TWO).values()
    assert "dcgm-exporter" in one.text
    assert "GKE" in one.text
    alone = judged([gke], [exporter(TWO, xids=(79,))])
    assert list(of(alone, None)) == ["xid-hardware"], "which card it is of is not known"
    both = judged([condition("XIDErrors", message="XID 48, XID 79")], [exporter(ONE, (48,)), exporter(TWO, (79,))])
    assert not of(both, None)
    assert all("AKS" in of(both, card)["xid-hardware"].text for card in (ONE, TWO))


def test_a_condition_with_one_more_xid_than_the_cards_stays_with_the_node() -> None:
    found = judged([condition("XIDErrors", message="XID 48, XID 79")], [exporter(ONE, (48,))])
    assert "Xid 79" in of(found, None)["xid-hardware"].text
    assert list(of(found, ONE)) == ["xid-hardware"]


def test_an_application_error_that_nvsentinel_takes_for_fatal_is_one_finding_with_the_worse_severity() -> None:
    kind, message = (
        "GpuMemWatch",
        f"ErrorCode:DCGM_FR_XID_ERROR GPU_UUID:{ONE} Detected XID 31 Recommended Action=NONE;",
    )
    found = judged([condition(kind, "True", f"{kind}IsNotHealthy", message)], [exporter(xids=(31,))])
    (one,) = of(found, ONE).values()
    assert (one.code, one.severity) == ("xid-application", "warning")
    assert one.text.startswith("NVSentinel"), "the worst report comes first"
    assert "dcgm-exporter" in one.text


def test_heat_is_one_finding_with_the_temperature_the_clocks_and_the_condition() -> None:
    found = judged(
        [nvsentinel("GpuThermalMarginWatch", "ErrorCode:DCGM_FR_TEMP_MARGIN")],
        [exporter(throttles=["hw_thermal"], temperature=95.0)],
    )
    (one,) = of(found, ONE).values()
    assert (one.code, one.severity) == ("card-hot", "warning")
    for told in ("The card is too hot", "Clocks lowered by heat (hw_thermal)", "GpuThermalMarginWatch=True"):
        assert told in one.text


def test_health_checks_that_repeat_a_figure_add_themselves_to_its_finding() -> None:
    watches = [
        {"name": "ALL", "state": "fail", "code": "DCGM_FR_FALLEN_OFF_BUS"},
        {"name": "MEM", "state": "warn", "code": "DCGM_FR_PENDING_ROW_REMAP"},
        {"name": "PCIE", "state": "warn", "code": "DCGM_FR_PCI_REPLAY_RATE"},
    ]
    found = of(judged(measured=[exporter(xids=(79,), watches=watches, row_remap_pending=1.0)]), ONE)
    assert set(found) == {"xid-hardware", "row-remap-pending", "exporter-check"}
    assert "DCGM_FR_FALLEN_OFF_BUS" in found["xid-hardware"].text
    assert "DCGM_FR_PENDING_ROW_REMAP" in found["row-remap-pending"].text
    assert found["exporter-check"].text.count("DCGM_FR") == 1


def test_facts_of_one_card_that_differ_stay_apart() -> None:
    found = judged(measured=[exporter(xids=(94,), ecc_uncorrected_volatile=1.0, row_remap_pending=1.0)])
    assert set(of(found, ONE)) == {"xid-hardware", "ecc-uncorrected", "row-remap-pending"}


def recorded(name: str, *measured: Measured) -> Judged:
    case = golden_case.load(name)
    return judge.judged(node_report(case.node, case.pods, case.context), case.node, case.context, measured)


def test_a_taint_for_an_xid_is_the_finding_of_the_xid() -> None:
    name = "dra-tainted-card-is-not-given-out"
    assert list(of(recorded(name), "GPU-0")) == ["xid-hardware"]
    row = Measured(uuid="GPU-0", card="GPU-0", format="dcgm-exporter", signs=exporter(xids=(79,)).signs)
    (one,) = of(recorded(name, row), "GPU-0").values()
    for told in ("dcgm-exporter", "gpu.nvidia.com/xid=79:NoSchedule", "The device gpu-0", "New claims do not get it"):
        assert told in one.text


def test_a_taint_for_another_reason_is_a_finding_of_its_own() -> None:
    row = Measured(uuid="GPU-0", card="GPU-0", format="dcgm-exporter", signs=exporter(xids=(79,)).signs)
    assert set(of(recorded("dra-taint-rules", row), "GPU-0")) == {"device-tainted", "xid-hardware"}


@pytest.mark.parametrize(
    ("name", "card", "reason"),
    [
        ("koordinator-device", "2", "Xid44"),
        ("ascend-device-info", "4", "A8028801"),
        ("ascend-device-info-set-apart", "0", "is out of service"),
    ],
)
def test_a_card_that_its_stack_marks_is_one_finding_with_the_reason(name: str, card: str, reason: str) -> None:
    (one,) = of(recorded(name), card).values()
    assert (one.code, one.severity) == ("card-unhealthy", "error")
    assert "marks the card as unhealthy" in one.text
    assert reason in one.text
