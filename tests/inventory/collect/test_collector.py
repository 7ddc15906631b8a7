"""From an exporter's page through a real Prometheus to cards, holders and findings."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from inventory.collect import collector, lease, rows, sources
from inventory.models import Allocation, Card, CardUsage, Cluster, DirtyNode, UsageSource
from inventory.models.usage import SourceState
from tests.factories import make_cluster
from tests.inventory.reconcile.conftest import Fleet
from tests.inventory.reconcile.objects import whole_node, whole_pod
from tests.prometheus import Prometheus, prometheus
from tests.services import Missing, or_skip
from wording.said import Said, restored

MIB = 2**20


@pytest.fixture(scope="module")
def scraped() -> Iterator[Prometheus]:
    try:
        with prometheus({"gpu-1": {"cluster": "prod"}, "other": {"cluster": "staging"}}) as server:
            yield server
    except Missing as missing:
        or_skip(missing)


@pytest.fixture
def fleet(db: None) -> Fleet:
    """Two cards of which one is held, and nothing but the exporter says which one."""
    made = Fleet(make_cluster("prod", held=False))
    made.put("nodes", whole_node("gpu-1", 2))
    made.put("pods", whole_pod("train", "gpu-1"))
    made.reconcile()
    return made


@pytest.fixture
def cluster(fleet: Fleet) -> Cluster:
    return fleet.cluster


def page(*rows: str) -> str:
    return "\n".join(rows) + "\n"


def row(card: int, name: str, value: float, pod: str = "", **labels: str) -> str:
    """As dcgm-exporter writes it. pod: "namespace/name/container"."""
    own = {
        "gpu": str(card),
        "UUID": f"GPU-0000000{card}-aaaa-bbbb-cccc-000000000000",
        "device": f"nvidia{card}",
        "modelName": "NVIDIA A10",
        "Hostname": "gpu-1",
        **labels,
    }
    if pod:
        own["namespace"], own["pod"], own["container"] = pod.split("/")
    block = ",".join(f'{key}="{text}"' for key, text in own.items())
    return f"{name}{{{block}}} {value}"


def collect(cluster: Cluster) -> UsageSource:
    UsageSource.objects.filter(cluster=cluster).update(due_at=None)
    held = lease.acquire(cluster.pk)
    assert held is not None
    try:
        return collector.collect(held)
    finally:
        held.release()


def holder(cluster: Cluster) -> Allocation:
    return Allocation.objects.filter(cluster=cluster, ended_at=None).earliest("pk")


def test_a_card_says_what_it_uses_and_who_is_on_it(scraped: Prometheus, fleet: Fleet) -> None:
    cluster = fleet.cluster
    held = holder(cluster)
    assert held.evidence == "count-only"
    who = f"{held.namespace}/{held.pod}/{held.container}"
    scraped.show(
        "gpu-1",
        page(
            row(0, "DCGM_FI_DEV_FB_USED", 100),
            row(0, "DCGM_FI_DEV_FB_FREE", 22_000),
            row(1, "DCGM_FI_DEV_FB_USED", 9000, who),
            row(1, "DCGM_FI_DEV_FB_FREE", 13_000, who),
            row(1, "DCGM_FI_DEV_GPU_UTIL", 37, who),
            row(1, "DCGM_FI_DEV_GPU_TEMP", 61, who),
            row(1, "DCGM_FI_DEV_POWER_USAGE", 140.5, who),
            row(1, "DCGM_FI_DEV_XID_ERRORS", 31, who, err_code="31"),
        ),
    )
    sources.set_prometheus(cluster, scraped.url, matchers='cluster="prod"')
    source = collect(cluster)
    assert (source.state, source.reason) == (SourceState.READING, "")
    # The mirror does not know the UUIDs yet: the cards are measured, but not matched.
    assert (source.cards_measured, source.cards_unmatched) == (0, 2)
    assert DirtyNode.objects.filter(cluster=cluster, node_name="gpu-1").exists()

    fleet.reconcile()
    source = collect(cluster)
    assert (source.cards_measured, source.cards_unmatched) == (2, 0)
    usage = CardUsage.objects.get(index=1)
    assert (usage.memory_used_bytes, usage.utilization_ratio) == (9000 * MIB, 0.37)
    assert (usage.temperature_celsius, usage.power_watts) == (61, 140.5)
    assert usage.format == "dcgm-exporter"
    assert [(one["namespace"], one["pod"]) for one in usage.holders] == [(held.namespace, held.pod)]
    held = holder(cluster)
    assert held.card is not None
    assert (held.evidence, held.card.uuid) == ("exporter", usage.uuid)
    assert set(Card.objects.filter(removed_at=None).values_list("state", flat=True)) == {"free", "full"}


def test_what_did_not_change_is_not_written(scraped: Prometheus, cluster: Cluster) -> None:
    scraped.show("gpu-1", page(row(0, "DCGM_FI_DEV_FB_USED", 1000), row(0, "DCGM_FI_DEV_FB_FREE", 22_000)))
    sources.set_prometheus(cluster, scraped.url, matchers='cluster="prod"')
    collect(cluster)
    before = CardUsage.objects.get().written_at
    scraped.show("gpu-1", page(row(0, "DCGM_FI_DEV_FB_USED", 1010), row(0, "DCGM_FI_DEV_FB_FREE", 21_990)))
    collect(cluster)
    assert (CardUsage.objects.get().written_at, CardUsage.objects.get().memory_used_bytes) == (before, 1000 * MIB)
    scraped.show("gpu-1", page(row(0, "DCGM_FI_DEV_FB_USED", 1100), row(0, "DCGM_FI_DEV_FB_FREE", 21_900)))
    collect(cluster)
    assert CardUsage.objects.get().memory_used_bytes == 1100 * MIB


def test_a_card_that_falls_silent_is_not_known_and_its_last_values_stay(scraped: Prometheus, fleet: Fleet) -> None:
    cluster = fleet.cluster
    held = holder(cluster)
    who = f"{held.namespace}/{held.pod}/{held.container}"
    both = [row(0, "DCGM_FI_DEV_FB_USED", 100), row(1, "DCGM_FI_DEV_FB_USED", 9000, who)]
    scraped.show("gpu-1", page(*both))
    sources.set_prometheus(cluster, scraped.url, matchers='cluster="prod"')
    collect(cluster)
    fleet.reconcile()
    scraped.show("gpu-1", page(both[0]))
    collect(cluster)
    lost = CardUsage.objects.get(index=1)
    assert lost.lost_at is not None
    assert (lost.memory_used_bytes, lost.more["last"]["memory_used_bytes"]) == (None, 9000 * MIB)
    started = holder(cluster).started_at
    fleet.reconcile()
    assert (holder(cluster).evidence, holder(cluster).started_at) == ("count-only", started)
    assert Allocation.objects.filter(cluster=cluster, ended_at__isnull=False).count() == 0


def test_a_prometheus_that_is_away_delays_nothing_and_is_said(cluster: Cluster) -> None:
    sources.set_prometheus(cluster, "http://127.0.0.1:1")
    source = collect(cluster)
    assert source.state == SourceState.BACKING_OFF
    assert "cannot reach" in source.reason
    assert restored(source.reason, source.wording).template == "cannot reach {base}: {why}"  # type: ignore[attr-defined]
    assert source.failures == 1
    assert source.due_at is not None
    assert lease.acquire(cluster.pk) is None  # not due


def test_after_a_while_without_a_round_nothing_is_known(scraped: Prometheus, cluster: Cluster) -> None:
    scraped.show("gpu-1", page(row(0, "DCGM_FI_DEV_FB_USED", 100)))
    sources.set_prometheus(cluster, scraped.url, matchers='cluster="prod"')
    collect(cluster)
    assert collector.lose_silent() == 0
    UsageSource.objects.update(round_at=Now() - timedelta(minutes=6))
    assert collector.lose_silent() == 1
    assert collector.lose_silent() == 0
    assert CardUsage.objects.get().memory_used_bytes is None


def test_other_clusters_are_left_out_by_the_matchers(scraped: Prometheus, cluster: Cluster) -> None:
    scraped.show("gpu-1", page(row(0, "DCGM_FI_DEV_FB_USED", 100)))
    scraped.show("other", page(row(1, "DCGM_FI_DEV_FB_USED", 100)))
    sources.set_prometheus(cluster, scraped.url, matchers='cluster="prod"')
    assert len(collect(cluster).formats) == 1
    assert CardUsage.objects.count() == 1


def test_where_no_exporter_is_known_it_is_said(scraped: Prometheus, cluster: Cluster) -> None:
    sources.set_prometheus(cluster, scraped.url, matchers='cluster="nowhere"')
    source = collect(cluster)
    assert (source.state, "no supported exporter" in source.reason) == (SourceState.READING, True)
    assert isinstance(restored(source.reason, source.wording), Said)


def test_labels_that_are_gone_for_a_scrape_change_nothing(
    scraped: Prometheus, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = fleet.cluster
    held = holder(cluster)
    who = f"{held.namespace}/{held.pod}/{held.container}"
    scraped.show("gpu-1", page(row(0, "DCGM_FI_DEV_FB_USED", 100), row(1, "DCGM_FI_DEV_FB_USED", 9000, who)))
    sources.set_prometheus(cluster, scraped.url, matchers='cluster="prod"')
    collect(cluster)
    fleet.reconcile()
    assert holder(cluster).evidence == "exporter"
    scraped.show("gpu-1", page(row(0, "DCGM_FI_DEV_FB_USED", 100), row(1, "DCGM_FI_DEV_FB_USED", 9000)))
    collect(cluster)
    fleet.reconcile()
    assert holder(cluster).evidence == "exporter"
    monkeypatch.setattr(rows, "KEEP_HOLDERS_S", -1.0)
    collect(cluster)
    fleet.reconcile()
    assert holder(cluster).evidence == "count-only"
