"""The row that is kept of a target and suite is the same, whether a run is added to it or it is made anew from all runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.forms.models import model_to_dict
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inventory.models import Card
from tests.factories import make_cluster, make_node
from tests.pages.validations import rows
from validations.lastresults import add_ended, refresh_last
from validations.models import SAYS, LastResult, Run

pytestmark = pytest.mark.django_db
NOW = timezone.now()
_ended = st.lists(
    st.tuples(st.sampled_from(["passed", "warning", "failed", "errored", "skipped"]), st.integers(0, 3)),
    min_size=1,
    max_size=6,
)


def kept() -> list[dict[str, Any]]:
    return [model_to_dict(row, exclude=["id"]) for row in LastResult.objects.order_by("id")]


@pytest.fixture
def taken_up(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, float], Run]:
    """Makes a run of the one card that has ended so (verdict, minutes ago), and takes it up as `end_run` does."""
    cluster = make_cluster("prod")
    make_node(cluster, "gpu-1", "nvidia", 1)
    card = Card.objects.get()

    def take_up(run: Run) -> None:
        (refresh_last if run.verdict in SAYS else add_ended)(run)

    monkeypatch.setattr(rows, "refresh_last", take_up)
    monkeypatch.setattr(rows.timezone, "now", lambda: NOW)  # two may end at the same moment
    return lambda verdict, minutes: rows.make_run(cluster, card=card, verdict=verdict, minutes_ago=minutes)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(ended=_ended)
def test_adding_gives_what_making_anew_gives(
    taken_up: Callable[[str, float], Run], ended: Sequence[tuple[str, int]]
) -> None:
    LastResult.objects.all().delete()
    Run.objects.all().delete()
    for verdict, minutes in ended:
        run = taken_up(verdict, minutes)
        added = kept()
        refresh_last(run)
        assert kept() == added


def test_a_run_that_said_nothing_costs_one_write(
    taken_up: Callable[[str, float], Run], django_assert_num_queries: Any
) -> None:
    good, errored = taken_up("passed", 1), taken_up("errored", 0)
    row = LastResult.objects.get()
    assert (row.run_id, row.verdict, row.said_id, row.good_id) == (errored.pk, "errored", good.pk, good.pk)
    LastResult.objects.update(run=good, verdict="passed", ended_at=good.ended_at)
    with django_assert_num_queries(1):
        add_ended(errored)
    assert LastResult.objects.get().run_id == errored.pk
