"""Who may have had a card before anything is remembered of it: made up from a seed, always the same, in the words of its pool.

Tenancies and the times between them have lengths that remember nothing (exponential), so that what is held goes over into what is
held when the fleet begins, without a step: a free card was free for as long as any other.
"""

from __future__ import annotations

from random import Random

from fleetsim import teams
from fleetsim.clock import HOUR, MINUTE
from fleetsim.machines import Machine
from fleetsim.usage.kinds import Kind
from fleetsim.usage.value import Tenant, Who
from fleetsim.workloads import workloads

#: Part of the time in which a card is held, and hours of one tenancy on average: so the fleet is found at its start, too.
HELD, HOURS = 0.67, 30.0
_MOST_HOURS = 5 * 24
#: Who is on a shared card at the same time: where memory is given out, and where cards are taken in turns.
_BY_MEMORY, _IN_TURNS = 3, 2
_KINDS = {"PyTorchJob": Kind.TRAINING, "Job": Kind.BATCH, "Notebook": Kind.NOTEBOOK}


def invented(machine: Machine, seed: int, memory: int, since: float, until: float) -> tuple[Tenant, ...]:
    """One after the other from `since` to `until`, the oldest first; on a shared card some at a time. memory: bytes of the card.

    The same card, seed and `until` give the same tenants, whatever `since` is: they are made from the end on.
    """
    if not workloads(machine.kind) or not (machine.supplies or machine.kind.dra):
        return ()
    lanes = _lanes(machine)
    found = [
        one for lane in range(lanes) for one in _one_lane(machine, seed + lane, memory // lanes, lanes, since, until)
    ]
    return tuple(sorted(found, key=lambda one: (one.since, one.who.uid)))


def _lanes(machine: Machine) -> int:
    """How many are on a card of this node at a time."""
    supply = machine.supplies.get(machine.resource)
    if supply is None or supply.profile:
        return 1
    if supply.units > 1 and not getattr(supply.system, "shared", False):
        return _BY_MEMORY
    return _IN_TURNS if getattr(supply.system, "shared", False) else 1


def _one_lane(machine: Machine, seed: int, memory: int, lanes: int, since: float, until: float) -> list[Tenant]:
    choice = workloads(machine.kind)
    rng = Random(seed)
    found: list[Tenant] = []
    end = until - _free(rng)
    while end > since:
        start = end - age(rng)
        workload = rng.choice(choice)
        name, owner = teams.pod_name(rng, workload, rng.randrange(4))
        who = Who(workload.namespace, name, "main", teams.uid(rng), (workload.owner, owner))
        kind = _KINDS.get(workload.owner, Kind.SERVING)
        found.append(Tenant(who, kind, rng.getrandbits(31), start, end, memory, 1 / lanes))
        end = start - _free(rng)
    return found


def age(rng: Random) -> float:
    """Seconds of a tenancy, and seconds for which one that goes on has gone on."""
    return min(rng.expovariate(1 / HOURS), _MOST_HOURS) * HOUR + 5 * MINUTE


def _free(rng: Random) -> float:
    return rng.expovariate(1 / (HOURS * (1 / HELD - 1))) * HOUR
