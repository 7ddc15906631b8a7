"""A whole fleet through a real Prometheus: it scrapes the simulated exporters, and the product asks it what the cards do."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command

from fleetsim import Fleet, ScrapeServer, serve
from fleetsim.exporters import targets
from fleetsim.usage import Case, value
from inventory.models import Allocation, CardUsage, Cluster, UsageSource
from inventory.models.usage import SourceState
from tests.prometheus import answer, scraping
from tests.services import Missing, or_skip, wait_until

#: What a row may be off by (docs/usage.md).
MEMORY_NOISE, RATIO_NOISE, CELSIUS_NOISE, WATTS_NOISE = 16 << 20, 0.02, 2.0, 5.0


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    """Its time stands still, at the clock's: Prometheus takes no samples of another time."""
    return Fleet(seed=1, now=time.time())


@pytest.fixture(scope="module")
def prometheus(fleet: Fleet) -> Iterator[str]:
    with ScrapeServer(fleet) as exporters:
        # All exporters are one Python process: on a loaded machine it does not tell a hundred pages within a second.
        job = {
            "job_name": "pods",
            "scrape_interval": "10s",
            "scrape_timeout": "10s",
            "http_sd_configs": [{"url": f"{exporters.url}/targets", "refresh_interval": "5s"}],
        }
        try:
            with scraping([job]) as url:
                # One target fails, always; a page that came too late once comes again.
                wanted = (len(targets(fleet)), len(targets(fleet)) - 1)
                wait_until(
                    lambda: (len(answer(url, "up")), len(answer(url, "up == 1"))) == wanted,
                    "all targets were scraped",
                    patience_s=120,
                )
                yield url
        except Missing as missing:
            or_skip(missing)


@pytest.mark.sweep  # a Prometheus of its own
@pytest.mark.django_db(transaction=True)
def test_what_is_measured_by_prometheus_is_what_the_cards_do(
    committed_database: None, fleet: Fleet, prometheus: str, tmp_path: Path
) -> None:
    with serve(fleet, live=False) as server:
        kubeconfig = str(server.kubeconfig(tmp_path / "kubeconfig"))
        call_command("cluster", "add", "demo", "--kubeconfig", kubeconfig, "--prometheus", prometheus)
        # One call: exporters tell which cards there are, and are then joined with them.
        call_command("sync", "--once")
    source = UsageSource.objects.get()
    assert (source.state, source.reason) == (SourceState.READING, "")
    found = {row.uuid.lower().removeprefix("gpu-"): row for row in CardUsage.objects.exclude(card=None)}
    formats = Counter(row.format for row in found.values())
    assert formats["dcgm-exporter"] > 40
    assert (formats["hami-monitor"], formats["nvidia-gpu-exporter"]) == (8 + 4, 6)
    checked = 0
    for machine, spot, use in fleet.uses():
        row = found.get(machine.uuids[spot.card].lower().removeprefix("gpu-"))
        if row is None or use.case == Case.LOST or machine.kind.dra == "slices":
            continue
        wanted = value(use, fleet.now)
        assert row.node_name == machine.name
        assert row.memory_used_bytes == pytest.approx(wanted.memory_used, abs=MEMORY_NOISE)
        assert row.utilization_ratio == pytest.approx(wanted.utilization, abs=RATIO_NOISE)
        if row.format == "dcgm-exporter":
            assert row.activity_ratio == pytest.approx(wanted.activity, abs=RATIO_NOISE)
            assert row.temperature_celsius == pytest.approx(wanted.temperature, abs=CELSIUS_NOISE)
            assert row.power_watts == pytest.approx(wanted.power, abs=WATTS_NOISE)
        checked += 1
    assert checked > 60
    # The pods that hold cards are in exported_pod; the target's own is the exporter.
    held = Allocation.objects.filter(cluster=Cluster.objects.get(), node_name="dgx-a100-01", ended_at=None)
    assert set(held.values_list("evidence", flat=True)) == {"exporter"}
    # One target fails, and what it would measure is not made up.
    assert [one["metric"]["node"] for one in answer(prometheus, "up == 0")] == ["mig-a100-02"]
    assert not CardUsage.objects.filter(node_name="mig-a100-02").exists()
