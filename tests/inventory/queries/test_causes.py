"""Findings that state the same are one cause, wherever they are."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory import stated
from inventory.health.findings import with_findings
from inventory.models import Cluster, Finding
from inventory.queries import rows
from inventory.queries.causes import Cause, Spread, causes, spreads
from stacks.engine.base import DEGRADED, UNHEALTHY, HealthReport
from tests.factories import make_cluster, make_finding
from wording.said import sentence

pytestmark = pytest.mark.django_db


def fault(cluster: Cluster, number: int, says: str = "The card has fallen off the bus", code: str = "xid-79") -> None:
    """As an exporter reports it of a card; what it says differs in its details from card to card."""
    report = HealthReport(
        source="dcgm-exporter",
        level=UNHEALTHY,
        code=code,
        codes=(code,),
        says=says,
        text=sentence("Xid {code}, seen {times} times", code=79, times=number),
        action="reset",
        since=1_780_000_000.0 + number,
    )
    (found,) = with_findings((), {f"GPU-{number}": [report]}, [])
    Finding.objects.create(
        cluster=cluster,
        code=found.code,
        severity=found.severity,
        node_name=f"node-{number % 11}",
        card_key=f"GPU-{number}",
        **stated.columns(found.text),
        first_seen_at=timezone.now() - timedelta(minutes=number),
    )


def found() -> list[Cause]:
    return causes(rows.findings_now(), 100)[0]


def spread() -> list[Spread]:
    return spreads(rows.findings_now(), found())


def test_what_is_said_of_22_cards_is_one_cause_with_its_places(cluster: Cluster) -> None:
    for number in range(22):
        fault(cluster, number)
    (cause,) = found()
    assert (cause.count, cause.cause) == (22, "The card has fallen off the bus")
    assert spread() == [Spread(cards=22, nodes=11, clusters=1)]
    assert (cause.oldest.card_key, cause.newest.card_key) == ("GPU-0", "GPU-21")
    assert cause.stated == {"template": "The card has fallen off the bus", "arguments": {}}
    assert cause.since == Finding.objects.get(card_key="GPU-21").first_seen_at


def test_other_statements_of_the_same_code_are_other_causes(cluster: Cluster) -> None:
    for number in (1, 2):
        fault(cluster, number)
    fault(cluster, 3, "Contained memory error", "xid-94")
    assert [one.count for one in found()] == [2, 1]
    assert [one.names for one in spread()] == [("node-1", "node-2"), ("node-3",)]


def test_a_detail_or_a_source_does_not_make_another_cause() -> None:
    cluster = make_cluster()
    for number, (source, text) in enumerate(
        (("dcgm-exporter", ""), ("dcgm-exporter", "limit"), ("nvidia-gpu-exporter", ""))
    ):
        report = HealthReport(source=source, level=DEGRADED, code="hot", says="The card is too hot", text=text)
        for one in with_findings((), {"0": [report]}, []):
            Finding.objects.create(
                cluster=cluster,
                code=one.code,
                severity=one.severity,
                node_name=f"node-{number}",
                card_key="0",
                **stated.columns(one.text),
                first_seen_at=timezone.now(),
            )
    assert [one.count for one in found()] == [3]


def test_findings_of_a_stack_differ_in_their_codes(cluster: Cluster) -> None:
    lab = make_cluster("lab")
    for own in (cluster, lab):
        for node in ("a", "b"):
            make_finding(own, "card-over-committed", node_name=node, card_key="0")
    make_finding(cluster, "units-mixed", "warning")
    both, mixed = found()
    assert (both.count, both.cause, both.stated, mixed.code) == (4, "", None, "units-mixed")
    assert spread() == [Spread(cards=4, nodes=4, clusters=2), Spread(clusters=1)]


def test_components_differ_in_name_and_state(cluster: Cluster) -> None:
    for number, (name, why) in enumerate((("driver", "no image"), ("driver", "no memory"), ("plugin", "no image"))):
        text = f"{name} is pending. {why}"
        form = {
            "parts": [
                {"template": "{component} is {state}.", "arguments": {"component": name, "state": "pending"}},
                {"template": "{said}", "arguments": {"said": why}},
            ],
            "between": " ",
        }
        row = make_finding(cluster, "software-not-ready", node_name=f"node-{number}")
        Finding.objects.filter(pk=row.pk).update(text=text, wording=form, cause=stated.cause_of(form))
    assert [(one.count, one.cause) for one in found()] == [(2, "driver is pending"), (1, "plugin is pending")]


def test_errors_come_first_and_what_is_not_shown_is_counted(cluster: Cluster) -> None:
    for node in ("a", "b"):
        make_finding(cluster, "memory-unknown", "warning", node)
    make_finding(cluster, "count-zero", "error", "a")
    Finding.objects.filter(pk=make_finding(cluster, "ended", "error").pk).update(ended_at=timezone.now())
    with CaptureQueriesContext(connection) as queries:
        shown, number = causes(rows.findings_now(), 1)
    assert ([one.code for one in shown], number, len(queries)) == (["count-zero"], 2, 3)


def test_the_number_of_queries_does_not_grow_with_the_findings(cluster: Cluster) -> None:
    counts = []
    for number in range(40):
        fault(cluster, number, says=f"Fault {number % 4}")
        with CaptureQueriesContext(connection) as queries:
            spreads(rows.findings_now(), causes(rows.findings_now(), 10)[0])
        counts.append(len(queries))
    assert set(counts) == {3}


def test_causes_are_counted_from_an_index_alone(cluster: Cluster) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the plan of SQLite")
    for number in range(30):
        fault(cluster, number)
    with CaptureQueriesContext(connection) as queries, connection.cursor() as cursor:
        causes(rows.findings_now(), 10)
        cursor.execute(f"EXPLAIN QUERY PLAN {queries[0]['sql']}")
        assert any("COVERING INDEX findings_by_cause" in row[3] for row in cursor.fetchall())
