"""How gpudash itself does: what a process counts, what any web process tells of all, what is called wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from inventory import installation as checks
from inventory.models import Cluster, DirtyNode, Watch, Worker
from runtime.models import Message, ProcessReport
from runtime.telemetry import figures, report
from tests.factories.usage import source_of
from tests.promtool import promtool

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_failures() -> Iterator[None]:
    figures.failures.clear()
    yield
    figures.failures.clear()


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def process(name: str, role: str = "web", figures: str = "", code: str = "aaa", **more: Any) -> ProcessReport:
    values = {"version": code, "started_at": Now() - timedelta(minutes=5), "written_at": Now()} | more
    made: ProcessReport = ProcessReport.objects.create(name=name, role=role, figures=figures, **values)
    return made


def codes() -> list[checks.Code]:
    return [one.code for one in checks.wrong(checks.running())]


def test_a_request_is_counted_by_what_was_asked_for_and_how_it_ended(viewer: Client, cluster: Cluster) -> None:
    before = samples(figures.text())
    viewer.get("/clusters")
    viewer.get("/clusters", HTTP_HX_REQUEST="true")
    viewer.get("/api/v1/clusters")
    viewer.get("/api/v1/clusters?no-such=1")
    viewer.get("/metrics")
    viewer.get("/healthz")
    after = samples(figures.text())

    def more(kind: str, status: str) -> float:
        key = ("gpudash_http_request_duration_seconds_count", (("kind", kind), ("status", status)))
        return after.get(key, 0.0) - before.get(key, 0.0)

    counted = {
        (kind, status): more(kind, status)
        for kind in ("page", "part", "rest", "scrape", "probe")
        for status in ("2xx", "4xx")
    }
    assert {key for key, count in counted.items() if count == 1} == {
        ("page", "2xx"),
        ("part", "2xx"),
        ("rest", "2xx"),
        ("rest", "4xx"),
        ("scrape", "2xx"),
        ("probe", "2xx"),
    }
    assert sum(counted.values()) == 6


def test_a_process_writes_its_row_and_takes_those_away_that_ended_long_ago() -> None:
    process("old/1/a", written_at=Now() - timedelta(minutes=20))
    own = report.Reporter("web")
    own.write()
    (row,) = ProcessReport.objects.all()
    first = (row.pk, row.started_at, row.written_at)
    own.write()
    (row,) = ProcessReport.objects.all()
    assert (row.pk, row.started_at) == first[:2]
    assert row.written_at > first[2]
    assert row.version == report.code()
    assert "process_resident_memory_bytes" in row.figures


def test_figures_of_all_processes_are_told_with_their_names(viewer: Client, cluster: Cluster) -> None:
    head = "# HELP gpudash_task_duration_seconds Duration of tasks.\n# TYPE gpudash_task_duration_seconds histogram\n"
    text = head + "".join(
        f'gpudash_task_duration_seconds_{part}{{outcome="done",task="a"{more}}} {value}\n'
        for part, more, value in (("bucket", ',le="+Inf"', 3), ("count", "", 3), ("sum", "", 1.5))
    )
    process("one/1/a", figures=text)
    process("two/2/b", role="worker: default", figures=text)
    process("gone/3/c", figures=text, written_at=Now() - timedelta(minutes=2))
    process("strange/4/d", figures="{{{ no figures\n")
    source_of(cluster)
    Watch.objects.update(holder="w/1/a", expires_at=Now() + timedelta(seconds=9), last_event_at=Now())
    DirtyNode.objects.bulk_create([DirtyNode(cluster=cluster, node_name=name) for name in ("a", "a", "b")])
    Message.objects.create(key="inventory.tasks.check_cluster:1", sent_at=Now() - timedelta(seconds=90))
    Message.objects.create(key="inventory.tasks.find_idle", sent_at=Now(), taken=True)
    response = viewer.get("/metrics/self")
    assert response.headers["Content-Type"].startswith("text/plain")
    promtool("check", "metrics", given=response.content.decode())
    found = samples(response.content.decode())
    counts = {labels: value for (name, labels), value in found.items() if name == "gpudash_task_duration_seconds_count"}
    assert sorted(dict(labels)["process"] for labels in counts) == ["one/1/a", "two/2/b"]
    assert set(counts.values()) == {3.0}
    processes = [dict(labels)["process"] for (name, labels) in found if name == "gpudash_process_info"]
    assert sorted(processes) == ["one/1/a", "strange/4/d", "two/2/b"]
    assert found["gpudash_dirty_nodes", (("cluster", "prod"),)] == 2
    task = (("task", "inventory.tasks.check_cluster"),)
    assert found["gpudash_messages_queued", task] == 1
    assert 90 <= found["gpudash_message_oldest_seconds", task] < 120
    assert found["gpudash_usage_source_failures", (("cluster", "prod"),)] == 0
    assert found["gpudash_database_bytes", ()] > 10_000
    kinds = {dict(labels)["kind"] for (name, labels) in found if name == "gpudash_lease_held"}
    assert {"nodes", "pods", "cards"} <= kinds
    assert all(0 <= value < 60 for (name, _), value in found.items() if name == "gpudash_watch_lag_seconds")


def test_what_is_wrong_is_said_the_worst_first(cluster: Cluster) -> None:
    process("one/1/a")
    process(
        "two/2/b",
        role="worker: default",
        code="bbb",
        figures='gpudash_database_connections{state="used"} 10\ngpudash_database_connections{state="waiting"} 2\n',
    )
    ProcessReport.objects.filter(name="two/2/b").update(
        failures=[
            {"task": "inventory.tasks.find_idle", "at": time.time() - 60, "error": "KeyError"},
            {"task": "inventory.tasks.find_idle", "at": time.time() - 120, "error": "KeyError"},
            {"task": "inventory.tasks.collect", "at": time.time() - 7200, "error": "ValueError"},
            "no failure",
        ]
    )
    Message.objects.create(key="inventory.tasks.check_cluster:1", sent_at=Now() - timedelta(seconds=90))
    found = checks.wrong(checks.running())
    assert [one.level for one in found] == sorted((one.level for one in found), key=lambda level: level != "error")
    said = {one.code: one for one in found}
    assert {checks.Code.PROCESS_MISSING, checks.Code.MESSAGES_WAIT} <= set(said)
    assert (said[checks.Code.TASKS_FAIL].what, said[checks.Code.TASKS_FAIL].count) == ("inventory.tasks.find_idle", 2)
    assert said[checks.Code.TASKS_FAIL].text == "KeyError"
    assert said[checks.Code.CONNECTIONS_WAIT].count == 2
    assert "one/1/a" in said[checks.Code.CODE_DIFFERS].what or "two/2/b" in said[checks.Code.CODE_DIFFERS].what
    assert checks.Code.WEB_SILENT not in said


def test_where_all_is_well_nothing_is_called_wrong(cluster: Cluster) -> None:
    from runtime.heartbeats import beat
    from runtime.models import Role

    for role in Role:
        beat(role)
    Worker.objects.create(name="w", threads=100, holds=9, beat_at=Now())
    process("one/1/a")
    process("two/2/b", role="worker: default")
    assert codes() == []


def test_only_administrators_see_the_page_and_it_names_what_is_wrong(
    admin: Client, viewer: Client, cluster: Cluster
) -> None:
    process("one/1/a", figures="process_resident_memory_bytes 1e+08\nprocess_cpu_seconds_total 12.6\n")
    process("<b>two</b>/2/b", role="worker: default", code="bbb")
    assert viewer.get("/installation").status_code == 403
    page = admin.get("/installation").content.decode()
    assert "Processes run different builds" in page
    assert "&lt;b&gt;two&lt;/b&gt;" in page
    assert "<b>two</b>" not in page
    assert "gpudash schedule" in page
    assert "95.4\N{NO-BREAK SPACE}MB" in page


def test_a_task_that_fails_leaves_its_name_and_no_secret() -> None:
    from gpudash.celery import app

    @app.task(name="tests.fails")
    def fails() -> None:
        raise ValueError("token gpd_1_secret")

    fails.apply()
    (failure,) = figures.failures
    assert (failure["task"], failure["error"]) == ("tests.fails", "ValueError")
    assert (
        samples(figures.text())["gpudash_task_duration_seconds_count", (("outcome", "failed"), ("task", "tests.fails"))]
        == 1
    )
    assert "secret" not in str(list(figures.failures))
