"""Series of equal steps from minutes and days: what is not known stays a gap in each of them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.history import packed, recorder
from inventory.history.packed import MIB, SLOTS, Minute
from inventory.history.series import WINDOWS, Series, Window, series, window_named
from inventory.models import Cluster, HistoryDay, HistoryMinute, Subject

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 20, 12, 30, 20, tzinfo=UTC)


def put_day(cluster: Cluster, day: date, used: list[int | None]) -> None:
    data = packed.pack_day({"used": used, "used_most": used, "utilization": [500] * SLOTS})
    HistoryDay.objects.create(cluster=cluster, subject=Subject.CARD, key="7", day=day, data=data)


def put_minute(cluster: Cluster, at: datetime, used: int | None, folded: bool = False) -> None:
    data = packed.pack_minute(Minute([3, 7], {"used": [1, used], "utilization": [None, 250]}))
    HistoryMinute.objects.create(cluster=cluster, subject=Subject.CARD, part=0, at=at, data=data, folded=folded)


def read(cluster: Cluster, name: str) -> Series:
    window = window_named(name)
    assert window
    return series(cluster.pk, Subject.CARD, "7", window, NOW)


@pytest.mark.parametrize("window", WINDOWS, ids=lambda one: one.name)
def test_a_window_ends_with_the_step_that_now_is_in(cluster: Cluster, window: Window) -> None:
    put_minute(cluster, NOW.replace(second=0), 5)
    found = series(cluster.pk, Subject.CARD, "7", window, NOW)
    assert found.end > NOW >= found.end - timedelta(seconds=window.step_s)
    assert found.end - found.begin == timedelta(seconds=window.seconds)
    assert 60 <= found.length <= 500
    assert found.columns["used"][-1] == 5 * MIB


def test_minutes_are_drawn_as_they_are_with_gaps(cluster: Cluster) -> None:
    put_minute(cluster, NOW.replace(second=0), 100, folded=True)
    put_minute(cluster, NOW.replace(second=0) - timedelta(minutes=2), None)
    found = read(cluster, "1h")
    assert found.columns["used"][-4:] == [None, None, None, 100 * MIB]
    assert found.columns["utilization"][-3:] == [0.25, None, 0.25]


def test_days_are_drawn_by_the_mean_of_what_is_known_and_its_highest(cluster: Cluster) -> None:
    used: list[int | None] = [None] * SLOTS
    used[0], used[5] = 100, 300  # 00:00 and 00:25, one step of half an hour
    put_day(cluster, date(2026, 11, 18), used)
    found = read(cluster, "7d")
    place = int((datetime(2026, 11, 18, tzinfo=UTC) - found.begin).total_seconds()) // found.step_s
    assert found.columns["used"][place - 1 : place + 2] == [None, 200 * MIB, None]
    assert found.columns["used_most"][place] == 300 * MIB
    assert found.columns["utilization"][place + 2] == 0.5


def test_the_hour_that_is_not_folded_yet_is_in_it_once(cluster: Cluster) -> None:
    for minute in range(90):
        put_minute(cluster, NOW.replace(second=0) - timedelta(minutes=minute), 100 + minute % 2)
    recorder.fold(NOW)
    found = read(cluster, "1d")
    assert found.columns["used"][-18:] == [pytest.approx(100.5 * MIB, rel=0.01)] * 18
    assert found.columns["used"][-20] is None
    assert max(value or 0 for value in found.columns["used"]) <= 101 * MIB


def test_one_card_is_not_anothers(cluster: Cluster) -> None:
    put_minute(cluster, NOW.replace(second=0), 100)
    hour = window_named("1h")
    assert hour
    assert series(cluster.pk, Subject.CARD, "8", hour, NOW).columns == {}
    assert series(cluster.pk + 1, Subject.CARD, "7", hour, NOW).columns == {}


@pytest.mark.parametrize("name", ["1h", "90d"])
def test_a_chart_is_two_questions_at_most(cluster: Cluster, name: str) -> None:
    for age in range(80):
        put_day(cluster, date(2026, 11, 19) - timedelta(days=age), [5] * SLOTS)
    put_minute(cluster, NOW.replace(second=0), 100)
    with CaptureQueriesContext(connection) as questions:
        found = read(cluster, name)
    assert len(questions) <= 2
    assert found.columns["used"][-1] is not None


def test_steps_begin_with_slots_and_days_with_steps() -> None:
    for window in WINDOWS:
        assert window.seconds % window.step_s == 0
        assert window.by_minute or (86400 % window.step_s == 0 and window.step_s % packed.SLOT_S == 0)
