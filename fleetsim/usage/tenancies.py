"""Who has which card or slice, and who had it: kept beside the ledgers, of which it follows each hold and each release."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from fleetsim.machines import Machine, Supply
from fleetsim.mig import profile
from fleetsim.usage import cases, noise
from fleetsim.usage.figures import figures_of
from fleetsim.usage.past import invented
from fleetsim.usage.value import CardUse, Tenant, Who

if TYPE_CHECKING:
    from fleetsim.systems import Place
    from fleetsim.world import World

Pod = dict[str, Any]

_MIB = 1 << 20
#: Former tenants of a card that are remembered.
_MOST_PAST = 32
#: NVML's number of the first instance of a profile, by its compute slices.
_FIRST_INSTANCE = {1: 7, 2: 3, 3: 1, 4: 1, 7: 0}


class Spot(NamedTuple):
    """A card, or a slice of it. instance: NVML's number of a slice, or the name of a device that is cut as claims want it."""

    node: str
    card: int
    instance: str = ""
    profile: str = ""


class Tenancies:
    """Of one world. Not to be asked while another thread steps the world: hold the store's lock."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.began = world.now
        self._now: defaultdict[Spot, list[Tenant]] = defaultdict(list)
        self._past: defaultdict[Spot, deque[Tenant]] = defaultdict(lambda: deque(maxlen=_MOST_PAST))
        self._of: dict[str, list[Spot]] = {}
        self._cases: dict[tuple[str, int], str] | None = None

    def begin(self, pod: Pod, place: Place, at: float) -> None:
        """The pod has what its place says from now on."""
        uid = pod["metadata"]["uid"]
        self.end(uid, at)
        machine = self.world.scheduler.by_name[place.node]
        shares = dict(self._shares(pod, place, machine))
        kind = cases.kind_of(pod, place.node, {spot.card for spot in shares})
        for spot, (memory, core) in shares.items():
            container = pod["spec"]["containers"][0]["name"]
            who = Who(pod["metadata"]["namespace"], pod["metadata"]["name"], container, uid)
            seed = noise.seed_of(uid, spot.card)
            self._now[spot].append(Tenant(who, kind, seed, at, None, memory, core))
            self._of.setdefault(uid, []).append(spot)

    def end(self, uid: str, at: float) -> None:
        """The pod has nothing any more; nothing when it had nothing."""
        for spot in self._of.pop(uid, []):
            for one in self._now[spot]:
                if one.who.uid == uid:
                    self._past[spot].append(replace(one, until=at))
            self._now[spot] = [one for one in self._now[spot] if one.who.uid != uid]

    def _shares(self, pod: Pod, place: Place, machine: Machine) -> Iterator[tuple[Spot, tuple[int, float]]]:
        supply = machine.supplies.get(place.resource)
        if supply is not None:
            for number, (units, percent) in place.parts.items():
                spot = _of_supply(machine, supply, number)
                part = units / supply.units if supply.units else 1.0
                core = percent / 100 if percent else min(1.0, max(part, 0.25))
                yield spot, (int(part * given_out(machine, spot)), core)
        for device in self.world.claims.devices_of(pod):
            spot = Spot(machine.name, device.card, device.name if device.profile else "", device.profile)
            yield spot, (given_out(machine, spot), 1.0)

    def spots(self, machine: Machine) -> list[Spot]:
        """The cards of a node and the slices that there are of them, in the order of their numbers."""
        found = [Spot(machine.name, card) for card in range(machine.kind.cards)]
        for supply in machine.supplies.values():
            if supply.profile:
                found += [_of_supply(machine, supply, number) for number in range(len(supply.parents))]
        found += [spot for spot, here in self._now.items() if here and spot.node == machine.name and spot not in found]
        return sorted(found, key=lambda spot: (spot.card, spot.instance != "", len(spot.instance), spot.instance))

    def use(self, machine: Machine, spot: Spot, since: float | None = None) -> CardUse:
        """A card with its tenants. since: with plausible ones for the time from then on of which nothing is remembered."""
        if self._cases is None:
            self._cases = cases.planted(self.world.machines)
        assert machine.kind.model is not None, "a card has a model"
        seed = noise.seed_of(machine.name, machine.uuids[spot.card], spot.instance)
        tenants = self._tenants(spot)
        if since is not None:
            first = min((one.since for one in tenants), default=self.world.now)
            tenants = (*invented(machine, seed, given_out(machine, spot), since, first), *tenants)
        return CardUse(
            seed=seed,
            figures=figures_of(machine.kind.model),
            total=total(machine, spot),
            room=given_out(machine, spot),
            tenants=tenants,
            case="" if spot.instance else self._cases.get((spot.node, spot.card), ""),
            began=self.began,
        )

    def _tenants(self, spot: Spot) -> tuple[Tenant, ...]:
        """Those of a card that is cut are the tenants of its slices, each with its part of the card."""
        found = [*self._past.get(spot, ()), *self._now.get(spot, ())]
        model = self.world.scheduler.by_name[spot.node].kind.model
        for other in () if spot.instance else {*self._past, *self._now}:
            if other.instance and other[:2] == spot[:2] and model is not None:
                part = profile(model, other.profile).slices / 7
                here = (*self._past.get(other, ()), *self._now.get(other, ()))
                found += [replace(one, core=one.core * part) for one in here]
        return tuple(sorted(found, key=lambda one: one.since))


def uuid_of(machine: Machine, spot: Spot) -> str:
    """Of the card, or of the slice that was cut beforehand."""
    for supply in machine.supplies.values() if spot.instance else ():
        for number in range(len(supply.parents) if supply.profile else 0):
            if _of_supply(machine, supply, number) == spot:
                return supply.uuids[number]
    return machine.uuids[spot.card]


def total(machine: Machine, spot: Spot) -> int:
    """Bytes of the card or slice."""
    model = machine.kind.model
    assert model is not None, "a card has a model"
    return (profile(model, spot.profile).memory_mib if spot.profile else model.memory_mib) * _MIB


def given_out(machine: Machine, spot: Spot) -> int:
    """Bytes of it that programs can have."""
    model = machine.kind.model
    assert model is not None, "a card has a model"
    return total(machine, spot) - (0 if spot.profile else figures_of(model).reserved_mib * _MIB)


def _of_supply(machine: Machine, supply: Supply, number: int) -> Spot:
    """The card or slice that this number of a resource stands for."""
    if not supply.parents:
        return Spot(machine.name, number)
    card = supply.parents[number]
    if not supply.profile:
        return Spot(machine.name, card)
    assert machine.kind.model is not None, "a card that is cut has a model"
    before = sum(1 for parent in supply.parents[:number] if parent == card)
    first = _FIRST_INSTANCE[profile(machine.kind.model, supply.profile).slices]
    return Spot(machine.name, card, str(first + before), supply.profile)
