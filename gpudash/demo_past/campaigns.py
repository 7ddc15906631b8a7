"""Campaigns that ended: one suite on a card of each of some nodes, asked for by a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from fleetsim.clock import HOUR
from gpudash.demo_past.clock import Times, utc
from gpudash.demo_past.runs import PEOPLE, Asked, Runs
from gpudash.demo_past.seats import Seat
from validations.ids import new_id
from validations.models import Campaign as Row
from validations.models import CampaignState, CampaignTarget, Run
from validations.suites import registry
from validations.suites.engine.demo import Campaign

#: Seconds between two of its runs.
_APART_S = 45.0


class Wanted(NamedTuple):
    suite: str
    one: Campaign
    who: str


def wanted() -> list[Wanted]:
    """Those that suites say they had, the oldest first, asked for by one person after the other."""
    told = [(suite.id, one) for suite in registry().values() for one in suite.demo.past.campaigns if one.ago]
    told.sort(key=lambda pair: -pair[1].ago)
    return [Wanted(suite, one, PEOPLE[number % len(PEOPLE)]) for number, (suite, one) in enumerate(told)]


def forget() -> None:
    """Take away those of an earlier demo, whoever asked for them: their targets went with its cluster."""
    Row.objects.filter(targets=None).delete()


def write(wanted: Wanted, runs: Runs, times: Times, breathe: Callable[[], None]) -> Row | None:
    """One campaign with its runs. None where the fleet has no node for it, or has no past that is so long."""
    places = _places(runs.seats, wanted.one)
    at = times.on_day(wanted.one.ago, 11 * HOUR)
    if not places or at < times.since:
        return None
    # Done from the beginning: nobody is to go on with it.
    row = Row.objects.create(
        id=new_id(utc(at)),
        name=wanted.one.name,
        suite=wanted.suite,
        state=CampaignState.DONE,
        requested_by_name=wanted.who,
        created_at=utc(at),
        touched_at=utc(at),
        ended_at=utc(at),
        settled=True,
    )
    made: list[Run] = []
    for number, cards in enumerate(places):
        slow = any(_slow(seat, wanted.one) for seat in cards) if wanted.one.every_card else False
        run = runs.write(Asked(at + number * _APART_S, wanted.suite, cards, wanted.who, slow), row)
        if run is not None:
            _target(row, len(made), run)
            made.append(run)
        breathe()
    if not made:
        row.delete()
        return None
    ended = max(run.ended_at for run in made if run.ended_at is not None)
    Row.objects.filter(pk=row.pk).update(ended_at=ended, touched_at=ended)
    return row


def _target(campaign: Row, position: int, run: Run) -> None:
    CampaignTarget.objects.create(
        campaign=campaign,
        position=position,
        cluster_id=run.cluster_id,
        node_name=run.node_name,
        card_key=run.card_requested,
        run=run,
    )


def _places(seats: Iterable[Seat], one: Campaign) -> list[tuple[Seat, ...]]:
    """The cards of each node, of which the first that was free is tested; or each card for itself."""
    found: dict[str, list[Seat]] = {}
    for seat in seats:
        if seat.node.startswith(one.nodes):
            found.setdefault(seat.node, []).append(seat)
    if one.every_card:
        return [(seat,) for cards in found.values() for seat in cards]
    return [tuple(cards) for cards in found.values()]


def _slow(seat: Seat, one: Campaign) -> bool:
    return seat.card is not None and (seat.node, seat.card.index) in one.slow
