"""Days of a cluster from its allocations, and what is held now, as rows that pages and programs read."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.charges import days, now
from inventory.charges.month import charge
from inventory.history import packed
from inventory.models import Allocation, Card, ChargeDay, Cluster, NamespaceAllocation, NamespaceDay, OwnerDay, Subject
from inventory.models.charges import By
from runtime.scope import Scope, seeing
from tests.factories import GIB, make_cluster, make_fleet, make_node
from tests.factories.history import put_day, put_minute

pytestmark = pytest.mark.django_db

DAY = date(2026, 11, 20)
MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
NEXT = MIDNIGHT + timedelta(days=1, hours=1)
FIRST = date(2026, 11, 1)


@pytest.fixture
def one(cluster: Cluster) -> Cluster:
    """Four cards that are there for long, of which two namespaces hold one each; all of a day is recorded but its first hour."""
    make_node(cluster, "gpu-1", "nvidia", 4, loads=(1.0,))
    first, second, *others = Allocation.objects.order_by("id")
    Allocation.objects.filter(pk__in=[one.pk for one in others]).delete()
    Card.objects.update(first_seen_at=MIDNIGHT - timedelta(days=3))
    hold(first, "team-a", MIDNIGHT - timedelta(hours=5), None)
    hold(second, "team-b", MIDNIGHT + timedelta(hours=12), MIDNIGHT + timedelta(hours=18))
    put_day(cluster, DAY, total=[None] * 12 + [1] * (packed.SLOTS - 12))
    return cluster


def hold(row: Allocation, namespace: str, begin: datetime, end: datetime | None) -> None:
    Allocation.objects.filter(pk=row.pk).update(namespace=namespace, started_at=begin, ended_at=end)


def rows_of(cluster: Cluster) -> dict[str, Decimal]:
    """Card-hours of a month by namespace or kind, of who has any."""
    found = charge(cluster, FIRST)
    assert sum(row.card_hours for row in found.rows) == found.card_hours
    assert sum(row.memory_hours for row in found.rows) == found.memory_hours
    return {row.namespace or row.kind: row.card_hours for row in found.rows if row.card_hours}


def test_a_day_that_is_over_adds_up_to_the_cluster(one: Cluster) -> None:
    assert days.look(NEXT) == 1
    row = ChargeDay.objects.get()
    assert (row.day, row.done, row.since, row.until) == (
        DAY,
        True,
        MIDNIGHT + timedelta(hours=1),
        NEXT - timedelta(hours=1),
    )
    assert rows_of(one) == {"team-a": 23, "team-b": 6, "unallocated": 4 * 23 - 29, "no-data": 4}
    assert charge(one, FIRST).card_hours == 96


def test_memory_of_a_card_goes_with_it(one: Cluster) -> None:
    size = Decimal(Card.objects.values_list("memory_total_bytes", flat=True)[0]) / GIB
    days.look(NEXT)
    memory = {row.namespace: row.memory_hours for row in charge(one, FIRST).rows}
    assert memory["team-a"] == 23 * size
    assert memory["team-b"] == 6 * size


def test_a_day_that_is_done_stays_and_one_that_goes_on_is_summed_again(one: Cluster) -> None:
    noon = MIDNIGHT + timedelta(hours=13)
    days.look(noon)
    assert rows_of(one)["team-b"] == 1
    assert not ChargeDay.objects.get().done
    days.look(noon + timedelta(seconds=20))
    assert ChargeDay.objects.get().until == noon
    days.look(noon + timedelta(hours=1))
    assert rows_of(one)["team-b"] == 2
    days.look(NEXT)
    Allocation.objects.all().delete()
    days.look(NEXT + timedelta(hours=1))
    assert rows_of(one)["team-b"] == 6


def test_owners_of_a_namespace_add_up_to_it_and_those_of_nobody_go(one: Cluster) -> None:
    Allocation.objects.filter(namespace="team-a").update(owner_kind="", owner_name="")
    Allocation.objects.filter(namespace="team-b").update(namespace="team-a", owner_kind="Job", owner_name="train")
    days.look(MIDNIGHT + timedelta(hours=13))
    days.look(NEXT)
    rows = {(row.owner_kind, row.owner_name): (row.card_us, row.mib_s) for row in OwnerDay.objects.all()}
    assert {key: card / 3_600_000_000 for key, (card, _) in rows.items()} == {("", ""): 23, ("Job", "train"): 6}
    whole = NamespaceDay.objects.get()
    assert (whole.card_us, whole.mib_s) == tuple(map(sum, zip(*rows.values(), strict=True)))
    ChargeDay.objects.all().delete()
    Allocation.objects.filter(owner_name="train").update(owner_name="other")
    days.look(NEXT)
    assert set(OwnerDay.objects.values_list("owner_name", flat=True)) == {"", "other"}


def test_owners_that_are_not_seen_are_among_others(one: Cluster) -> None:
    Allocation.objects.update(owner_kind="Job", owner_name="train")
    days.look(NEXT)
    with seeing(Scope(frozenset(), frozenset({(one.pk, "team-b")}))):
        rows = charge(one, FIRST, By.OWNER).rows
    assert {(row.kind, row.namespace, row.owner): row.card_hours for row in rows if row.card_hours} == {
        ("owner", "team-b", "train"): 6,
        ("others", "", ""): 23,
        ("unallocated", "", ""): 63,
        ("no-data", "", ""): 4,
    }


def test_days_from_before_owners_were_recorded_stand_in_a_row_of_their_own(one: Cluster) -> None:
    Allocation.objects.update(owner_kind="", owner_name="")
    days.look(NEXT)
    OwnerDay.objects.all().delete()
    day = DAY + timedelta(days=1)
    put_day(one, day, total=1)
    days.look(NEXT + timedelta(days=1))
    found = charge(one, FIRST, By.OWNER)
    assert found.owners_since == day
    assert {row.kind: row.card_hours for row in found.rows if row.card_hours} == {
        "no-owner": 24,
        "owner-not-recorded": 29,
        "unallocated": 63 + 72,
        "no-data": 4,
    }
    assert sum(row.card_hours for row in found.rows) == found.card_hours == 192


def test_what_was_summed_until_later_stays(one: Cluster) -> None:
    noon = MIDNIGHT + timedelta(hours=13)
    days.look(noon)
    assert days.write_day(one.pk, DAY, noon - timedelta(hours=1)) == 0
    assert rows_of(one)["team-b"] == 1


def test_who_held_nothing_after_all_has_no_row(one: Cluster) -> None:
    days.look(MIDNIGHT + timedelta(hours=13))
    Allocation.objects.filter(namespace="team-b").delete()
    days.look(NEXT)
    assert set(NamespaceDay.objects.values_list("namespace", flat=True)) == {"team-a"}


def test_minutes_that_are_not_folded_are_known_too(one: Cluster) -> None:
    at = MIDNIGHT + timedelta(days=1, minutes=30)
    put_minute(one, at, Subject.CLUSTER, total=5)
    put_minute(one, at + timedelta(minutes=1), Subject.CLUSTER, total=None, unknown=3)
    put_minute(one, at + timedelta(minutes=2), Subject.CLUSTER, total=None, unknown=0, cards=4)
    spans = days.known_spans(one.pk, at.date(), at + timedelta(minutes=10))
    begin = int(at.timestamp())
    assert spans == [(begin, begin + 120)]


def test_of_a_day_that_nobody_recorded_all_is_not_known(one: Cluster) -> None:
    days.look(NEXT + timedelta(days=1))
    assert ChargeDay.objects.count() == 2
    row = ChargeDay.objects.get(day=DAY + timedelta(days=1))
    assert row.unknown_card_us == row.total_card_us == 96 * 3_600_000_000
    assert row.since is None


def test_who_does_not_see_a_namespace_sees_it_among_others(one: Cluster) -> None:
    days.look(NEXT)
    with seeing(Scope(frozenset(), frozenset({(one.pk, "team-b")}))):
        assert rows_of(one) == {"team-b": 6, "others": 23, "unallocated": 63, "no-data": 4}


def test_questions_do_not_grow_with_the_cluster() -> None:
    counts = []
    for nodes in (14, 28):
        cluster = make_cluster(f"of-{nodes}")
        make_fleet(cluster, nodes=nodes)
        put_day(cluster, DAY, total=1)
        with CaptureQueriesContext(connection) as questions:
            days.write_day(cluster.pk, DAY, NEXT)
            now.look_over(cluster.pk, NEXT)
            charge(cluster, FIRST)
            charge(cluster, FIRST, By.OWNER)
        counts.append(len(questions))
    assert counts[0] == counts[1]


def test_what_is_held_now_by_namespace_and_by_owner(one: Cluster) -> None:
    Allocation.objects.filter(namespace="team-b").update(ended_at=None, owner_kind="Job", owner_name="train")
    Allocation.objects.filter(namespace="team-a").update(namespace="team-b", owner_kind="", owner_name="")
    assert now.look_over(one.pk, NEXT) == 3
    whole = NamespaceAllocation.objects.get(by=By.NAMESPACE)
    oldest = Allocation.objects.order_by("started_at")[0]
    assert (whole.namespace, whole.pods, whole.cards, whole.cards_whole, whole.shares) == ("team-b", 2, 2, 2, 0)
    assert whole.memory_bytes == sum(row.memory_bytes or 0 for row in Allocation.objects.all())
    assert (whole.oldest_pod, whole.oldest_since) == (oldest.pod, oldest.started_at)
    assert (whole.idle_bytes, whole.memory_used_bytes) == (None, None)
    owners = NamespaceAllocation.objects.filter(by=By.OWNER).order_by("owner_name")
    assert [(row.owner_kind, row.owner_name, row.cards) for row in owners] == [("", "", 1), ("Job", "train", 1)]


def test_rows_that_did_not_change_are_not_written_and_those_of_nobody_go(one: Cluster) -> None:
    assert now.look_over(one.pk, NEXT) == 2
    assert now.look_over(one.pk, NEXT) == 0
    Allocation.objects.update(ended_at=NEXT)
    assert now.look_over(one.pk, NEXT) == 2
    assert not NamespaceAllocation.objects.exists()


def test_used_memory_is_of_the_last_minute(one: Cluster) -> None:
    put_minute(one, NEXT - timedelta(minutes=2), Subject.NAMESPACE, "team-a", used=100)
    put_minute(one, NEXT - timedelta(minutes=1), Subject.NAMESPACE, "team-a", used=200)
    now.look_over(one.pk, NEXT)
    assert NamespaceAllocation.objects.get(by=By.NAMESPACE).memory_used_bytes == 200 * packed.MIB


def test_parts_of_cards_count_by_their_memory(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1, loads=(0.25,))
    now.look_over(cluster.pk, NEXT)
    card, rows = Card.objects.get(), NamespaceAllocation.objects.filter(by=By.NAMESPACE)
    assert card.memory_total_bytes
    assert card.memory_allocated_bytes
    assert sum(row.cards for row in rows) == pytest.approx(
        card.memory_allocated_bytes / card.memory_total_bytes, abs=1e-3
    )
    assert all(row.cards_whole == 0 and row.shares for row in rows)


def test_a_day_of_a_namespace_has_what_was_idle_and_not_used_of_it(one: Cluster) -> None:
    """As the history has it: six hours of 2 GiB idle, and 1 GiB not used all day; of the other namespace nothing is known."""
    put_day(one, DAY, Subject.NAMESPACE, "team-a", idle=[2048] * 72 + [None] * 216, unused=1024)
    days.look(NEXT)
    mine, other = NamespaceDay.objects.order_by("namespace")
    assert (mine.idle_mib_s, mine.unused_mib_s) == (6 * 3600 * 2048, 24 * 3600 * 1024)
    assert (other.idle_mib_s, other.unused_mib_s) == (None, None)


def test_hours_that_are_not_folded_yet_count_too(one: Cluster) -> None:
    put_day(one, DAY, Subject.NAMESPACE, "team-a", idle=[1024] * 12 + [None] * 276)
    for minute in range(10):
        put_minute(one, MIDNIGHT + timedelta(hours=1, minutes=minute), Subject.NAMESPACE, "team-a", idle=2048, total=1)
    days.look(MIDNIGHT + timedelta(hours=1, minutes=10))
    assert NamespaceDay.objects.get().idle_mib_s == 3600 * 1024 + 600 * 2048


def test_a_week_of_it_stands_beside_what_is_held_now(one: Cluster) -> None:
    for back, idle in ((0, 100), (6, 20), (7, 4000)):
        NamespaceDay.objects.create(
            cluster=one, day=DAY - timedelta(days=back), namespace="team-a", card_us=1, mib_s=1, idle_mib_s=idle
        )
    Allocation.objects.update(ended_at=None)
    now.look(MIDNIGHT + timedelta(hours=13))
    rows = {(row.by, row.namespace): row for row in NamespaceAllocation.objects.all()}
    mine = rows[By.NAMESPACE, "team-a"]
    assert (mine.idle_week_byte_seconds, mine.unused_week_byte_seconds) == (120 * 2**20, None)
    assert rows[By.NAMESPACE, "team-b"].idle_week_byte_seconds is None
    assert rows[By.OWNER, "team-a"].idle_week_byte_seconds is None
