"""What an exporter sees of its node at one moment: cards, slices, what they do, and who has them."""

from __future__ import annotations

from dataclasses import dataclass

from fleetsim.machines import Machine
from fleetsim.models import Model
from fleetsim.usage import CardUse, Case, Spot, Tenant, Value, Who, memory_of, value
from fleetsim.world import World

MIB = 1 << 20


@dataclass(frozen=True)
class SeenCard:
    """A card, or a slice of one. uuid: of the card. labelled: the container that the kubelet names for it."""

    spot: Spot
    uuid: str
    use: CardUse
    value: Value
    holders: tuple[Tenant, ...]
    labelled: Who | None

    @property
    def index(self) -> int:
        return self.spot.card

    @property
    def pci(self) -> str:
        """Domain, bus, device and function, each card on a bus of its own."""
        return f"0000:{0x1A + 0x10 * (self.index % 8):02x}:{self.index // 8:02x}.0"

    @property
    def lost(self) -> bool:
        """Whether the driver has no value of it any more."""
        return self.use.case == Case.LOST

    def used_by(self, one: Tenant, moment: float) -> int:
        """Bytes."""
        return memory_of(self.use, one, moment)


@dataclass(frozen=True)
class SeenNode:
    """cards: whole ones, in the order of their numbers. slices: of those that are cut. began: when the fleet did."""

    machine: Machine
    model: Model
    moment: float
    began: float
    cards: tuple[SeenCard, ...]
    slices: tuple[SeenCard, ...]

    @property
    def name(self) -> str:
        return self.machine.name

    def cut(self, card: SeenCard) -> tuple[SeenCard, ...]:
        """The slices of this card."""
        return tuple(one for one in self.slices if one.index == card.index)


def look(world: World, machine: Machine, moment: float) -> SeenNode | None:
    """None for a node without cards. Call it with the store's lock held."""
    model = machine.kind.model
    if model is None:
        return None
    found = [_card(world, machine, spot, moment) for spot in world.tenancies.spots(machine)]
    return SeenNode(
        machine,
        model,
        moment,
        world.tenancies.began,
        tuple(one for one in found if not one.spot.instance),
        tuple(one for one in found if one.spot.instance),
    )


def _card(world: World, machine: Machine, spot: Spot, moment: float) -> SeenCard:
    use = world.tenancies.use(machine, spot)
    holders = use.holders(moment)
    # Of several the kubelet's list names the one that comes last; a card that is shared by a reservation names that.
    labelled = world.reservations.of(machine.name, spot.card) or (holders[-1].who if holders else None)
    return SeenCard(spot, machine.uuids[spot.card], use, value(use, moment), holders, labelled)
