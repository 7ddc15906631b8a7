"""A cluster in sync whose exporters are read, with the clock moved on by moving what is stored back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now

from inventory.discrepancies.look import look
from inventory.idle import allocations
from inventory.models import Card, CardUsage, Discrepancy, Finding, IdleAllocation, IdleLook, UsageSource, Watch
from tests.factories import MIB
from tests.factories.usage import measure
from tests.inventory.reconcile.conftest import Fleet, fleet, fleet_of
from tests.inventory.reconcile.objects import share_node, share_pod

__all__ = ["Fleet", "fleet", "fleet_of"]

_MOMENTS = (
    (Discrepancy, ("first_at", "unknown_since")),
    (IdleLook, ("looked_at", "findings_at")),
    (IdleAllocation, ("written_at", "idle_since")),
    (CardUsage, ("lost_at", "watched_since", "active_at", "written_at")),
    (UsageSource, ("due_at", "trouble_since", "state_since", "round_at")),
)


class Watched:
    """The fleet, looked at each minute."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet

    def minutes(self, number: int, rounds: bool = True) -> None:
        """rounds: exporters are read all the time."""
        for _ in range(number):
            for model, columns in _MOMENTS:
                model._default_manager.update(**{column: F(column) - timedelta(minutes=1) for column in columns})
            if rounds:
                UsageSource.objects.update(round_at=Now(), due_at=Now() + timedelta(minutes=1))
            self.look()

    def look(self) -> None:
        Watch.objects.update(last_event_at=Now())
        allocations.look()
        look()
        self.fleet.reconcile()

    def told(self) -> dict[str, str]:
        """Code → text of the findings that there are, of those that a look makes."""
        codes = set(Discrepancy.objects.values_list("code", flat=True)) | {"exporters-not-read"}
        rows = Finding.objects.filter(ended_at=None).values_list("code", "text")
        return {code: text for code, text in rows if code in codes}


@pytest.fixture
def watched(fleet: Fleet) -> Watched:
    Watch.objects.filter(cluster=fleet.cluster).exclude(kind="cards").update(
        holder="test", expires_at=Now() + timedelta(hours=1)
    )
    return Watched(fleet)


@pytest.fixture
def in_step() -> Callable[[bool], None]:
    """Whether the watchers are."""

    def set_it(well: bool) -> None:
        Watch.objects.filter(kind="pods").update(state="watching" if well else "backing-off", trouble_since=Now())

    return set_it


@pytest.fixture
def shared(watched: Watched) -> Watched:
    """A card of 15 GiB, of which two pods have 6 each."""
    watched.fleet.put("nodes", share_node("gpu-1", 15, 1))
    watched.fleet.put("pods", share_pod("a", "gpu-1", 6, 0), share_pod("b", "gpu-1", 6, 0))
    watched.fleet.reconcile()
    return watched


def busy(card: Card, **columns: object) -> CardUsage:
    """Measured, at work, with less in use than was promised, or than driver and firmware need."""
    known = {"memory_used_bytes": 400 * MIB, "memory_measured_bytes": 23028 * MIB, "activity_ratio": 0.9}
    return measure(card, active_ago=timedelta(), **(known | {"uuid": card.uuid} | columns))
