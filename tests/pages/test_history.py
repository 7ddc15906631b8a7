"""What was, as a page: chart, numbers and CSV of whatever is named, and one time range in the link."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client

from inventory.models import Card, Cluster, Subject
from tests.factories import make_finding, make_node
from tests.factories.history import put_day, put_minute
from tests.pages.validations.rows import make_run


@pytest.fixture
def past(cluster: Cluster) -> Cluster:
    """A node of two cards, with an hour of which something is known: of the whole cluster one of two cards."""
    make_node(cluster, "gpu-1", "gpushare", 2, loads=(0.5,))
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    for minute in range(3):
        at = now - timedelta(minutes=minute)
        put_minute(cluster, at, used=4096, allocated=8192, utilization=250, cards=2, measured=1, unknown=1)
    return cluster


def read(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status, answer.content.decode()[-500:]
    return " ".join(answer.content.decode().split())


def test_numbers_say_how_much_of_a_sum_is_known(viewer: Client, past: Cluster) -> None:
    head, _, page = read(viewer, "/history?window=1h").partition("<tbody>")
    assert page.count("4 GiB") == 6  # used, and used at most
    assert page.count("8 GiB") == 3
    assert "25%" in page
    assert "1 / 2" in page
    assert "excluding 1 of unknown size" in head  # once, not in each row
    assert "excluding" not in page


def _readings(page: str) -> list[list[Any]]:
    found = re.search(r'data-readings="([^"]+)"', page)
    assert found
    made: list[list[Any]] = json.loads(unescape(found[1]))
    return made


def test_the_chart_is_drawn_without_a_script_and_says_each_step(viewer: Client, past: Cluster) -> None:
    page = read(viewer, "/history?cluster=prod&window=1h")
    assert re.findall(r'<path class="(line|area) (\w+)"', page) == [
        ("line", "peak"),
        ("line", "allocated"),
        ("area", "used"),
        ("line", "used"),
        ("area", "utilization"),
        ("line", "utilization"),
    ]
    assert "used <b>4 GiB</b>" in page
    steps = _readings(page)
    assert (len(steps), steps[0][0], steps[-1][0]) == (60, 0, 100)
    assert steps[0][1].endswith("no data")
    assert steps[-1][1].splitlines()[1:] == [
        "peak used 4 GiB",
        "allocated 8 GiB",
        "used 4 GiB",
        "utilization 25%",
        "1 of 2 cards measured",
        "excluding 1 of unknown size",
    ]


@pytest.mark.parametrize("where", ["card", "node", "cluster"])
def test_each_thing_has_its_chart_and_one_range_for_the_page(viewer: Client, past: Cluster, where: str) -> None:
    card = Card.objects.order_by("id")[0]
    path = {"card": f"/cards/{card.pk}", "node": "/nodes/prod/gpu-1", "cluster": "/clusters/prod"}[where]
    page = read(viewer, f"{path}?window=30d")
    assert page.count("data-chart=") == 1
    assert 'window=30d" aria-current="true">30 days<' in page
    address = unescape(re.findall(r'data-chart="([^"]+)"', page)[0])
    assert "window=30d" in address
    assert "Chart and table" in page
    (table,) = re.findall(r'href="([^"]+)">Download CSV', page)
    assert viewer.get(unescape(table)).headers["Content-Type"].startswith("text/csv")
    drawn = read(viewer, address)
    assert drawn.startswith("<figure")
    assert 'data-wait="0"' in drawn
    assert "Must be one of: 1h, 6h, 1d, 7d, 30d, 90d" in read(viewer, f"{path}?window=2y", 400)


def test_pools_and_namespaces_are_one_link_away(viewer: Client, past: Cluster) -> None:
    page = read(viewer, "/history?cluster=prod&window=7d")
    links = [unescape(link) for link in re.findall(r'href="(/history\?[^"]+)"', page)]
    parts = [link for link in links if "pool=" in link or "namespace=" in link]
    assert any("pool=" in link for link in parts)
    assert any("namespace=" in link for link in parts)
    for link in parts:
        assert "window=7d" in link
        read(viewer, link)


def test_what_nothing_is_known_of_is_said_so(viewer: Client, cluster: Cluster) -> None:
    assert "No data for this time yet" in read(viewer, "/history?cluster=prod")


def test_without_a_cluster_it_says_how_to_add_one(viewer: Client) -> None:
    assert "gpudash cluster add" in read(viewer, "/history")


def test_a_name_that_is_gone_keeps_its_history(viewer: Client, cluster: Cluster) -> None:
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date()
    put_day(cluster, yesterday, Subject.NAMESPACE, "left", allocated=2048)
    assert "2 GiB" in read(viewer, "/history?cluster=prod&namespace=left&window=7d")


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        ("cluster=nope", 404, "Nothing has this name"),
        ("cluster=prod&namespace=nope", 404, "Nothing has this name"),
        ("cluster=prod&node=%00", 404, "Nothing has this name"),
        ("card=999", 404, "Nothing has this name"),
        ("card=x", 400, "Must name one subject"),
        ("card=1&cluster=prod", 400, "Must name one subject"),
        ("node=gpu-1", 400, "Must name one subject"),
        ("cluster=prod&node=a&pool=b", 400, "Must name one subject"),
        ("cluster=prod&format=xml", 400, "html, csv"),
    ],
)
def test_what_makes_no_sense_is_refused(viewer: Client, past: Cluster, query: str, status: int, says: str) -> None:
    assert says in read(viewer, f"/history?{query}", status)


def test_csv_has_every_step_in_bytes_and_a_gap_is_empty(viewer: Client, past: Cluster) -> None:
    answer = viewer.get("/history?cluster=prod&window=1h&format=csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert len(rows) == 60
    assert rows[-1]["memory_used_bytes"] == str(4 << 30)
    assert rows[-1]["utilization_ratio"] == "0.250"
    assert (rows[-1]["cards_measured"], rows[-1]["cards"]) == ("1", "2")
    assert rows[0]["memory_used_bytes"] == ""
    assert "history-cluster-1h.csv" in answer.headers["Content-Disposition"]


@pytest.mark.parametrize("where", ["card", "node"])
def test_runs_and_findings_are_signs_under_the_chart_and_in_its_readings(
    viewer: Client, past: Cluster, where: str
) -> None:
    card = Card.objects.order_by("id")[0]
    put_minute(
        past,
        datetime.now(UTC).replace(second=0, microsecond=0),
        Subject(where),
        str(card.pk) if where == "card" else "gpu-1",
        used=1,
    )
    make_run(past, node="gpu-1", card=card, verdict="failed", minutes_ago=5)
    make_run(past, node="gpu-1", card=card, minutes_ago=600)
    make_finding(past, "card-over-committed", "error", "gpu-1", card.key)
    address = f"card={card.pk}" if where == "card" else "cluster=prod&node=gpu-1"
    chart = read(viewer, f"/history?{address}&window=1h&part=chart")
    signs = chart.partition('class="signs"')[2].partition("</div>")[0]
    assert re.findall(r'class="sign (\w+)"', signs) == ["error", "error"]
    assert re.search(r'title="Card overcommitted · card [^"]+ · \d\d-\d\d \d\d:\d\d"', signs)
    told = "\n".join(text for _, text in _readings(chart))
    assert "· failed ·" in told, [t for t in told.splitlines() if "·" in t]
    assert told.count("Card overcommitted") == 1


def test_a_namespace_has_a_line_of_what_is_idle(viewer: Client, past: Cluster) -> None:
    put_minute(
        past,
        datetime.now(UTC).replace(second=0, microsecond=0),
        Subject.NAMESPACE,
        "default",
        allocated=4096,
        idle=1024,
    )
    page = read(viewer, "/history?cluster=prod&namespace=default&window=1h")
    assert 'class="line idle"' in page
    assert "idle <b>1 GiB</b>" in page
