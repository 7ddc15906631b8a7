"""How well a card and a node are: on pages, in REST, CSV, the scrape and on the command line, with who says so."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from django.core.management import call_command
from django.test import Client

from inventory.models import Card, Cluster, NodeTotals
from inventory.queries.measured import NOT_COLLECTED
from pages.sections.health import silent
from stacks.engine.base import HealthReport
from tests.api.test_metrics import scrape
from tests.factories import make_node
from tests.pages.reading import get
from tests.pages.test_usage import measure

HELD = "default train-gpu-1-0-0"
SINCE = 1_782_892_800.0
XID = HealthReport(
    source="dcgm-exporter",
    level="unhealthy",
    code="xid-79",
    says="The card has fallen off the bus",
    text="Xid 79, latest Xid since the driver was loaded",
    since=SINCE,
    action="reboot-or-replace",
)
KUBELET = HealthReport(
    source="kubelet",
    level="healthy",
    code="device-healthy",
    says="The kubelet calls the device that a pod holds healthy",
    text="nvidia.com/gpu",
)
HOT = HealthReport(
    source="nvsentinel",
    level="degraded",
    code="GpuThermalMarginWatch",
    says="<b>hot</b>",
    action="check-cooling",
    lost_at=SINCE,
)


def stored(*told: HealthReport) -> str:
    return msgspec.json.encode(told).decode()


@pytest.fixture
def sick(cluster: Cluster) -> Card:
    """The first of two cards has an Xid error; its node a condition whose source fell silent."""
    make_node(cluster, "gpu-1", "nvidia", 2, loads=(1.0,))
    card = Card.objects.earliest("pk")
    Card.objects.filter(pk=card.pk).update(health="unhealthy", health_reports=stored(XID, KUBELET))
    NodeTotals.objects.update(health="unhealthy", health_reports=stored(HOT))
    card.refresh_from_db()
    return card


def test_the_page_of_a_card_says_who_what_since_when_and_what_to_do(viewer: Client, sick: Card) -> None:
    text = get(viewer, f"/cards/{sick.pk}").text
    assert "✕ error Do not use: The card has fallen off the bus" in text
    assert "dcgm-exporter: Xid 79, latest Xid since the driver was loaded · since" in text
    assert "Reboot the machine. If it is virtual, reboot its host" in text
    assert "start unknown" in text
    assert "kubelet (allocatedResourcesStatus)" in text
    assert "Node health" in text
    assert "last reported" in text


def test_the_next_steps_are_in_order_with_commands(viewer: Client, sick: Card) -> None:
    ecc = msgspec.structs.replace(XID, code="ecc-uncorrected", action="reset-and-check", text="1")
    Card.objects.filter(pk=sick.pk).update(health_reports=stored(ecc, XID), uuid="GPU-1")
    page = get(viewer, f"/cards/{sick.pk}")
    commands = [tag["data-copy"] for tag in page.tags_of("button") if "kubectl" in tag.get("data-copy", "")]
    # A reboot resets the card too.
    assert commands == ["kubectl cordon gpu-1", f"kubectl delete pod -n {HELD}", "kubectl uncordon gpu-1"]
    assert "Reset the card" not in page.text.split("Health reports")[0]
    Card.objects.filter(pk=sick.pk).update(health_reports=stored(ecc))
    assert "nvidia-smi --gpu-reset -i GPU-1" in get(viewer, f"/cards/{sick.pk}").text


def test_what_a_cluster_wrote_is_text_and_no_markup(viewer: Client, sick: Card) -> None:
    for path in (f"/cards/{sick.pk}", "/nodes/prod/gpu-1"):
        assert "<b>hot</b>" not in get(viewer, path).html


def test_a_card_of_which_nobody_speaks_is_not_told_and_says_what_was_looked_at(
    viewer: Client, cluster: Cluster
) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1, loads=(0.4,))
    card = Card.objects.get()
    assert (card.health, card.found_health) == ("unknown", [])
    text = get(viewer, f"/cards/{card.pk}").text
    assert "Unknown health" in text
    assert "Unknown does not mean healthy." in text
    for source in (
        "Kubelet: reports health only of allocated devices",
        "Device plugin: does not report",
        "Stack: its record on the node",
        "no metrics source is set",
    ):
        assert source in text
    assert "Node conditions: none reports on cards." in text


def test_an_exporter_that_finds_nothing_is_named_as_such(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1, loads=(0.4,))
    measure(Card.objects.get())
    assert "dcgm-exporter 4.8.2: reports no fault" in get(viewer, f"/cards/{Card.objects.get().pk}").text


def test_sources_that_spoke_are_not_called_silent(sick: Card) -> None:
    lines = silent(sick, NOT_COLLECTED, "", [])
    assert not any("Kubelet" in line for line in lines)
    assert any("Device plugin" in line for line in lines)


def test_the_page_of_a_node_has_its_own_conditions(viewer: Client, sick: Card) -> None:
    text = get(viewer, "/nodes/prod/gpu-1").text
    assert "Health ✕ error unhealthy" in text
    assert "Check temperatures, cooling and power supply of the node." in text


@pytest.mark.parametrize(
    ("level", "cards", "nodes"), [("unhealthy", 1, 1), ("healthy", 1, 0), ("degraded", 0, 0), ("unknown", 0, 0)]
)
def test_lists_are_filtered_by_health(viewer: Client, sick: Card, level: str, cards: int, nodes: int) -> None:
    assert len(get(viewer, f"/cards?health={level}").rows) == cards
    assert len(get(viewer, f"/nodes?health={level}").rows) == nodes


def rest(viewer: Client, path: str) -> list[dict[str, Any]]:
    answer = viewer.get(f"/api/v1/{path}")
    assert answer.status_code == 200
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def test_rest_has_the_level_and_all_that_is_told(viewer: Client, sick: Card) -> None:
    (card,) = rest(viewer, "cards?health=unhealthy")
    assert card["health_reports"][0] == {
        "source": "dcgm-exporter",
        "level": "unhealthy",
        "code": "xid-79",
        "message": "The card has fallen off the bus",
        "text": "Xid 79, latest Xid since the driver was loaded",
        "since": "2026-07-01T08:00:00Z",
        "action": "reboot-or-replace",
        "remedy": "Reboot the machine. If it is virtual, reboot its host. If the error recurs, replace the card.",
        "lost_at": None,
    }
    assert [one["source"] for one in card["health_reports"]] == ["dcgm-exporter", "kubelet"]
    (node,) = rest(viewer, "nodes?health=unhealthy")
    assert (node["health"], [one["lost_at"] for one in node["health_reports"]]) == (
        "unhealthy",
        ["2026-07-01T08:00:00Z"],
    )
    assert viewer.get("/api/v1/cards?health=splendid").status_code == 400


def test_a_column_that_somebody_wrote_into_is_nothing_told(viewer: Client, sick: Card) -> None:
    Card.objects.filter(pk=sick.pk).update(health_reports='{"no": "list"}')
    assert rest(viewer, "cards?health=unhealthy")[0]["health_reports"] == []
    Card.objects.filter(pk=sick.pk).update(
        health_reports=stored(HealthReport(source="s", level="healthy", code="c", says="x", since=1e300))
    )
    assert rest(viewer, "cards?health=unhealthy")[0]["health_reports"][0]["since"] is None


def test_csv_has_it_in_one_cell(viewer: Client, sick: Card) -> None:
    lines = b"".join(viewer.get("/api/v1/cards?format=csv&health=unhealthy")).decode().splitlines()
    place = lines[0].split(",").index("health_reports")
    assert place == lines[0].split(",").index("health") + 1
    assert "dcgm-exporter: unhealthy, The card has fallen off the bus" in lines[1]
    assert "since 2026-07-01T08:00:00Z" in lines[1]


def test_the_scrape_has_one_series_for_each_card_and_node(sick: Card) -> None:
    found = scrape()
    states = [dict(labels)["state"] for labels in found["gpudash_card_health"]]
    assert sorted(states) == ["healthy", "unhealthy"]
    assert [dict(labels)["state"] for labels in found["gpudash_node_health"]] == ["unhealthy"]
    assert set(found["gpudash_card_health"].values()) == {1.0}


def test_inspect_has_it_for_scripts(sick: Card, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("inspect", "-o", "json")
    (node,) = json.loads(capsys.readouterr().out)["nodes"]
    assert (node["health"], node["health_reports"][0]["code"]) == ("unhealthy", "GpuThermalMarginWatch")
    assert [card["health"] for card in node["cards"]] == ["unhealthy", "healthy"]
    assert node["cards"][0]["health_reports"][0]["since"] == "2026-07-01T08:00:00Z"
