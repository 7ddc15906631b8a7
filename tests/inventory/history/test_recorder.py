"""Minutes are written once, hours become days, and nobody who dies or comes twice changes a value."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory import clusters, retention
from inventory.history import packed, recorder
from inventory.history.packed import SLOTS, Minute
from inventory.history.series import series, window_named
from inventory.models import Card, Cluster, HistoryDay, HistoryMinute, Subject
from tests.factories import GIB, make_cluster, make_fleet, make_node
from tests.factories.usage import measure

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def put(cluster: Cluster, at: datetime, used: int | None, key: int = 7, folded: bool = False) -> None:
    """A minute of one card."""
    data = packed.pack_minute(Minute([key], {"used": [used], "allocated": [1000]}))
    HistoryMinute.objects.create(cluster=cluster, subject=Subject.CARD, part=0, at=at, data=data, folded=folded)


def day_of(key: str = "7") -> dict[str, list[int | None]]:
    return packed.unpack_day(HistoryDay.objects.get(subject=Subject.CARD, key=key).data)


def test_a_minute_is_written_once(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 4)
    rows = recorder.record(NOON)
    assert rows == HistoryMinute.objects.count() > 0
    assert recorder.record(NOON + timedelta(seconds=30)) == 0
    assert HistoryMinute.objects.count() == rows


def test_rows_and_questions_of_a_minute_do_not_grow_with_the_cluster() -> None:
    counts = []
    for nodes in (14, 28):
        one = make_cluster(f"of-{nodes}")
        make_fleet(one, nodes=nodes)
        with CaptureQueriesContext(connection) as questions:
            rows = recorder.record_cluster(one.pk, NOON)
        counts.append((rows, len(questions)))
    assert counts[0][1] == counts[1][1]
    assert counts[1][0] <= counts[0][0] + 3


def test_an_hour_becomes_five_minutes_each_with_mean_and_highest(cluster: Cluster) -> None:
    for minute, used in ((0, 100), (1, 200), (4, 600), (5, 50), (59, 10)):
        put(cluster, NOON + timedelta(minutes=minute), used)
    assert recorder.fold(NOON + timedelta(minutes=59)) == 0
    assert recorder.fold(NOON + timedelta(hours=1)) == 1
    day = day_of()
    at = 12 * 12
    assert day["used"][at : at + 3] == [300, 50, None]
    assert day["used_most"][at : at + 3] == [600, 50, None]
    assert day["used"][at + 11] == 10
    assert sum(value is not None for value in day["used"]) == 3
    assert not HistoryMinute.objects.filter(folded=False).exists()


def test_hours_of_a_day_lie_beside_each_other(cluster: Cluster) -> None:
    for hour in range(3):
        put(cluster, NOON + timedelta(hours=hour), 100 + hour)
    assert recorder.fold(NOON + timedelta(hours=3)) == 3
    assert [day_of()["used"][(12 + hour) * 12] for hour in range(3)] == [100, 101, 102]


def test_a_fold_that_is_done_again_changes_nothing(cluster: Cluster) -> None:
    put(cluster, NOON, 100)
    recorder.fold(NOON + timedelta(hours=1))
    before = bytes(HistoryDay.objects.get().data)
    HistoryMinute.objects.update(folded=False)
    recorder.fold(NOON + timedelta(hours=1))
    assert bytes(HistoryDay.objects.get().data) == before


def test_folding_ends_when_its_time_is_over_and_goes_on_the_next_time(cluster: Cluster) -> None:
    for hour in range(4):
        put(cluster, NOON + timedelta(hours=hour), 100)
    late = NOON + timedelta(days=1)
    assert recorder.fold(late, seconds=0) == 1
    assert recorder.fold(late) == 3


@pytest.mark.parametrize("table", [HistoryMinute, HistoryDay])
def test_what_cannot_be_read_is_a_gap_and_stops_nothing(cluster: Cluster, table: Any, caplog: Any) -> None:
    put(cluster, NOON, 100)
    recorder.fold(NOON + timedelta(hours=1))
    put(cluster, NOON + timedelta(hours=1), 200)
    put(cluster, NOON + timedelta(hours=1, minutes=5), 300)
    newest = HistoryMinute.objects.order_by("at")[1] if table is HistoryMinute else HistoryDay.objects.get()
    table.objects.filter(pk=newest.pk).update(data=b"\x00broken")
    recorder.fold(NOON + timedelta(hours=2))
    used = day_of()["used"]
    assert used[13 * 12 + 1] == 300
    assert used[13 * 12] == (None if table is HistoryMinute else 200)
    assert used[12 * 12] == (100 if table is HistoryMinute else None)
    assert "cannot be read" in caplog.text


def test_minutes_go_when_they_lie_in_days_and_no_chart_wants_them(cluster: Cluster) -> None:
    put(cluster, NOON - timedelta(hours=9), 100)
    put(cluster, NOON - timedelta(hours=7), 100)
    recorder.record(NOON)
    left = [one.at for one in HistoryMinute.objects.filter(subject=Subject.CARD).order_by("at")]
    assert left == [NOON - timedelta(hours=7)]
    assert day_of()["used"].count(100) == 2


def test_days_go_with_the_rest_of_the_history(cluster: Cluster, settings: Any) -> None:
    settings.HISTORY_DAYS = 30
    today = datetime.now(UTC).date()
    for age in (29, 32):
        data = packed.pack_day({"used": [1] * SLOTS})
        day = today - timedelta(days=age)
        HistoryDay.objects.create(cluster=cluster, subject=Subject.CARD, key="7", day=day, data=data)
    retention.prune()
    assert [one.day for one in HistoryDay.objects.all()] == [today - timedelta(days=29)]


def test_a_cluster_takes_its_history_along(cluster: Cluster) -> None:
    put(cluster, NOON, 100)
    recorder.fold(NOON + timedelta(hours=1))
    clusters.remove(cluster)
    assert not HistoryMinute.objects.exists()
    assert not HistoryDay.objects.exists()


def test_what_is_measured_now_is_in_the_chart_of_the_last_hour(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1, loads=(0.5,))
    card = Card.objects.get()
    measure(card, memory_used_bytes=9 * GIB)
    now = datetime.now(UTC)
    recorder.record(now)
    hour = window_named("1h")
    assert hour
    for subject, key in ((Subject.CARD, str(card.pk)), (Subject.NODE, "gpu-1"), (Subject.CLUSTER, "")):
        assert series(cluster.pk, subject, key, hour, now).columns["used"][-1] == 9 * GIB


def test_what_is_known_by_other_means_stands_beside_what_was_recorded(cluster: Cluster) -> None:
    put(cluster, NOON, 100)
    recorder.fold(NOON + timedelta(hours=1))
    others = {"used": [7] * SLOTS, "used_most": [9] * SLOTS}
    recorder.write_days(cluster.pk, Subject.CARD, NOON.date(), {"7": others, "8": {"used": [5] * SLOTS}})
    day, noon = day_of(), 12 * 12
    assert day["used"][noon - 1 : noon + 2] == [7, 100, 7]
    assert day["used_most"][noon - 1 : noon + 2] == [9, 100, 9]
    assert day["allocated"][noon - 1 : noon + 2] == [None, 1000, None]
    assert day_of("8")["used"] == [5] * SLOTS
    # The hour that is folded later takes the place of its own slots alone.
    put(cluster, NOON + timedelta(hours=1), 300)
    recorder.fold(NOON + timedelta(hours=2))
    assert day_of()["used"][noon : noon + 14] == [100, *[7] * 11, 300, None]


def test_minutes_of_an_hour_that_goes_on_are_folded_with_it(cluster: Cluster) -> None:
    put(cluster, NOON + timedelta(minutes=40), 100)
    for minute, used in ((10, 50), (40, 1)):
        found = [(Subject.CARD, 0, Minute([7], {"used": [used]}))]
        recorder.write_minutes(cluster.pk, NOON + timedelta(minutes=minute), found, folded=False)
    assert HistoryMinute.objects.count() == 2  # one that is recorded stays
    recorder.fold(NOON + timedelta(hours=1))
    assert [day_of()["used"][12 * 12 + slot] for slot in (2, 8)] == [50, 100]
