"""Findings by cause: one row for what is the same of many cards, with places, what to do, and since when; and the list of all."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory import stated
from inventory.health.findings import with_findings
from inventory.models import Card, Cluster, Finding
from pages import findings as page_of_findings
from stacks.engine.base import DEGRADED, UNHEALTHY, HealthReport
from tests.factories import make_cluster, make_finding, make_node
from tests.pages.reading import Page, get

FALLEN = "Xid 79: The card has fallen off the bus"


def reported(cluster: Cluster, node: str, card: str, code: str = "xid-79", minutes: int = 5, **more: Any) -> Finding:
    """As dcgm-exporter reports an Xid error."""
    told = {"says": "The card has fallen off the bus", "level": UNHEALTHY, "text": f"Xid {code[4:]}"} | more
    report = HealthReport(source="dcgm-exporter", code=code, codes=(code,), action="reboot", **told)
    (found,) = with_findings((), {card: [report]}, [])
    return Finding.objects.create(
        cluster=cluster,
        code=found.code,
        severity=found.severity,
        node_name=node,
        card_key=card,
        first_seen_at=timezone.now() - timedelta(minutes=minutes),
        **stated.columns(found.text),
    )


@pytest.fixture
def three(cluster: Cluster) -> Cluster:
    """An Xid error on three cards of two nodes, and another finding."""
    make_node(cluster, "a", "nvidia", 2)
    make_node(cluster, "b", "nvidia", 1)
    cards = Card.objects.order_by("node_name", "pk")
    for number, card in enumerate(cards):
        reported(cluster, card.node_name, card.key, minutes=10 + number)
    make_finding(cluster, "units-mixed", "warning")
    return cluster


def first(page: Page) -> list[str]:
    return page.rows[0]


def test_one_row_for_what_three_cards_have(viewer: Client, three: Cluster) -> None:
    page = get(viewer, "/findings")
    assert len(page.rows) == 2
    cause, count, places, remedy, since = first(page)
    assert (cause, count, since) == (f"✕error {FALLEN}", "3", "12 min")
    assert places.startswith("a · card …")
    assert places.endswith("and 1 more")
    assert " b · card …" in places
    assert remedy.startswith("Reboot the machine.")
    assert "2 causes" in page.text
    assert {"/findings?severity=error", "/findings?severity=warning"} <= set(page.links)
    assert "3 errors ·" in page.text
    assert "1 warning" in page.text


def test_a_cause_leads_to_its_findings_and_no_others(viewer: Client, three: Cluster) -> None:
    reported(three, "b", "other", "xid-48", says="Another error")
    page = get(viewer, "/findings")
    url = next(one for one in page.links if "cause=" in one)
    assert parse_qs(urlsplit(url).query) == {
        "group": ["none"],
        "code": ["xid-hardware"],
        "severity": ["error"],
        "cause": ["The card has fallen off the bus"],
    }
    listed = get(viewer, url)
    assert len(listed.rows) == 3
    assert {row[0] for row in listed.rows} == {"✕error Xid error (hardware)"}
    assert f"Cause: {FALLEN}" in listed.text


def test_the_summary_and_the_causes_follow_the_filter(viewer: Client, three: Cluster) -> None:
    page = get(viewer, "/findings?severity=warning")
    assert [row[0] for row in page.rows] == ["!warning Mixed memory units"]
    assert "1 warning" in page.text
    assert "3 errors" not in page.text
    assert get(viewer, "/findings?q=nothing-like-it").rows == []
    assert "No matches for this filter." in get(viewer, "/findings?q=nothing-like-it").text
    assert "/findings?group=none&severity=error" in get(viewer, "/findings?group=none").links


def test_a_chip_leads_to_the_list_and_back(viewer: Client, three: Cluster) -> None:
    assert "/findings?severity=error&group=none" in get(viewer, "/findings?severity=error").links
    page = get(viewer, "/findings?severity=error&group=none")
    assert len(page.rows) == 3
    assert "/findings?severity=error" in page.links
    assert any(tag.get("name") == "columns" for tag in page.tags_of("input"))


def test_what_ended_is_grouped_too(viewer: Client, three: Cluster) -> None:
    Finding.objects.filter(code="xid-hardware").update(ended_at=timezone.now())
    assert [row[0] for row in get(viewer, "/findings").rows] == ["!warning Mixed memory units"]
    assert first(get(viewer, "/findings?ended=true"))[:2] == [f"✕error {FALLEN}", "3"]
    assert first(get(viewer, "/findings?from=1h&group=cause"))[:2] == [f"✕error {FALLEN}", "3"]


def test_of_several_clusters_each_place_says_which(viewer: Client, three: Cluster) -> None:
    lab = make_cluster("lab")
    reported(lab, "z", "0", minutes=1)
    _cause, count, places, *_rest = first(get(viewer, "/findings"))
    assert count == "4"
    assert "a prod" in places
    assert "z lab" in places
    assert first(get(viewer, "/findings?cluster=lab"))[1] == "1"


def test_gpu_software_says_what_to_do_in_its_text(viewer: Client, cluster: Cluster) -> None:
    form = {
        "parts": [
            {"template": "{component} is {state}.", "arguments": {"component": "driver", "state": "missing"}},
            {"template": "The API does not report the reason.", "arguments": {}},
        ],
        "between": " ",
    }
    text = "driver is missing. The API does not report the reason."
    row = make_finding(cluster, "software-not-ready", node_name="a")
    Finding.objects.filter(pk=row.pk).update(text=text, wording=form, cause=stated.cause_of(form))
    cause, _count, _places, remedy, _since = first(get(viewer, "/findings"))
    assert (cause, remedy[: len(text)]) == ("✕error driver is missing", text)


def test_a_page_has_a_limited_number_of_causes_and_says_where_the_rest_is(
    viewer: Client, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_of_findings, "MOST_CAUSES", 3)
    for number in range(5):
        make_finding(cluster, f"code-{number}", node_name="a")
    page = get(viewer, "/findings")
    assert len(page.rows) == 3
    assert "2 more causes in the list of findings" in page.text
    assert "/findings?group=none" in page.links


def test_the_number_of_queries_depends_neither_on_findings_nor_on_causes(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2)
    counts = []
    for number in range(30):
        reported(
            cluster, f"node-{number}", "0", level=DEGRADED if number % 2 else UNHEALTHY, says=f"Fault {number % 9}"
        )
        with CaptureQueriesContext(connection) as queries:
            get(viewer, "/findings")
        counts.append(len(queries))
    assert len(set(counts[1:])) == 1
    assert not any(
        ' "text" ' in one["sql"] and "LIMIT" not in one["sql"] and "IN (" not in one["sql"] for one in queries
    )


def test_no_other_group_and_no_place_in_a_list_is_accepted(viewer: Client, cluster: Cluster) -> None:
    page = get(viewer, "/findings?group=node", status=400)
    assert "Must be one of: cause, none." in page.text
    get(viewer, "/findings?group=cause&group=none", status=400)
    get(viewer, "/findings?cursor=WzFd", status=400)
    get(viewer, "/findings?cause=%00", status=400)
    assert get(viewer, "/findings?cause=nobody-has-it&group=none").rows == []


def test_a_finding_says_since_when_wherever_it_is(viewer: Client, three: Cluster) -> None:
    card = Card.objects.filter(node_name="a").order_by("pk")[0]
    make_finding(three, "visible-devices-by-hand", "warning", "a")
    Finding.objects.filter(code="visible-devices-by-hand").update(pod="team/train")
    assert "12 min" in get(viewer, "/").text
    assert "11 min" in get(viewer, "/nodes/prod/a").text
    told = HealthReport(source="dcgm-exporter", level=UNHEALTHY, code="xid-79", says="The card has fallen off the bus")
    Card.objects.filter(pk=card.pk).update(health=UNHEALTHY, health_reports=f"[{msgspec.json.encode(told).decode()}]")
    assert "first seen 10 min ago" in get(viewer, f"/cards/{card.pk}").text
    own = get(viewer, "/clusters/prod")
    assert "Mixed memory units" in own.text
    assert "30 min" in own.text
    for row in viewer.get("/api/v1/findings").json()["results"]:
        assert row["first_seen_at"]
    assert viewer.get("/api/v1/findings?cause=The card has fallen off the bus").json()["results"][0]["cause"] == (
        "The card has fallen off the bus"
    )


def test_the_row_of_a_node_opens_to_the_texts_of_all_its_findings(viewer: Client, three: Cluster) -> None:
    text = get(viewer, "/nodes/prod/a").text
    assert f"{FALLEN} · Reboot the machine." in text
    assert text.count("dcgm-exporter: The card has fallen off the bus (Xid 79)") == 2
    assert "2 cards" in text
