"""One simulated node: its type, its cards, what is free on it. The truth behind the Node object in the store."""

from __future__ import annotations

from dataclasses import dataclass, field

from fleetsim.ledger import Ledger, Parts
from fleetsim.nodetypes import NodeType, Taint
from fleetsim.systems import Ids, System


@dataclass
class Supply:
    """One resource of a node: who gives it out, what is free of it, and what it is made of.

    uuids: of its cards, or of its slices. units: of each. parents: the card of each slice, [] for whole cards.
    given: pod uid → the ids that the kubelet reports of it.
    """

    system: System
    ledger: Ledger
    uuids: list[str]
    units: int
    profile: str = ""
    parents: list[int] = field(default_factory=list)
    given: dict[str, list[str]] = field(default_factory=dict)

    def hold(self, uid: str, parts: Parts, loose: int = 0, *, reported: bool = True) -> None:
        """Record a holder, and the ids of what it got: of each card the first that nobody has.

        reported: whether the kubelet has given it devices.
        """
        self.ledger.hold(uid, parts, loose)
        if self.system.ids is not None and reported:
            self.given[uid] = [one for card, (slots, _) in sorted(parts.items()) for one in self._free(card, slots)]

    def _free(self, card: int, slots: int) -> list[str]:
        ids: Ids | None = self.system.ids
        taken = {one for given in self.given.values() for one in given}
        found = ids(card, self.uuids[card], self.units) if ids is not None else ()
        return [one for one in found if one not in taken][:slots]

    def release(self, uid: str) -> None:
        """Give back what this pod held; nothing when it held nothing."""
        self.ledger.release(uid)
        self.given.pop(uid, None)


@dataclass
class Machine:
    """number: in the fleet, from 0. uuids: of its cards. supplies: by resource; none where nobody can ask for a device."""

    name: str
    kind: NodeType
    number: int
    uuids: list[str]
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    supplies: dict[str, Supply]
    cordoned: bool = False
    ready: bool = True

    @property
    def ip(self) -> str:
        return f"192.168.{self.number // 250}.{self.number % 250 + 4}"

    @property
    def resource(self) -> str:
        """What pods ask for here, of several resources the first; "" for nothing."""
        return self.kind.system.resource if self.kind.system is not None else ""

    @property
    def ledger(self) -> Ledger | None:
        """That of the first resource; None where no workload can ask for one."""
        supply = self.supplies.get(self.resource)
        return supply.ledger if supply is not None else None

    @property
    def open(self) -> bool:
        """Whether the scheduler may use it."""
        return self.ready and not self.cordoned


def supplies_of(kind: NodeType, uuids: list[str], slice_uuids: list[str]) -> dict[str, Supply]:
    """The resources of an empty node of this type. slice_uuids: of its slices, as many as it has."""
    found: dict[str, Supply] = {}
    if kind.system is not None and kind.units and not kind.slices:
        found[kind.system.resource] = Supply(
            kind.system, Ledger.of(kind.cards, kind.units, kind.pods_per_card), uuids, kind.units
        )
    rest = list(slice_uuids)
    for part in kind.slices:
        mine, rest = rest[: len(part.parents)], rest[len(part.parents) :]
        own = mine or [uuids[card] for card in part.parents]
        found[part.system.resource] = Supply(
            part.system, Ledger.of(len(own), 1), own, 1, part.profile, list(part.parents)
        )
    return found
