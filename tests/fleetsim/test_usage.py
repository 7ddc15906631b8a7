"""What the cards of the simulated fleet do: one function of card and moment, which follows who has the card."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from itertools import pairwise

import pytest

from fleetsim import Fleet
from fleetsim.clock import DAY, HOUR
from fleetsim.machines import Machine
from fleetsim.models import H100
from fleetsim.usage import CardUse, Case, Kind, Spot, Tenant, Who, kinds, memory_of, quiet_since, value
from fleetsim.usage.cases import FALLEN, HOT
from fleetsim.usage.figures import figures_of
from tests.fleetsim.conftest import START, pass_time
from tests.processes import ROOT
from tests.sweeps import first_and_rest

GIB = 1 << 30
#: A Wednesday, 0:00 UTC.
MIDNIGHT = 1_779_840_000.0


def uses(fleet: Fleet) -> dict[Spot, CardUse]:
    return {spot: use for _, spot, use in fleet.uses()}


def card(*tenants: Tenant, case: str = "") -> CardUse:
    return CardUse(7, figures_of(H100), 80 * GIB, 79 * GIB, tenants, case, began=MIDNIGHT)


def tenant(kind: Kind, since: float = MIDNIGHT - DAY, until: float | None = None, seed: int = 5) -> Tenant:
    return Tenant(Who("ml", "p", "main", "u"), kind, seed, since, until, 40 * GIB)


def over(use: CardUse, hours: Iterable[float]) -> list[float]:
    return [value(use, MIDNIGHT + hour * HOUR).activity for hour in hours]


def test_two_fleets_of_one_seed_do_the_same_at_any_moment(simulated: Fleet) -> None:
    other = Fleet(seed=1, now=START)
    moments = (START, START - 3 * DAY, START + 100)
    assert [[value(use, at) for at in moments] for use in uses(simulated).values()] == [
        [value(use, at) for at in moments] for use in uses(other).values()
    ]
    unlike = uses(Fleet(seed=2, now=START))
    assert [value(one, START) for one in uses(simulated).values()] != [value(one, START) for one in unlike.values()]


def test_another_process_gives_the_same_values() -> None:
    script = (
        "from fleetsim import Fleet; from fleetsim.usage import value;"
        f"print(sum(value(use, {START}).memory_used for _, _, use in Fleet(seed=1, now={START}).uses()))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, env={"PYTHONHASHSEED": number}, capture_output=True, check=True
        ).stdout
        for number in ("1", "2")
    }
    assert len(said) == 1


def test_use_follows_the_ledger_while_pods_come_and_go(simulated: Fleet) -> None:
    for _ in range(3):
        pass_time(simulated, 120)
        found = uses(simulated)
        for machine in simulated.world.machines:
            for supply in machine.supplies.values():
                if supply.profile or supply.parents:
                    continue
                for number in range(len(supply.ledger.cards)):
                    held = {uid for uid, parts in supply.ledger.holders.items() if number in parts}
                    seen = {one.who.uid for one in found[Spot(machine.name, number)].holders(simulated.now)}
                    # One that was never assigned its card holds it and has no process.
                    waiting = {uid for uid in held - seen if not simulated.world.tenancies._of.get(uid)}
                    assert held - waiting == seen, machine.name
                    assert len(waiting) <= 1


def test_a_pod_that_has_ended_is_remembered_for_moments_in_which_it_was_there(simulated: Fleet) -> None:
    before = {spot: [one.who for one in use.holders(START)] for spot, use in uses(simulated).items()}
    values = {spot: value(use, START) for spot, use in uses(simulated).items()}
    pass_time(simulated, 300)
    after = uses(simulated)
    gone = [
        spot
        for spot, who in before.items()
        if who and spot in after and not set(who) <= {one.who for one in after[spot].holders(simulated.now)}
    ]
    assert gone
    for spot in gone:
        assert value(after[spot], START) == values[spot]


def test_a_slice_has_its_own_tenant_and_its_card_has_all_of_them(simulated: Fleet) -> None:
    found = uses(simulated)
    slices = [(spot, use) for spot, use in found.items() if spot.node == "mig-h100-01" and spot.instance]
    assert {spot.profile for spot, _ in slices} == {"1g.10gb", "2g.20gb", "3g.40gb"}
    assert len({(spot.card, spot.instance) for spot, _ in slices}) == len(slices) == 12
    for number in range(3):
        of_card = sum(len(use.holders(START)) for spot, use in slices if spot.card == number)
        assert len(found[Spot("mig-h100-01", number)].holders(START)) == of_card
    assert all(value(use, START).memory_used <= use.room for _, use in slices)


def test_nobody_on_a_card_leaves_the_drivers_floor() -> None:
    lone = value(card(), MIDNIGHT)
    assert lone.memory_used < 16 << 20
    assert (lone.activity, lone.utilization, lone.tensor, lone.dram, lone.throttled) == (0, 0, 0, 0, False)
    ended = card(tenant(Kind.TRAINING, until=MIDNIGHT))
    assert value(ended, MIDNIGHT - 3600).activity > 0.8
    assert value(ended, MIDNIGHT + 1) == value(card(), MIDNIGHT + 1)


def test_training_is_busy_notebooks_rest_for_hours_and_serving_has_a_day() -> None:
    hours = [number / 6 for number in range(24 * 6)]
    training = over(card(tenant(Kind.TRAINING)), hours)
    assert sum(one > 0.85 for one in training) > 0.85 * len(training)
    notebook = over(card(tenant(Kind.NOTEBOOK)), hours)
    assert sum(one == 0 for one in notebook) > len(notebook) / 2
    rests = "".join("x" if one else "." for one in notebook).split("x")
    assert max(len(one) for one in rests) >= 2 * 6
    serving = card(tenant(Kind.SERVING))
    night, noon = over(serving, (2, 2.5, 3, 3.5, 4)), over(serving, (14, 14.5, 15, 15.5, 16))
    assert min(night) > 0.02
    assert sum(noon) > 3 * sum(night)
    sunday = over(serving, (14 + 96, 14.5 + 96, 15 + 96, 15.5 + 96, 16 + 96))
    assert sum(sunday) < 0.75 * sum(noon)
    assert set(over(card(tenant(Kind.IDLE)), hours)) == {0.0}
    assert value(card(tenant(Kind.IDLE)), MIDNIGHT).memory_used > 10 * GIB


def test_a_pod_loads_before_it_works() -> None:
    use = card(tenant(Kind.TRAINING, since=MIDNIGHT))
    first, second, ready = (value(use, MIDNIGHT + seconds) for seconds in (5, 25, 600))
    assert first.memory_used < second.memory_used < ready.memory_used
    assert (first.activity, second.activity) == (0, 0)
    assert ready.activity > 0.8
    assert quiet_since(use.tenants[0], MIDNIGHT + 600) == 0
    assert quiet_since(tenant(Kind.IDLE, since=MIDNIGHT), MIDNIGHT + 600) == 600


def test_a_leak_takes_hours_to_the_brim_whatever_it_was_given() -> None:
    leaking = tenant(Kind.SERVING)
    use = card(leaking, case=Case.LEAK)
    used = [memory_of(use, leaking, MIDNIGHT + minute * 60) / GIB for minute in range(0, 7 * 60, 5)]
    top = used.index(max(used))
    assert used[:top] == sorted(used[:top])
    assert max(used) > 70 > leaking.memory / GIB
    assert min(used) < 45
    assert value(use, MIDNIGHT + top * 300).memory_used <= use.room


def test_the_cases_are_on_their_cards(simulated: Fleet) -> None:
    found = {(spot.node, spot.card): use for spot, use in uses(simulated).items() if not spot.instance}
    hot = value(found["dgx-h100-02", HOT], START)
    assert hot.throttled
    assert hot.temperature >= figures_of(H100).slowdown - 3
    assert hot.sm_clock < value(found["dgx-h100-02", 0], START).sm_clock
    assert found["dgx-h100-02", FALLEN].case == found["dgx-a100-02", 7].case == Case.LOST
    stray = found["ackwin0003", 0]
    assert not stray.holders(START)
    assert value(stray, START).memory_used > 900 << 20
    assert value(stray, START).activity > 0.01
    cases = [use.case for use in found.values() if use.case]
    assert {case: cases.count(case) for case in cases} == {
        Case.HOT: 2,
        Case.LOST: 3,
        Case.STRAY: 3,
        Case.ECC: 1,
        Case.APPLICATION: 1,
        Case.LEAK: 2,
    }
    (cad,) = [use for spot, use in uses(simulated).items() if spot.node == "ackwin0005"]
    assert [one.kind for one in cad.holders(START)] == [Kind.IDLE]


def test_a_history_has_tenants_where_nothing_is_remembered(simulated: Fleet) -> None:
    since = START - 14 * DAY
    _, _, use = next(row for row in simulated.uses(since) if row[1] == Spot("dgx-h100-01", 2))
    made = [one for one in use.tenants if one.until is not None]
    assert len(made) > 5
    assert all(one.until <= other.since for one, other in pairwise(made) if one.until)
    held = [bool(use.holders(since + hour * HOUR)) for hour in range(14 * 24)]
    assert 0.4 < sum(held) / len(held) < 0.95
    # A shorter history is the end of the longer one.
    _, _, short = next(row for row in simulated.uses(START - 2 * DAY) if row[1] == Spot("dgx-h100-01", 2))
    assert [value(short, START - hour * HOUR) for hour in range(48)] == [
        value(use, START - hour * HOUR) for hour in range(48)
    ]


@pytest.mark.parametrize("seed", first_and_rest([1, 2, 3]))
def test_the_past_ends_at_the_state_that_the_fleet_starts_with_and_goes_on_from(seed: int) -> None:
    """Allocated memory of hours before the start and after it is alike: no cliff in the charts of the demo."""
    fleet = Fleet(seed=seed, now=START)
    before = fleet.uses(START - 2 * DAY)
    day = [allocated(before, START - quarter * HOUR / 4) for quarter in range(4 * 24)]
    after = []
    for _ in range(4):
        pass_time(fleet, 900, pace=5)
        after.append(allocated(fleet.uses(), fleet.now))
    assert max(abs(one - other) for one, other in pairwise([*day[::-1], *after])) < 0.12 * day[0]
    assert max(*day, *after) < 1.25 * min(*day, *after)


def allocated(found: Iterable[tuple[Machine, Spot, CardUse]], at: float) -> int:
    """Bytes, of cards that are not cut and of slices."""
    return sum(
        min(use.total, sum(one.memory for one in use.holders(at)))
        for machine, spot, use in found
        if spot.instance or not any(spot.card in one.parents for one in machine.supplies.values() if one.profile)
    )


def test_a_moment_is_cheap() -> None:
    """Some 90 points a millisecond on the machine that it was written on; a tenth of that is asked for."""
    use = card(*(tenant(Kind.SERVING, MIDNIGHT - day * DAY, MIDNIGHT - (day - 1) * DAY) for day in range(16, 0, -1)))
    began = time.process_time()
    for minute in range(10_000):
        value(use, MIDNIGHT - minute * 60)
    assert 10_000 / (time.process_time() - began) > 8_000


@pytest.mark.parametrize("kind", list(Kind))
def test_no_kind_of_work_leaves_its_bounds(kind: Kind) -> None:
    for minute in range(0, 3 * 24 * 60, 7):
        at = MIDNIGHT + minute * 60
        assert 0 <= kinds.activity(kind, minute, at, 1e6) <= 1
        assert 0 <= kinds.memory(kind, minute, at, minute) <= 1
