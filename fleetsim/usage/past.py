"""Who may have had a card before anything is remembered of it: made up from a seed, always the same, in the words of its pool."""

from __future__ import annotations

from random import Random

from fleetsim import teams
from fleetsim.clock import HOUR
from fleetsim.machines import Machine
from fleetsim.usage.kinds import Kind
from fleetsim.usage.value import Tenant, Who
from fleetsim.workloads import workloads

#: Part of the time in which somebody has the card, and hours of one tenancy.
_HELD, _HOURS = 0.72, (0.6, 30.0)
#: Hours for which nobody had it before who is there now, or by now.
_BEFORE = (0.2, 6.0)
#: Who is on a shared card at the same time: where memory is given out, and where cards are taken in turns.
_BY_MEMORY, _IN_TURNS = 3, 2
_KINDS = {"PyTorchJob": Kind.TRAINING, "Job": Kind.BATCH, "Notebook": Kind.NOTEBOOK}


def invented(machine: Machine, seed: int, memory: int, since: float, until: float) -> tuple[Tenant, ...]:
    """One after the other from `since` to `until`, the oldest first; on a shared card some at a time. memory: bytes of the card.

    The same card, seed and `until` give the same tenants, whatever `since` is: they are made from the end on.
    """
    choice = workloads(machine.kind)
    if not choice:
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
    end = until - rng.uniform(*_BEFORE) * HOUR
    while end > since or (found and found[-1].since > since):
        start = end - rng.uniform(*_HOURS) * HOUR
        gap = (end - start) * (1 / _HELD - 1) * rng.uniform(0, 2)
        workload = rng.choice(choice)
        name, owner = teams.pod_name(rng, workload, rng.randrange(4))
        who = Who(workload.namespace, name, "main", teams.uid(rng), (workload.owner, owner))
        kind = _KINDS.get(workload.owner, Kind.SERVING)
        found.append(Tenant(who, kind, rng.getrandbits(31), start, end, memory, 1 / lanes))
        end = start - gap
    return found
