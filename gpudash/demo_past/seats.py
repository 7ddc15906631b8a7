"""Which card of the mirror a simulated card or slice is, and what the mirror says of who is on it now, as its past needs it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from exporters.engine.identity import normal_uuid
from fleetsim.machines import Machine
from fleetsim.usage import CardUse, Spot, uuid_of
from inventory.models import Allocation, Card, Cluster, NodeTotals

#: What the fleet says of its cards: `Fleet.uses`.
Uses = Sequence[tuple[Machine, Spot, CardUse]]


@dataclass(frozen=True)
class Seat:
    """A place for one holder after the other. card: None where the mirror does not know which of its cards it is.

    likes: holds on the node now that one in the past may be made after. resource: what is asked for it; "" where claims are made.
    per_seat: cards of the mirror that stand for one simulated card (partitions), else 1.
    """

    machine: Machine
    spot: Spot
    use: CardUse
    card: Card | None
    likes: tuple[Allocation, ...]
    resource: str = ""
    per_seat: int = 1

    @property
    def node(self) -> str:
        return self.machine.name


def seats(cluster: Cluster, uses: Uses) -> list[Seat]:
    """In the order of the fleet; without cards that nobody can hold. Three queries."""
    nodes = {machine.name for machine, _, _ in uses}
    cards: dict[str, list[Card]] = defaultdict(list)
    for row in Card.objects.filter(cluster=cluster, removed_at=None, node_name__in=nodes).order_by("id"):
        cards[row.node_name].append(row)
    held: dict[str, list[Allocation]] = defaultdict(list)
    for one in Allocation.objects.filter(cluster=cluster, ended_at=None, node_name__in=nodes).order_by("id"):
        held[one.node_name].append(one)
    known = set(NodeTotals.objects.filter(cluster=cluster, node_name__in=nodes).values_list("node_name", flat=True))
    cut = {(machine.name, card) for machine, _, _ in uses for card in _cut(machine)}
    found = []
    for machine, spot, use in uses:
        whole = not spot.instance
        # Of a card that is cut beforehand the slices are given out; one that is cut as claims want it is one card.
        if machine.name not in known or (whole == ((machine.name, spot.card) in cut)):
            continue
        mine = cards[machine.name]
        card = _whole(mine, machine, spot) if whole else _slice(mine, machine, spot)
        likes = tuple(one for one in held[machine.name] if one.quantity > 0)
        boards = machine.kind.cards if whole else len(mine)
        resource = _resource(machine, spot)
        found.append(Seat(machine, spot, use, card, likes, resource, max(1, len(mine) // max(1, boards))))
    return found


def _cut(machine: Machine) -> set[int]:
    return {parent for supply in machine.supplies.values() if supply.profile for parent in supply.parents}


def _whole(cards: Iterable[Card], machine: Machine, spot: Spot) -> Card | None:
    uuid = normal_uuid(machine.uuids[spot.card])
    own = [card for card in cards if not card.profile]
    named = next((card for card in own if card.uuid and normal_uuid(card.uuid) == uuid), None)
    return named or next((card for card in own if not card.uuid and card.index == spot.card), None)


def _slice(cards: Iterable[Card], machine: Machine, spot: Spot) -> Card | None:
    """By its UUID, or by the number that GKE's kubelet gives it."""
    uuid = normal_uuid(uuid_of(machine, spot))
    for card in cards:
        if card.profile and (
            card.key == f"{spot.card}/gi{spot.instance}" or (card.uuid and normal_uuid(card.uuid) == uuid)
        ):
            return card
    return None


def _resource(machine: Machine, spot: Spot) -> str:
    for name, supply in machine.supplies.items():
        if supply.profile == spot.profile and (not supply.parents or spot.card in supply.parents):
            return name
    return ""
