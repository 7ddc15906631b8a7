"""Waste of owners: from a day that is over to page, REST and command; a scope sees its namespaces alone."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.db.models import CharField, F, Sum, Value
from django.db.models.functions import Cast, Concat
from django.test import Client

from inventory.charges import days
from inventory.charges.idle import rounded
from inventory.charges.month import charge
from inventory.charges.rates import PriceDraft, put
from inventory.charges.waste import allocated, waste
from inventory.models import Allocation, Card, ChargeDay, Cluster, NamespaceDay, OwnerDay, Subject
from inventory.models.charges import By
from runtime.clock import database_now
from runtime.scope import Scope, seeing
from tests.factories import GIB, make_node
from tests.factories.history import put_day
from tests.pages.reading import get

pytestmark = pytest.mark.django_db


@pytest.fixture
def week(cluster: Cluster) -> Cluster:
    """Two namespaces with one card of 80 GiB each: one uses 10 GiB, of the other nothing is measured. Eight days are over."""
    make_node(cluster, "gpu-1", "nvidia", 2, loads=(1.0,))
    now = database_now()
    midnight = datetime(now.year, now.month, now.day, tzinfo=UTC)
    Card.objects.update(first_seen_at=midnight - timedelta(days=30), memory_total_bytes=80 * GIB)
    for row, space in zip(Allocation.objects.order_by("id"), ("team-a", "team-b"), strict=True):
        Allocation.objects.filter(pk=row.pk).update(
            namespace=space, owner_kind="Job", owner_name="train", started_at=midnight - timedelta(days=20)
        )
    measured = Allocation.objects.get(namespace="team-a").card_id
    for back in range(1, 9):
        day = (midnight - timedelta(days=back)).date()
        put_day(cluster, day, total=1)
        put_day(cluster, day, Subject.CARD, str(measured), used=10 * 1024, used_most=10 * 1024, activity=0)
        days.write_day(cluster.pk, day, now)
    return cluster


def test_owners_have_their_idle_and_unused_memory_and_a_suggestion(week: Cluster) -> None:
    [one] = waste(database_now(), 30, By.OWNER)
    assert (one.namespace, one.owner, one.asked, one.peak, one.days, one.samples) == (
        "team-a",
        "train",
        80 * 1024,
        10 * 1024,
        8,
        8 * 288,
    )
    assert (one.idle, one.unused) == (8 * 86400 * 80 * 1024, 8 * 86400 * 70 * 1024)
    assert one.suggestion is not None
    assert (one.suggestion.memory, one.suggestion.sure.value) == (12 * 1024, "certain")
    [less] = waste(database_now(), 7, By.OWNER)
    assert less.days == 6  # with today, which is not over
    unknown = OwnerDay.objects.filter(namespace="team-b").values_list("idle_mib_s", "unused_mib_s", "peak_mib")
    assert set(unknown) == {(None, None, None)}


def test_rest_and_command_tell_the_same(api: Client, week: Cluster) -> None:
    answer = api.get("/api/v1/waste?by=owner&days=30").json()
    [row] = answer["results"]
    assert row["suggestion"] == {"memory_bytes": 12 * GIB, "confidence": "certain"}
    assert row["memory_used_p99_bytes"] == 10 * GIB
    out = io.StringIO()
    call_command("waste", "--by", "owner", "--days", "30", "-o", "json", stdout=out)
    assert json.loads(out.getvalue()) == answer
    out = io.StringIO()
    call_command("waste", "--by", "owner", "--days", "30", stdout=out)
    assert "12 GiB (certain)" in out.getvalue()
    assert api.get("/api/v1/waste?namespace=team-b&by=owner").json()["results"] == []
    for wrong in ("by=pod", "days=8", "colour=red"):
        assert api.get(f"/api/v1/waste?{wrong}").status_code == 400


def test_waste_says_what_it_costs_and_adds_up_to_the_chargeback_of_the_same_days(api: Client, week: Cluster) -> None:
    row = api.get("/api/v1/waste?by=owner&days=30").json()["results"][0]
    assert (row["costs"], row["idle_costs"], row["cost_complete"]) == ([], [], False)
    now = database_now()
    first = now.date().replace(day=1)
    put(PriceDraft(currency="EUR", since="2020-01-01", card_hour="1"))
    put(PriceDraft(currency="EUR", since=(now - timedelta(days=4)).date().isoformat(), card_hour="3"))
    [one] = waste(now, 30, By.OWNER)
    # Four days at 1 EUR and four at 3, of which all is idle, and of which 70 of 80 GiB are not used.
    assert rounded(one.cost) == rounded(one.idle_cost) == {"EUR": Decimal(24 * 16)}
    assert rounded(one.unused_cost) == {"EUR": Decimal(21 * 16)}
    answer = api.get("/api/v1/waste?by=owner&days=30").json()
    assert answer["total_idle_costs"] == answer["results"][0]["idle_costs"] == [{"currency": "EUR", "amount": "384.00"}]
    assert answer["cost_complete"] is True
    out = io.StringIO()
    call_command("waste", "--by", "owner", "--days", "30", stdout=out)
    assert "384.00 EUR" in out.getvalue()
    for by in By:
        held = allocated(now, (now.date() - first).days + 1, by)
        charged = [row for row in charge(week, first, by).rows if row.namespace]
        assert sum((sum(rounded(one.cost).values()) for one in held), Decimal()) == sum(
            (sum(row.costs.values()) for row in charged), Decimal()
        )


def test_no_owner_wastes_more_than_its_namespace(api: Client, week: Cluster) -> None:
    """Also where the idle cards are the dear ones: the mean price of the namespace is not theirs."""
    put(PriceDraft(currency="EUR", since="2020-01-01", card_hour="2"))
    put(PriceDraft(currency="EUR", since="2020-01-01", card_hour="1", model="cheap"))
    Card.objects.exclude(pk=Allocation.objects.get(namespace="team-a").card_id).update(model="cheap")
    Allocation.objects.update(namespace="team-a", owner_name=Concat(Value("train-"), Cast("pk", CharField())))
    for day in list(ChargeDay.objects.values_list("day", flat=True)):
        days.write_day(week.pk, day, database_now())
    idle = OwnerDay.objects.filter(idle_mib_s__gt=0)
    for day in idle.values("day").annotate(all=Sum("idle_mib_s")):
        NamespaceDay.objects.filter(day=day["day"]).update(idle_mib_s=day["all"])
    owners, [space] = waste(database_now(), 30, By.OWNER), waste(database_now(), 30, By.NAMESPACE)
    assert sum(one.idle or 0 for one in owners) == space.idle
    assert rounded(space.idle_cost) == {"EUR": sum(sum(rounded(one.idle_cost).values()) for one in owners)}
    assert rounded(space.idle_cost) == {"EUR": Decimal(8 * 24 * 2)}
    row = api.get("/api/v1/waste?by=namespace&days=30").json()["results"][0]
    assert row["idle_costs"] == [{"currency": "EUR", "amount": "384.00"}]


def test_what_has_no_price_costs_an_unknown_amount(api: Client, week: Cluster) -> None:
    put(PriceDraft(currency="EUR", since="2020-01-01", card_hour="1", model="another"))
    [one] = waste(database_now(), 30, By.OWNER)
    assert (rounded(one.cost), rounded(one.idle_cost)) == ({}, {})
    assert one.idle_cost.unknown
    row = api.get("/api/v1/waste?by=owner&days=30").json()["results"][0]
    assert (row["idle_costs"], row["cost_complete"]) == ([], False)


def test_pages_have_costs_where_there_are_prices(viewer: Client, week: Cluster) -> None:
    NamespaceDay.objects.filter(namespace="team-a").update(idle_mib_s=F("mib_s"), unused_mib_s=0)
    before = get(viewer, "/allocations/idle?waste=owner")
    assert "Idle cost" not in before.text
    put(PriceDraft(currency="EUR", since="2020-01-01", card_hour="1"))
    page = get(viewer, "/allocations/idle?waste=owner")
    [row] = page.tables["Waste by owner, last 30 days"]
    assert row[3:5] == ["192.00 EUR", "168.00 EUR"]


def test_the_page_of_idle_allocations_names_the_owners(viewer: Client, week: Cluster) -> None:
    put_day(week, database_now().date(), Subject.NAMESPACE, "team-a", idle=80 * 1024, unused=70 * 1024)
    NamespaceDay.objects.filter(namespace="team-a").update(idle_mib_s=3600 * 1024, unused_mib_s=3600 * 1024)
    assert "Waste by owner, last 30 days" not in get(viewer, "/allocations/idle").tables
    page = get(viewer, "/allocations/idle?waste=owner")
    [row] = page.tables["Waste by owner, last 30 days"]
    assert row[3:6] == ["80 GiB", "10 GiB", "12 GiB"]
    assert "certain" in row[6]
    assert row[6].endswith("8 d")
    assert "2,304 samples" in page.titles
    [space] = page.tables["Waste, last 7 days"]
    assert space[1:3] == ["6", "8"]


def test_what_is_not_collected_is_no_0(viewer: Client, week: Cluster) -> None:
    NamespaceDay.objects.filter(namespace="team-a").update(idle_mib_s=None, unused_mib_s=3600 * 1024)
    assert "– GiB h idle (– of allocated) · 6 GiB h unused" in get(viewer, "/allocations/idle").text


def test_a_scope_sees_its_namespaces_alone(week: Cluster) -> None:
    with seeing(Scope(frozenset(), frozenset({(week.pk, "team-b")}))):
        assert waste(database_now(), 30, By.OWNER) == []
    with seeing(Scope(frozenset(), frozenset({(week.pk, "team-a")}))):
        assert [one.namespace for one in waste(database_now(), 30, By.OWNER)] == ["team-a"]
