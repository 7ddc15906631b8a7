"""What idle allocations cost so far: by the price of each day, and unknown where anything of it is."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from accounts.roles import Role
from inventory.charges.idle import idle_costs, rounded
from inventory.charges.rates import PriceDraft, put
from inventory.models import Allocation, Card, Cluster, IdleAllocation, IdleLook
from runtime.clock import database_now
from tests.cast import make_user, signed_in
from tests.factories import GIB, make_node
from tests.pages.reading import get

BEGIN = datetime(2026, 11, 20, 18, tzinfo=UTC)
END = datetime(2026, 11, 21, 6, tzinfo=UTC)


@pytest.fixture
def idle(cluster: Cluster) -> IdleAllocation:
    """A T4 that was held without work for twelve hours, six of them on each of two days."""
    make_node(cluster, "t", "nvidia", 1, loads=(1.0,))
    Card.objects.update(model="T4")
    held = Allocation.objects.get()
    return IdleAllocation.objects.create(
        cluster=cluster,
        allocation=held,
        node_name="t",
        namespace=held.namespace,
        model="T4",
        confidence="certain",
        measure="activity",
        idle_since=BEGIN,
        written_at=END,
        memory_bytes=16 * GIB,
        cards=1.0,
        byte_seconds=16 * GIB * 12 * 3600.0,
        card_seconds=12 * 3600.0,
    )


def price(**values: Any) -> None:
    put(PriceDraft(**({"currency": "EUR", "since": "2026-01-01"} | values)))


def cost(row: IdleAllocation) -> tuple[dict[str, Decimal], bool]:
    found = idle_costs([row])
    assert found is not None
    return rounded(found[0]), not found[0].unknown


def test_each_day_has_its_price(idle: IdleAllocation) -> None:
    assert idle_costs([idle]) is None
    price(card_hour="1")
    price(card_hour="2", gib_hour="0.01", since="2026-11-21")
    assert cost(idle) == ({"EUR": Decimal("18.96")}, True)
    price(card_hour="1", currency="USD", since="2026-11-21", model="T4")
    assert cost(idle) == ({"EUR": Decimal("6.00"), "USD": Decimal("6.00")}, True)


def test_unknown_is_not_0(idle: IdleAllocation) -> None:
    price(card_hour="1", since="2026-11-21")
    assert cost(idle) == ({"EUR": Decimal("6.00")}, False)
    price(card_hour="1", gib_hour="1", since="2026-11-20")
    idle.byte_seconds = None
    assert cost(idle) == ({"EUR": Decimal("12.00")}, False)
    idle.card_seconds = None
    assert cost(idle)[1] is False


def test_rest_csv_and_page_say_it(idle: IdleAllocation) -> None:
    now = database_now()
    IdleAllocation.objects.update(written_at=now, idle_since=now - timedelta(hours=12))
    IdleLook.objects.create(cluster=idle.cluster, looked_at=now, window_s=300)
    viewer = signed_in(make_user("vera", Role.VIEWER))
    [row] = viewer.get("/api/v1/idle").json()["results"]
    assert (row["costs"], row["cost_complete"]) == ([], False)
    assert "EUR" not in get(viewer, "/allocations/idle").text
    price(card_hour="100")
    [row] = viewer.get("/api/v1/idle").json()["results"]
    assert (row["costs"], row["cost_complete"]) == ([{"currency": "EUR", "amount": "1200.00"}], True)
    answer: Any = viewer.get("/api/v1/idle?format=csv")
    [line] = csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode()))
    assert (line["cost"], line["cost_complete"]) == ("1200.00 EUR", "true")
    assert "1,200.00 EUR" in get(viewer, "/allocations/idle").text
