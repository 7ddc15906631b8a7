"""Campaigns that ended: one suite on a card of each of some nodes, asked for by a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from fleetsim.clock import DAY, HOUR
from gpudash.demo_past.clock import Times, utc
from gpudash.demo_past.runs import PEOPLE, Asked, Runs
from gpudash.demo_past.seats import Seat
from validations.ids import new_id
from validations.models import Campaign, CampaignState, CampaignTarget, Run
from validations.suites import registry

#: Seconds between two of its runs.
_APART_S = 45.0


class Wanted(NamedTuple):
    """days: ago. nodes: beginnings of names."""

    name: str
    suite: str
    days: int
    nodes: tuple[str, ...]
    who: str


def wanted() -> list[Wanted]:
    """Those that suites say they had, asked for by one person after the other."""
    told = [(suite.id, suite.demo.past) for suite in registry().values() if suite.demo.past.campaign]
    return [
        Wanted(past.campaign, suite, past.ago, past.nodes, PEOPLE[number % len(PEOPLE)])
        for number, (suite, past) in enumerate(told)
    ]


def forget() -> None:
    """Take away those of an earlier demo: their places went with its cluster."""
    Campaign.objects.filter(requested_by=None, requested_by_name__in=PEOPLE, targets=None).delete()


def write(one: Wanted, runs: Runs, times: Times, breathe: Callable[[], None]) -> Campaign | None:
    """One campaign with its runs. None where the fleet has no node for it, or has no past that is so long."""
    seats = list(_places(runs.seats, one.nodes))
    at = (times.until // DAY - one.days) * DAY + 11 * HOUR
    if not seats or at < times.since:
        return None
    # Done from the beginning: nobody is to go on with it.
    row = Campaign.objects.create(
        id=new_id(utc(at)),
        name=one.name,
        suite=one.suite,
        state=CampaignState.DONE,
        requested_by_name=one.who,
        created_at=utc(at),
        touched_at=utc(at),
        ended_at=utc(at),
        settled=True,
    )
    made: list[Run] = []
    for number, seat in enumerate(seats):
        run = runs.write(Asked(at + number * _APART_S, one.suite, (seat,), one.who), row)
        if run is not None:
            _target(row, len(made), run, seat)
            made.append(run)
        breathe()
    if not made:
        row.delete()
        return None
    ended = max(run.ended_at for run in made if run.ended_at is not None)
    Campaign.objects.filter(pk=row.pk).update(ended_at=ended, touched_at=ended)
    return row


def _target(campaign: Campaign, position: int, run: Run, seat: Seat) -> None:
    CampaignTarget.objects.create(
        campaign=campaign,
        position=position,
        cluster_id=run.cluster_id,
        node_name=seat.node,
        card_key=run.card_requested,
        run=run,
    )


def _places(seats: Iterable[Seat], nodes: tuple[str, ...]) -> Iterable[Seat]:
    """The first card of each node."""
    seen: set[str] = set()
    for seat in seats:
        if seat.node.startswith(nodes) and seat.node not in seen:
            seen.add(seat.node)
            yield seat
