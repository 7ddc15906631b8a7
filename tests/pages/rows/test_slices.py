"""What would still fit on cards that are cut: on the pages of a node and of a card, and in REST."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from django.test import Client
from django.utils import timezone

from inventory.models import Card, Cluster, NodeTotals
from tests.factories import make_node
from tests.factories.batch import make_case
from tests.pages.reading import Page, get

CUT_ANEW = "needs a repartitioned card"
ON_DEMAND = "when a claim requests it"


def line(page: Page, title: str) -> list[str]:
    """The cells of one row: cards, slices, what fits, source."""
    return next(row for row in page.rows if row[0] == title and len(row) == 4)


def rest(client: Client, path: str) -> Any:
    response = client.get(f"/api/v1/{path}")
    assert response.status_code == 200, response.content
    return response.json()["results"]


def test_of_cards_that_the_driver_cuts_each_has_its_own_numbers(viewer: Client, cluster: Cluster) -> None:
    page = get(viewer, f"/nodes/prod/{make_case(cluster, 'dra-room-by-counters')}")
    full, half = line(page, "card 0"), line(page, "card 1")
    assert full[1:3] == ["1g.10gb × 1, 2g.20gb × 1, 3g.40gb × 1", "no more slices"]
    assert half[1:] == [
        "3g.40gb × 1",
        "1g.10gb × 3, 1g.10gb+me × 1, 1g.20gb × 2, 2g.20gb × 1, 3g.40gb × 1",
        "counters of the driver's slices",
    ]
    assert ON_DEMAND in page.text
    assert CUT_ANEW not in page.text


def test_the_page_of_a_card_has_its_line_alone(viewer: Client, cluster: Cluster) -> None:
    make_case(cluster, "dra-room-by-counters")
    card = Card.objects.get(index=0)
    page = get(viewer, f"/cards/{card.pk}")
    assert line(page, "card 0")[2] == "no more slices"
    assert "1g.20gb × 2" not in page.text
    Card.objects.update(removed_at=timezone.now())
    assert "no more slices" not in get(viewer, f"/cards/{card.pk}").text


@pytest.mark.parametrize(
    ("case", "title", "fits"),
    [
        ("mig-room-cut-alike", "each of 4 sliced cards", "no more slices"),
        (
            "mig-room-one-card-cut",
            "the sliced card",
            "1g.10gb 1 to 2, 1g.10gb+me × 1, 1g.20gb at most 1, 2g.20gb at most 1 Slice positions on the card are unknown",
        ),
        (
            "mig-room-several-layouts",
            "3 sliced cards, together",
            "1g.10gb at most 4, 1g.10gb+me at most 3, 1g.20gb at most 2, 2g.20gb at most 2, 3g.40gb at most 1",
        ),
        ("mig-room-model-not-known", "the sliced card", "unknown No placement table for this model."),
        ("mig-room-contradiction", "the sliced card", "unknown These slices do not fit on 1 card."),
        ("mig-room-profile-not-known", "the sliced card", "unknown The model's placement table"),
    ],
)
def test_what_is_bounded_or_missing_says_why(
    viewer: Client, cluster: Cluster, case: str, title: str, fits: str
) -> None:
    page = get(viewer, f"/nodes/prod/{make_case(cluster, case)}")
    assert line(page, title)[2].startswith(fits)
    assert CUT_ANEW in page.text
    assert ON_DEMAND not in page.text
    card = Card.objects.filter(removed_at=None).exclude(profile="").order_by("pk")[0]
    assert line(get(viewer, f"/cards/{card.pk}"), title)[2].startswith(fits)


def test_counters_that_cannot_be_read_give_no_number(viewer: Client, cluster: Cluster) -> None:
    page = get(viewer, f"/nodes/prod/{make_case(cluster, 'dra-room-counters-unreadable')}")
    assert line(page, "card 0")[2].startswith("unknown The driver's counters")


def test_where_no_card_is_cut_nothing_is_said(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia-count", 2)
    assert "Remaining slices" not in get(viewer, "/nodes/prod/a").text


def test_rest_has_the_same_numbers_with_null_for_the_card_as_a_whole(viewer: Client, cluster: Cluster) -> None:
    make_case(cluster, "dra-room-by-counters")
    found = rest(viewer, "nodes")[0]["remaining_slices"]
    assert [(one["on_demand"], one["each"], one["cards"], one["unknown"]) for one in found] == [
        (True, True, 1, None)
    ] * 2
    assert found[1]["slices"] == [{"profile": "3g.40gb", "number": 1}]
    fits = {one["profile"]: (one["at_least"], one["at_most"]) for one in found[1]["fits"]}
    assert (fits["1g.20gb"], fits["4g.40gb"], fits[None]) == ((2, 2), (0, 0), (0, 0))
    assert {one["key"]: one["remaining_slices"] for one in rest(viewer, "cards")} == {one["card"]: one for one in found}


def test_rest_says_of_cards_that_are_not_cut_that_they_have_no_room(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia-count", 1)
    assert rest(viewer, "nodes")[0]["remaining_slices"] == []
    assert rest(viewer, "cards")[0]["remaining_slices"] is None
    make_case(cluster, "mig-room-several-layouts")
    rooms = [one["remaining_slices"] for one in rest(viewer, "nodes") if one["remaining_slices"]]
    assert [(one["card"], one["each"], one["unknown"]) for one in rooms[0]] == [(None, False, "parents")]


def test_slices_that_nothing_names_are_in_the_order_of_their_numbers(viewer: Client, cluster: Cluster) -> None:
    page = get(viewer, f"/nodes/prod/{make_case(cluster, 'amd-partitions-mixed')}")
    rows = page.tables["Cards of the node and their allocations"]
    assert [row[0] for row in rows[:64]] == [f"slice {number}, cpx_nps1" for number in range(64)]
    assert "64 × AMD_Instinct_MI300X_OAM – slices, number of cards unknown" in page.text


def test_where_there_are_more_than_are_kept_the_page_says_so(viewer: Client, cluster: Cluster) -> None:
    make_case(cluster, "dra-room-by-counters")
    room = Card.objects.get(index=0).found_room
    assert room is not None
    make_node(cluster, "many", "nvidia-count", 70)
    kept = [msgspec.structs.replace(room, card=str(number)) for number in range(64)]
    NodeTotals.objects.filter(node_name="many").update(rooms=msgspec.json.encode(kept[:3]).decode())
    Card.objects.filter(node_name="many").update(room=msgspec.json.encode(room).decode())
    assert "of 70 shown" not in get(viewer, "/nodes/prod/many").text
    NodeTotals.objects.filter(node_name="many").update(rooms=msgspec.json.encode(kept).decode())
    assert "64 of 70 shown" in get(viewer, "/nodes/prod/many").text
