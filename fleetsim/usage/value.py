"""What a card does at a moment: one pure function of the card with its tenants, and the moment. No clock, no store, no dice.

`value` is the truth that all simulated exporters tell in their own words, and the one from which a history can be written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from fleetsim.clock import HOUR, MINUTE
from fleetsim.usage import kinds, noise
from fleetsim.usage.figures import Figures

_MIB = 1 << 20
#: Of the driver alone, and of each process beside what it asks for.
FLOOR_MIB, CONTEXT_MIB = 4, 300
#: How long a leaking process takes from its start to the end of the memory; it is begun anew then.
LEAK_S = 7 * HOUR
#: How far the leak has come when the fleet begins.
LEAK_BEGINS = 0.72
#: What a process holds that outlived its pod, as part of the card.
STRAY = 0.13


class Case:
    """What is wrong with a card; "" where nothing is."""

    LEAK = "leak"
    STRAY = "stray"
    HOT = "hot"
    LOST = "lost"
    ECC = "ecc"
    APPLICATION = "application"


class Who(NamedTuple):
    """A container. owner: (kind, name) of what its pod is of, where it is said."""

    namespace: str
    pod: str
    container: str
    uid: str
    owner: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Tenant:
    """Somebody who has the card, or a part of it, from `since` to `until` (None: still).

    memory: bytes that it may have. core: part of the card that it may use, 0 to 1.
    """

    who: Who
    kind: str
    seed: int
    since: float
    until: float | None
    memory: int
    core: float = 1.0

    def here(self, moment: float) -> bool:
        return self.since <= moment and (self.until is None or moment < self.until)


@dataclass(frozen=True, slots=True)
class CardUse:
    """A card or slice with all who have and had it.

    total: bytes. room: of these, what programs can have. began: when the fleet did.
    """

    seed: int
    figures: Figures
    total: int
    room: int
    tenants: tuple[Tenant, ...] = ()
    case: str = ""
    began: float = 0.0

    def holders(self, moment: float) -> tuple[Tenant, ...]:
        """Who has it at this moment, in the order in which they came."""
        return tuple(one for one in self.tenants if one.here(moment))


class Value(NamedTuple):
    """One card at one moment, in base units: bytes, parts of 1, °C, watts, hertz, joules."""

    memory_used: int
    activity: float
    utilization: float
    tensor: float
    dram: float
    temperature: float
    memory_temperature: float
    power: float
    sm_clock: float
    energy: float
    throttled: bool


def value(card: CardUse, moment: float) -> Value:
    """What the card does then. Use follows who has it; with nobody on it there is the driver's floor alone."""
    figures, case = card.figures, card.case
    used, activity, tensor = (FLOOR_MIB + card.seed % 9) * _MIB, 0.0, 0.0
    for one in card.tenants:
        if one.since <= moment and (one.until is None or moment < one.until):
            used += memory_of(card, one, moment) + CONTEXT_MIB * _MIB
            own = kinds.activity(one.kind, one.seed, moment, moment - one.since) * one.core
            activity += own
            tensor += own * (0.55 if one.kind == kinds.Kind.TRAINING else 0.25)
    if case == Case.STRAY:
        used += int(STRAY * card.total)
        activity += 0.04 + 0.04 * noise.smooth(card.seed, moment, MINUTE)
    activity = min(activity, 0.995)
    flicker = noise.smooth(card.seed + 3, moment, 40.0)
    hot = case == Case.HOT
    low, high = figures.celsius
    warmth = low + (high - low) * activity + 5 * flicker
    if hot:
        warmth = figures.slowdown - 3 + 3 * flicker
    idle_w, full_w = figures.watts
    watts = idle_w + (full_w - idle_w) * activity * (0.55 if hot else 0.9) + 0.02 * full_w * flicker
    slow, fast = figures.sm_mhz
    clock = fast * (0.55 if hot else 0.98) if activity > 0.01 or hot else slow
    return Value(
        memory_used=min(used, card.room),
        activity=activity,
        # The share of time in which anything ran at all: far above what the work is.
        utilization=min(1.0, activity * 1.6) if activity > 0 else 0.0,
        tensor=min(tensor, 0.9),
        dram=activity * 0.45,
        temperature=warmth,
        memory_temperature=warmth + 6,
        power=watts,
        sm_clock=clock * 1e6,
        energy=0.4 * full_w * (moment % (400 * 24 * HOUR)),
        throttled=hot,
    )


def memory_of(card: CardUse, one: Tenant, moment: float) -> int:
    """Bytes that a tenant has taken. One that leaks takes more and more, up to all that there is, whatever it was given."""
    age_s = moment - one.since
    own = int(one.memory * kinds.memory(one.kind, one.seed, moment, age_s))
    if card.case != Case.LEAK or age_s < kinds.LOAD_S or one is not _leaking(card, moment):
        return own
    reached = ((moment - card.began) / LEAK_S + LEAK_BEGINS) % 1.0
    return max(own, int(card.room * (0.12 + 0.88 * reached)) - CONTEXT_MIB * _MIB)


def _leaking(card: CardUse, moment: float) -> Tenant | None:
    """Who has been there longest."""
    return next((one for one in card.tenants if one.here(moment)), None)


def quiet_since(one: Tenant, moment: float) -> float:
    """Seconds since this tenant last did something, as far back as a day; since it came, where it never has."""
    step, back = 15.0, 0.0
    most = min(moment - one.since, 24 * HOUR)
    while back < most:
        if kinds.activity(one.kind, one.seed, moment - back, moment - back - one.since) > 0:
            return back
        back += step
        step = min(step * 1.25, 20 * MINUTE)
    return max(most, 0.0)
