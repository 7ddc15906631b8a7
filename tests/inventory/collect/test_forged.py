"""docs/security.md, "Forged measurements": a tenant's page is believed, and its configuration of Prometheus prevents that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from exporters import FORMATS, Context
from inventory.collect.ask import ask
from inventory.collect.prometheus import Prometheus
from tests.deploy.test_alerts import promtool
from tests.docs.reading import ROOT
from tests.prometheus import Exporters, answer, scraping
from tests.services import Missing, or_skip, wait_until

PAGE = (ROOT / "docs/security.md").read_text()
SECTION = PAGE.split("## Forged measurements")[1].split("\n## ")[0]
CONFIG: str = SECTION.split("```yaml\n")[1].split("```")[0]
_MATCHERS = re.search(r"--prometheus-match '(.+)'", SECTION)
assert _MATCHERS
MATCHERS = _MATCHERS[1]

MIB = 1 << 20
USED_MIB, FORGED_MIB = 700, 80_000
ROW = 'DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-aaaaaaaa-06c0-7d70-1a51-aaaaaaaaaaaa",Hostname="gpu-1"%s} %d\n'
OTHER = "app_requests_total 1\n"


@pytest.fixture
def exporters() -> Iterator[Exporters]:
    made = Exporters()
    made.pages["gpu-exporters"] = (ROW % ("", USED_MIB)).encode()
    made.pages["tenants"] = (ROW % (',job="gpu-exporters",instance="forged"', FORGED_MIB) + OTHER).encode()
    yield made
    made.close()


def jobs(exporters: Exporters) -> list[dict[str, Any]]:
    """Those of the docs, with targets that there are."""
    made: list[dict[str, Any]] = yaml.safe_load(CONFIG)["scrape_configs"]
    for job in made:
        job |= {"metrics_path": f"/{job['job_name']}/metrics", "static_configs": [{"targets": [exporters.address]}]}
    return made


def used(some: list[dict[str, Any]]) -> set[float]:
    """Bytes in use of the card, by all that gpudash reads there."""
    try:
        with scraping(some) as url:
            wait_until(lambda: len(answer(url, "up == 1")) == len(some), "all was scraped")
            client = Prometheus(url)
            try:
                [(_, report)] = ask(client, MATCHERS, Context(now=0.0)).reports
            finally:
                client.close()
            assert report.samples
            return {one.values["memory_used"].value for one in report.readings}
    except Missing as missing:
        or_skip(missing)
        raise


@pytest.mark.sweep  # a Prometheus of its own
def test_what_a_tenant_publishes_is_believed_by_a_prometheus_that_takes_its_labels(exporters: Exporters) -> None:
    open_to_all = [
        {key: value for key, value in job.items() if key != "metric_relabel_configs"} | {"honor_labels": True}
        for job in jobs(exporters)
    ]
    assert FORGED_MIB * MIB in used(open_to_all)


@pytest.mark.sweep  # a Prometheus of its own
def test_it_is_not_with_the_configuration_of_the_docs(exporters: Exporters) -> None:
    assert used(jobs(exporters)) == {USED_MIB * MIB}


@pytest.mark.sweep  # a Prometheus of its own
def test_one_of_the_two_is_enough_against_a_name_and_against_a_label(exporters: Exporters) -> None:
    labels_only = [
        {key: value for key, value in job.items() if key != "metric_relabel_configs"} for job in jobs(exporters)
    ]
    assert used(labels_only) == {USED_MIB * MIB}


def test_prometheus_takes_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "prometheus.yml"
    file.write_text(CONFIG)
    assert "SUCCESS" in promtool("check", "config", str(file))


def test_the_pattern_has_the_names_of_all_exporters() -> None:
    [rule] = yaml.safe_load(CONFIG)["scrape_configs"][1]["metric_relabel_configs"]
    pattern = re.compile(rule["regex"])
    names = {name for known in FORMATS if not known.bare for name in known.metrics}
    names |= {f"site_{name}" for known in FORMATS if known.prefixed for name in known.metrics}
    # What tells a version only measures nothing.
    assert {name for name in names if not pattern.fullmatch(name)} <= {n for n in names if n.endswith("_build_info")}
    assert not pattern.fullmatch("http_requests_total")
