"""The pages of the simulated exporters: in upstream's form, as the product's own formats read them, behind the API server's proxy."""

from __future__ import annotations

import json

import pytest

from exporters import CardReading, Context, Report, page_names, read_page, recognise
from fleetsim import Fleet
from fleetsim.exporters import EXPORTERS, Silent, Target, exported, targets
from fleetsim.resources import PODS
from fleetsim.usage import Spot, memory_of, value
from tests.fleetsim.client import Client
from tests.fleetsim.conftest import START, pass_time

MIB = 1 << 20
FORMATS = {
    "nvidia-dcgm-exporter": "dcgm-exporter",
    "dcgm-exporter-dra": "dcgm-exporter",
    "hami-device-plugin": "hami-monitor",
    "volcano-device-plugin": "volcano-vgpu",
    "amd-metrics-exporter": "amd-exporter",
    "xpumd": "intel-xpumd",
    "npu-exporter": "ascend-npu-exporter",
    "nvidia-gpu-exporter": "nvidia-gpu-exporter",
    "nvidia-gpu-exporter-windows": "nvidia-gpu-exporter",
    "nvidia-gpu-device-plugin-large-cos": "gke-device-plugin",
}


def page(fleet: Fleet, one: Target) -> str:
    answer = exported(fleet, one.namespace, one.pod, None, "/metrics")
    assert answer.code == 200
    return answer.body


def read(fleet: Fleet, one: Target) -> Report:
    """As the product reads the page of this pod."""
    body = page(fleet, one).encode()
    names = page_names(body)
    found = [
        item for item in recognise(names, FORMATS[one.exporter], page=True) if item.format.name == FORMATS[one.exporter]
    ]
    assert len(found) == 1, one
    reader = found[0].reader(Context(now=fleet.now, node=one.node, version=""))
    reader.add(read_page(body, found[0].names(names), reader.told, sets=reader.sets))
    return reader.report()


def of_node(fleet: Fleet, node: str) -> Target:
    (found,) = [one for one in targets(fleet) if one.node == node]
    return found


def reading(report: Report, uuid: str) -> CardReading:
    (found,) = [one for one in report.readings if one.uuid == uuid and not one.gpu_instance]
    return found


def test_every_exporter_is_read_and_nothing_of_it_is_doubted(simulated: Fleet) -> None:
    seen = set()
    for one in targets(simulated):
        if one.node == "mig-a100-02" or (one.exporter.startswith("nvidia-gpu-device") and "1g" in one.node):
            continue
        report = read(simulated, one)
        seen.add(one.exporter)
        assert report.readings, one
        assert not report.unknown, one
        # The label of a card that KAI divides is that of the pod that reserves it.
        assert {problem.code for problem in report.problems} <= (
            {"holder-not-a-user"} if "kai" in one.node else set()
        ), one
    assert seen == set(EXPORTERS) == set(FORMATS)


@pytest.mark.parametrize(
    ("node", "style"),
    [("dgx-h100-01", "DCGM_FI_DEV_FB_USED{"), ("dra-h100-01", "DCGM_FI_DEV_FB_USED_BYTES{")],
)
def test_both_styles_of_dcgm_say_what_the_card_does_and_who_has_it(simulated: Fleet, node: str, style: str) -> None:
    one = of_node(simulated, node)
    assert style in page(simulated, one)
    report = read(simulated, one)
    machine = simulated.world.scheduler.by_name[node]
    uses = {spot: use for _, spot, use in simulated.uses() if spot.node == node}
    for number, uuid in enumerate(machine.uuids):
        found, use = reading(report, uuid), uses[Spot(node, number)]
        wanted = value(use, simulated.now)
        values = {name: item.value for name, item in found.values.items()}
        assert abs(values["memory_used"] - wanted.memory_used) <= MIB
        assert values["memory_total"] == use.total
        assert values["graphics_active"] == pytest.approx(wanted.activity, abs=1e-5)
        assert values["utilization"] == pytest.approx(wanted.utilization, abs=0.006)
        assert values["temperature"] == pytest.approx(wanted.temperature, abs=0.51)
        assert values["power"] == pytest.approx(wanted.power, abs=0.01)
        assert values["sm_clock"] == pytest.approx(wanted.sm_clock)
        last = use.holders(simulated.now)[-1:]
        assert [(held.namespace, held.pod) for held in found.holders] == [(t.who.namespace, t.who.pod) for t in last]


def test_hami_says_what_each_container_uses(simulated: Fleet) -> None:
    report = read(simulated, of_node(simulated, "hami-4090-01"))
    machine = simulated.world.scheduler.by_name["hami-4090-01"]
    uses = {spot.card: use for _, spot, use in simulated.uses() if spot.node == machine.name}
    for number, uuid in enumerate(machine.uuids):
        found, use = reading(report, uuid), uses[number]
        wanted = {one.who.pod: memory_of(use, one, simulated.now) for one in use.holders(simulated.now)}
        assert {held.pod: held.memory_used for held in found.holders} == wanted
        assert found.values["memory_used"].value == value(use, simulated.now).memory_used


def test_a_card_in_mig_mode_has_rows_of_its_instances(simulated: Fleet) -> None:
    report = read(simulated, of_node(simulated, "mig-h100-01"))
    uses = {(spot.card, spot.instance): use for _, spot, use in simulated.uses() if spot.node == "mig-h100-01"}
    uuids = simulated.world.scheduler.by_name["mig-h100-01"].uuids
    slices = {(uuids.index(one.uuid or ""), one.gpu_instance): one for one in report.readings if one.gpu_instance}
    assert len(slices) == 12
    for key, one in slices.items():
        use = uses[key]
        assert abs(one.values["memory_used"].value - value(use, simulated.now).memory_used) <= MIB
        assert [held.pod for held in one.holders] == [held.who.pod for held in use.holders(simulated.now)]
        assert "utilization" not in one.values


def test_what_is_wrong_with_a_card_is_on_its_page(simulated: Fleet) -> None:
    uuids = simulated.world.scheduler.by_name["dgx-h100-02"].uuids
    report = read(simulated, of_node(simulated, "dgx-h100-02"))
    lost, hot = reading(report, uuids[5]), reading(report, uuids[1])
    assert [one.code for one in lost.xids] == [79]
    assert set(lost.values) == {"xid"}
    assert [(one.reason, one.count) for one in hot.throttles] == [("hw_thermal", 4)]
    first = simulated.world.scheduler.by_name["dgx-a100-01"].uuids
    bad = reading(read(simulated, of_node(simulated, "dgx-a100-01")), first[2])
    assert [one.code for one in bad.xids] == [94]
    assert [bad.values[name].value for name in ("row_remap_pending", "ecc_uncorrected_volatile")] == [1, 1]
    assert "memory_used" in bad.values


def test_nodes_of_some_kinds_have_no_exporter(simulated: Fleet) -> None:
    nodes = {one.node for one in targets(simulated)}
    without = {machine.name for machine in simulated.world.machines if machine.kind.cards} - nodes
    kinds = {simulated.world.scheduler.by_name[name].kind.key for name in without}
    assert {"gpushare-t4", "gpushare-v100", "alpha-k80", "aks-windows", "l40s-new"} <= kinds
    assert not kinds & {"h100", "a100", "hami-4090", "volcano-a40"}


def test_the_proxy_of_a_pod_is_asked_as_the_product_asks(api: Client, simulated: Fleet) -> None:
    one = of_node(simulated, "dgx-h100-01")
    pod = f"/api/v1/namespaces/{one.namespace}/pods"
    for path in (
        f"{pod}/{one.pod}:9400/proxy/metrics",
        f"{pod}/http:{one.pod}:9400/proxy/metrics",
        f"{pod}/http:{one.pod}:9400:/proxy/metrics",
    ):
        answer = api.request("GET", path)
        assert answer.status == 200, path
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert answer.data.decode() == page(simulated, one)


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "{pod}:9400/proxy/metrics", 200),
        ("GET", "{pod}:9400/proxy/other", 404),
        ("GET", "{pod}:9400/proxy", 404),
        ("GET", "{pod}:9999/proxy/metrics", 503),
        ("GET", "{pod}/proxy/metrics", 503),
        ("GET", "https:{pod}:9400/proxy/metrics", 404),
        ("GET", "nobody:9400/proxy/metrics", 404),
        ("POST", "{pod}:9400/proxy/metrics", 405),
    ],
)
def test_what_is_no_page_is_refused_in_the_api_servers_way(
    api: Client, simulated: Fleet, method: str, path: str, code: int
) -> None:
    one = of_node(simulated, "dgx-h100-01")
    url = f"/api/v1/namespaces/{one.namespace}/pods/{path.format(pod=one.pod)}"
    assert api.request(method, url).status == code
    assert api.request(method, url, token="wrong").status == 401


def test_an_exporter_fails_from_the_beginning_and_another_falls_silent(api: Client, simulated: Fleet) -> None:
    def status(node: str, port: int) -> tuple[int, str]:
        one = of_node(simulated, node)
        answer = api.request("GET", f"/api/v1/namespaces/{one.namespace}/pods/{one.pod}:{port}/proxy/metrics")
        said = json.loads(answer.data)["reason"] if answer.data.startswith(b"{") else answer.data.decode()[:12]
        return answer.status, said

    assert status("mig-a100-02", 9400) == (503, "Failed to co")
    assert status("hami-4090-02", 9394)[0] == 200
    pass_time(simulated, 181, pace=5)
    assert status("hami-4090-02", 9394) == (503, "ServiceUnavailable")
    assert status("hami-4090-01", 9394)[0] == 200


def test_a_pod_that_is_no_exporter_listens_nowhere(simulated: Fleet) -> None:
    pod = next(one for one in simulated.store.all(PODS) if one["metadata"]["namespace"] == "team-llm")
    with pytest.raises(Silent):
        exported(simulated, "team-llm", pod["metadata"]["name"], 9400, "/metrics")


def test_the_fleet_is_the_same_with_its_exporters(simulated: Fleet) -> None:
    """They have dice of their own: who is where does not depend on them."""
    assert simulated.now == START
    held = {
        name: len(m.ledger.holders) for name, m in simulated.world.scheduler.by_name.items() if m.ledger is not None
    }
    assert held["dgx-h100-02"] == 1
    assert len([one for one in targets(simulated) if one.exporter == "nvidia-gpu-exporter-windows"]) == 5
