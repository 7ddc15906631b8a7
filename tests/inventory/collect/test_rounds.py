"""A round is written some nodes after the other, and comes out as if it were written at once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from inventory.collect import rows, sources
from inventory.collect.cards import Known
from inventory.collect.merged import Measured
from inventory.models import Card, CardUsage, Cluster, DirtyNode, UsageSource
from runtime.clock import database_now
from tests.factories import make_cluster, make_node

pytestmark = pytest.mark.django_db


def measured(node: str, number: int, used: float = 1e9) -> Measured:
    ident = f"{node}-{number}"
    return Measured(
        node=node, ident=ident, uuid=ident, index=number, format="dcgm-exporter", values={"memory_used": used}
    )


@pytest.fixture
def source() -> UsageSource:
    return sources.set_direct(make_cluster("prod"))


def write(source: UsageSource, cards: list[Measured]) -> rows.Written:
    now = database_now()
    return rows.write_round(source.cluster_id, source.pk, cards, now, now - timedelta(seconds=60))


def states(cluster: Cluster) -> dict[tuple[str, str], tuple[bool, int | None]]:
    found = CardUsage.objects.filter(cluster=cluster)
    return {(one.node_name, one.ident): (one.lost_at is None, one.memory_used_bytes) for one in found}


@pytest.mark.parametrize("at_once", [1, 2, 500])
def test_the_size_of_the_pieces_makes_no_difference(
    source: UsageSource, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(rows, "NODES_AT_ONCE", at_once)
    first = write(source, [measured(f"n{node}", card) for node in range(5) for card in range(2)])
    assert (first.written, first.lost, first.dirty) == (10, 0, {f"n{node}" for node in range(5)})
    DirtyNode.objects.all().delete()
    # The second node is silent, a card of the third too; one of the fourth has more, and the rest is as it was.
    cards = [measured(f"n{node}", card) for node in (0, 2, 3, 4) for card in range(2) if (node, card) != (2, 1)]
    cards[-3] = measured("n3", 1, 9e9)
    again = write(source, cards)
    assert (again.written, again.lost) == (1, 3)
    found = states(source.cluster)
    assert {key for key, (here, _) in found.items() if not here} == {("n1", "n1-0"), ("n1", "n1-1"), ("n2", "n2-1")}
    assert found["n3", "n3-1"] == (True, int(9e9))
    assert found["n0", "n0-0"] == (True, int(1e9))
    # What is lost is lost once.
    assert write(source, cards).lost == 0


def test_a_card_has_one_row_in_a_round_whatever_nodes_name_it(
    source: UsageSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "NODES_AT_ONCE", 1)
    make_node(source.cluster, "n0", "nvidia", 1, loads=(0.0,))
    known = Known(*Card.objects.values_list(*Known.__struct_fields__).get())
    cards = [measured("n0", 0), measured("n1", 0)]
    for one in cards:
        one.card = known
    for _ in range(2):
        write(source, cards)
        placed = CardUsage.objects.order_by("node_name").values_list("node_name", "card_id")
        assert list(placed) == [("n0", known.id), ("n1", None)]
