"""Multi-Instance GPU as NVML tells it: the profiles of the demo's cards, and how many of each a layout has.

Figures are those that NVIDIA's tool lists as profiles and placements of such cards; names of labels those of GPU Feature Discovery.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fleetsim.models import A30, A100, A100_40, H100, Model

#: Memory slices of a card of seven compute slices.
SEVEN = 8


@dataclass(frozen=True)
class Profile:
    """One GPU instance profile. number: NVML's id of it. starts, size: where it can lie, in memory slices.

    engines: copy, decoder, jpeg, ofa; a data centre card has no encoder.
    """

    name: str
    number: int
    slices: int
    memory_mib: int
    multiprocessors: int
    engines: tuple[int, int, int, int]
    starts: tuple[int, ...]
    size: int

    def attributes(self) -> dict[str, int]:
        """What GPU Feature Discovery labels of an instance."""
        copy, decoder, jpeg, ofa = self.engines
        return {
            "memory": self.memory_mib,
            "multiprocessors": self.multiprocessors,
            "slices.gi": self.slices,
            "slices.ci": self.slices,
            "engines.copy": copy,
            "engines.decoder": decoder,
            "engines.encoder": 0,
            "engines.jpeg": jpeg,
            "engines.ofa": ofa,
        }


_ANY = tuple(range(7))
_H100 = (
    Profile("1g.10gb", 19, 1, 9984, 16, (1, 1, 1, 0), _ANY, 1),
    Profile("1g.10gb+me", 20, 1, 9984, 16, (1, 1, 1, 1), _ANY, 1),
    Profile("1g.20gb", 15, 1, 20096, 26, (1, 1, 1, 0), (0, 2, 4, 6), 2),
    Profile("2g.20gb", 14, 2, 20096, 32, (2, 2, 2, 0), (0, 2, 4), 2),
    Profile("3g.40gb", 9, 3, 40448, 60, (3, 3, 3, 0), (0, 4), 4),
    Profile("4g.40gb", 5, 4, 40448, 64, (4, 4, 4, 0), (0,), 4),
    Profile("7g.80gb", 0, 7, 81152, 132, (7, 7, 7, 1), (0,), 8),
)
_A100 = (
    Profile("1g.10gb", 19, 1, 9728, 14, (1, 0, 0, 0), _ANY, 1),
    Profile("2g.20gb", 14, 2, 19968, 28, (2, 1, 0, 0), (0, 2, 4), 2),
    Profile("3g.40gb", 9, 3, 40192, 42, (3, 2, 0, 0), (0, 4), 4),
)
_A100_40 = (Profile("1g.5gb", 19, 1, 4864, 14, (1, 0, 0, 0), _ANY, 1),)
_A30 = (Profile("1g.6gb", 14, 1, 5952, 14, (1, 1, 0, 0), (0, 1, 2, 3), 1),)
_PROFILES = {H100.name: _H100, A100.name: _A100, A100_40.name: _A100_40, A30.name: _A30}


def profiles(model: Model) -> tuple[Profile, ...]:
    """The profiles of a model that the demo knows, smallest first."""
    return _PROFILES[model.name]


def profile(model: Model, name: str) -> Profile:
    return next(one for one in profiles(model) if one.name == name)


@dataclass(frozen=True)
class Layout:
    """How the cards of a node are cut. cards: the instances of each card; () for one that is whole. config: as it is labelled."""

    config: str
    strategy: str
    cards: tuple[tuple[str, ...], ...] = field(default=())

    @property
    def counts(self) -> dict[str, int]:
        """Profile → instances of all cards, smallest profile first."""
        found: dict[str, int] = {}
        for name in sorted(name for card in self.cards for name in card):
            found[name] = found.get(name, 0) + 1
        return found

    @property
    def whole(self) -> int:
        """Cards that are not cut."""
        return sum(1 for card in self.cards if not card)

    def parents(self, name: str) -> list[int]:
        """The card of each instance of a profile."""
        return [number for number, card in enumerate(self.cards) for one in card if one == name]


def resource(name: str) -> str:
    """The resource of a profile under the strategy mixed."""
    return f"nvidia.com/mig-{name.replace('+', '.')}"
