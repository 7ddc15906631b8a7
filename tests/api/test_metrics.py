"""The scrape: names, labels and values as Prometheus reads them; the unknown is absent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import CollectorRegistry

from api.inventory import metrics
from inventory.catalogue import CATALOGUE
from inventory.models import Card, Cluster, Component, Finding, NodeTotals, Watch
from inventory.models.choices import CardState
from tests.factories import GIB, lose_card, make_cluster, make_finding, make_node
from tests.pages.validations.rows import make_run
from tests.promtool import promtool

pytestmark = pytest.mark.django_db
STRANGE = 'a"b\\c\nd{e}=,ü 🦄\\n'


def scrape() -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Metric → labels → value, as Prometheus' own parser reads the text. A series twice is an error."""
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families("".join(metrics.families())):
        series = found.setdefault(family.name, {})
        for sample in family.samples:
            key = tuple(sorted(sample.labels.items()))
            assert key not in series, key
            series[key] = sample.value
    return found


def values(name: str) -> list[float]:
    return sorted(scrape()[name].values())


def test_a_card_has_its_labels_and_its_bytes(cluster: Cluster) -> None:
    make_node(cluster, "n", "gpushare", 1, loads=(0.4,))
    labels = (
        ("card", "0"),
        ("cluster", "prod"),
        ("model", "Tesla-T4"),
        ("node", "n"),
        ("stack", "gpushare"),
        ("uuid", ""),
    )
    found = scrape()
    assert found["gpudash_card_memory_bytes"] == {labels: 15 * GIB}
    assert found["gpudash_card_memory_allocated_bytes"] == {labels: 6 * GIB}
    assert found["gpudash_card_allocations"] == {labels: 2}


def test_what_is_not_known_is_absent_and_not_zero(cluster: Cluster) -> None:
    make_node(cluster, "count", "nvidia-count", 2, loads=(1.0, 0.0))
    make_node(cluster, "alpha", "unknown", 2, loads=(1.0, 0.0))
    found = scrape()
    assert len(found["gpudash_card_memory_bytes"]) == 2
    for name in (
        "card_memory_allocated_bytes",
        "card_allocations",
        "card_memory_used_bytes",
    ):
        assert found[f"gpudash_{name}"] == {}, name
    # Of whole cards the sum of what is held is known, though not on which card.
    labels = (("cluster", "prod"), ("node", "count"))
    assert found["gpudash_node_memory_unplaced_bytes"] == {labels: 80 * GIB}


def test_a_free_card_is_a_known_zero(cluster: Cluster) -> None:
    make_node(cluster, "n", "nvidia", 1, loads=(0.0,))
    assert values("gpudash_card_memory_allocated_bytes") == [0]
    assert values("gpudash_card_allocations") == [0]


def test_a_shared_card_counts_holders_without_memory(cluster: Cluster) -> None:
    make_node(cluster, "n", "time-sliced", 1, loads=(1.0,))
    assert values("gpudash_card_allocations") == [4]
    assert values("gpudash_card_memory_allocated_bytes") == []


def test_a_gone_card_is_absent(cluster: Cluster) -> None:
    make_node(cluster, "n", "gpushare", 2)
    lose_card(Card.objects.order_by("id")[0])
    assert len(values("gpudash_card_memory_bytes")) == 1


def test_memory_without_a_card_is_told_per_node(cluster: Cluster) -> None:
    make_node(cluster, "n", "gpushare", 1)
    NodeTotals.objects.update(memory_unplaced_bytes=3 * GIB)
    assert scrape()["gpudash_node_memory_unplaced_bytes"] == {(("cluster", "prod"), ("node", "n")): 3 * GIB}


def test_the_mirror_tells_of_each_kind_whether_it_is_synced_and_when_it_last_heard(cluster: Cluster) -> None:
    make_cluster("fresh", synced=False)
    found = scrape()
    synced = found["gpudash_mirror_synced"]
    assert synced[(("cluster", "prod"), ("kind", "pods"))] == 1
    assert synced[(("cluster", "fresh"), ("kind", "pods"))] == 0
    heard = found["gpudash_mirror_last_event_timestamp_seconds"]
    assert heard[(("cluster", "prod"), ("kind", "nodes"))] > 1.7e9
    assert (("cluster", "fresh"), ("kind", "nodes")) not in heard


def test_audits_tell_when_how_long_and_how_many_differences(cluster: Cluster) -> None:
    assert "gpudash_mirror_audit_timestamp_seconds" not in {name for name, rows in scrape().items() if rows}
    Watch.objects.filter(kind="pods").update(
        audited_at=datetime(2026, 1, 1, tzinfo=UTC), audit_seconds=1.5, audit_differences_total=7
    )
    found, pods = scrape(), (("cluster", "prod"), ("kind", "pods"))
    assert found["gpudash_mirror_audit_timestamp_seconds"] == {pods: 1767225600.0}
    assert found["gpudash_mirror_audit_seconds"] == {pods: 1.5}
    assert found["gpudash_mirror_audit_differences"] == {pods: 7.0}


def test_findings_are_counted_by_code_and_none_is_zero_once_it_was_counted(cluster: Cluster) -> None:
    make_cluster("fresh", synced=False)
    make_finding(cluster, "card-over-committed", "error", "n", "0")
    make_finding(cluster, "card-over-committed", "error", "n", "1")
    ended = make_finding(cluster, "index-out-of-range", "error", "n")
    Finding.objects.filter(pk=ended.pk).update(ended_at=ended.first_seen_at)
    found = scrape()["gpudash_findings"]
    assert found[(("cluster", "prod"), ("code", "card-over-committed"), ("severity", "error"))] == 2
    assert found[(("cluster", "prod"), ("code", "index-out-of-range"), ("severity", "error"))] == 0
    assert len(found) == len(CATALOGUE)
    assert not any(dict(labels)["cluster"] == "fresh" for labels in found)


def test_the_text_means_what_the_client_library_would_have_written(cluster: Cluster) -> None:
    make_node(cluster, "n", "gpushare", 2)
    Card.objects.update(model=STRANGE, node_name=STRANGE)
    own = metrics.Family("gpudash_card_memory_bytes", "Memory.")
    library = GaugeMetricFamily("gpudash_card_memory_bytes", "Memory.", labels=["node", "model"])
    for index, card in enumerate(Card.objects.all()):
        own.add(metrics.labels_of(node=f"{card.node_name}{index}", model=card.model), index)
        library.add_metric([f"{card.node_name}{index}", card.model], index)
    registry = CollectorRegistry()
    registry.register(_Once(library))
    theirs = generate_latest(registry).decode()
    assert list(text_string_to_metric_families(own.text())) == list(text_string_to_metric_families(theirs))


def test_strange_names_stay_one_line_each(cluster: Cluster) -> None:
    make_node(cluster, "n", "gpushare", 1)
    Card.objects.update(model=STRANGE, node_name=STRANGE, uuid=STRANGE)
    ((labels, _),) = scrape()["gpudash_card_memory_bytes"].items()
    assert dict(labels)["model"] == dict(labels)["node"] == dict(labels)["uuid"] == STRANGE


def test_two_cards_of_one_index_are_still_two_series(cluster: Cluster) -> None:
    make_node(cluster, "n", "gpushare", 2)
    Card.objects.update(index=0)
    assert {dict(labels)["card"] for labels in scrape()["gpudash_card_memory_bytes"]} == {"0", "0:1"}


def test_a_card_without_an_index_goes_by_its_key(cluster: Cluster) -> None:
    make_node(cluster, "n", "gpushare", 1)
    Card.objects.update(index=None, key="GPU-1")
    assert [dict(labels)["card"] for labels in scrape()["gpudash_card_memory_bytes"]] == ["GPU-1"]


def test_a_card_that_is_held_but_of_unknown_state_tells_no_number(cluster: Cluster) -> None:
    make_node(cluster, "n", "gpushare", 1)
    Card.objects.update(state=CardState.UNKNOWN, allocations_count=0, memory_allocated_bytes=None)
    assert values("gpudash_card_allocations") == []


def test_every_family_has_help_and_a_type() -> None:
    text = "".join(metrics.families())
    for name in ("card_memory_bytes", "card_memory_used_bytes", "mirror_synced", "findings"):
        assert f"# HELP gpudash_{name} " in text
        assert f"# TYPE gpudash_{name} gauge" in text


def test_the_scrape_is_served_as_prometheus_wants_it(fleet: Cluster, api: Client) -> None:
    response = api.get("/metrics")
    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    names = {family.name for family in text_string_to_metric_families(response.content.decode())}
    assert {"gpudash_card_memory_bytes", "gpudash_mirror_synced", "gpudash_findings"} <= names


def component(cluster: Cluster, node: str, name: str, state: str = "ready", version: str = "") -> Component:
    moment = timezone.now()
    columns = {"stack": "nvidia", "state_since": moment, "digest": 0, "version": version}
    return Component.objects.create(cluster=cluster, node_name=node, name=name, state=state, **columns)


def test_each_component_has_its_state_and_what_is_not_needed_is_absent(cluster: Cluster) -> None:
    component(cluster, "n", "driver", "crash-looping", "550.1")
    component(cluster, "n", "dcgm", "not needed")
    component(cluster, "", "gpu-operator", "ready", "25.3.4")
    component(make_cluster("other"), STRANGE, "nvidiadriver/gold", "not ready", STRANGE)
    found = scrape()
    # Labels are in the order of their names.
    assert {tuple(dict(labels).values()): value for labels, value in found["gpudash_component_state"].items()} == {
        ("prod", "driver", "n", "crash-looping"): 1,
        ("prod", "gpu-operator", "", "ready"): 1,
        ("other", "nvidiadriver/gold", STRANGE, "not ready"): 1,
    }
    assert {tuple(dict(labels).values()): value for labels, value in found["gpudash_component_info"].items()} == {
        ("prod", "driver", "550.1"): 1,
        ("prod", "gpu-operator", "25.3.4"): 1,
        ("other", "nvidiadriver/gold", STRANGE): 1,
    }


def test_versions_are_counted_and_bounded(cluster: Cluster) -> None:
    for number in range(metrics.VERSIONS + 5):
        for node in range(2 if number < 3 else 1):
            component(cluster, f"n{number}-{node}", "driver", version=f"1.{number:02}")
    component(cluster, "strange", "driver", version=metrics.OTHER)
    found = {dict(labels)["version"]: value for labels, value in scrape()["gpudash_component_info"].items()}
    assert len(found) == metrics.VERSIONS + 1
    assert (found["1.00"], found["1.29"], found[metrics.OTHER]) == (2, 1, 6)
    assert sum(found.values()) == metrics.VERSIONS + 5 + 3 + 1


def test_components_cost_one_query(cluster: Cluster) -> None:
    with CaptureQueriesContext(connection) as few:
        scrape()
    for number in range(20):
        component(cluster, f"n{number}", "driver", version=f"1.{number}")
    with CaptureQueriesContext(connection) as many:
        scrape()
    assert len(few) == len(many)
    assert len([one for one in many if '"inventory_component"' in one["sql"]]) == 1


def test_promtool_accepts_the_whole_scrape(fleet: Cluster, viewer: Client) -> None:
    """Names, units and help: no gauge ends in _count or _total."""
    component(fleet, "n", "driver", "not ready", "550.1")
    make_finding(fleet, "units-mixed", "warning")
    card = Card.objects.order_by("pk")[0]
    make_run(fleet, node=card.node_name, card=card)
    text = viewer.get("/metrics").content.decode()
    assert {
        name for name in ("gpudash_cards{", "gpudash_component_info{", "gpudash_findings{") if name in text
    } != set()
    assert "gpudash_validation_run_last_verdict{" in text
    promtool("check", "metrics", given=text)
    with pytest.raises(AssertionError, match="_count"):
        promtool("check", "metrics", given="# HELP a_count x\n# TYPE a_count gauge\na_count 1\n")


class _Once:
    """A collector for the client library that gives one family."""

    def __init__(self, family: GaugeMetricFamily) -> None:
        self.family = family

    def collect(self) -> list[GaugeMetricFamily]:
        return [self.family]


def state_of(kind: str) -> list[str]:
    found = scrape()["gpudash_mirror_state"]
    return [dict(labels)["state"] for labels, value in found.items() if value and dict(labels)["kind"] == kind]


def test_the_state_of_each_watch_is_told_and_a_dead_one_is_not_in_step(cluster: Cluster) -> None:
    assert state_of("pods") == ["watching"]
    ended = timezone.now() - timedelta(minutes=5)
    Watch.objects.filter(kind="pods").update(expires_at=ended)
    Watch.objects.filter(kind="nodes").update(last_event_at=ended)
    assert (state_of("pods"), state_of("nodes"), state_of("cards")) == (["unwatched"], ["silent"], ["watching"])
    since = scrape()["gpudash_mirror_state_since_timestamp_seconds"]
    assert since[("cluster", "prod"), ("kind", "pods")] == pytest.approx(ended.timestamp())


def test_a_cluster_that_was_never_reached_has_a_state_though_it_has_no_word() -> None:
    make_cluster("new", synced=False)
    Watch.objects.update(state="backing-off", reason="connection refused", trouble_since=timezone.now())
    assert state_of("nodes") == ["never-reached"]
