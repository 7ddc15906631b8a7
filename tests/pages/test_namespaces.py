"""Which team holds most, and a month of a cluster that adds up: on pages, in REST, as CSV and as a command."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from inventory.charges import days, now
from inventory.models import Allocation, Card, ChargeDay, Cluster, NamespaceAllocation, NamespaceDay, OwnerDay
from inventory.models.charges import By
from tests.factories import make_cluster, make_fleet
from tests.factories.history import put_day
from tests.pages.reading import get

MIDNIGHT = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
MONTH = (MIDNIGHT - timedelta(days=1)).strftime("%Y-%m")
COLUMNS = ("card_hours", "card_share_percent", "memory_gib_hours", "memory_share_percent")


@pytest.fixture
def month(cluster: Cluster) -> Cluster:
    """A fleet of every system, and the day before this one, with a gap."""
    make_fleet(cluster, nodes=14)
    Card.objects.update(first_seen_at=MIDNIGHT - timedelta(days=40))
    Allocation.objects.update(started_at=MIDNIGHT - timedelta(hours=9, minutes=7, seconds=13))
    alone = Allocation.objects.order_by("pk").values_list("pk", flat=True)[::3]
    Allocation.objects.filter(pk__in=list(alone)).update(owner_kind="", owner_name="")
    put_day(cluster, (MIDNIGHT - timedelta(days=1)).date(), total=[1] * 100 + [None] * 7 + [1] * 181)
    days.look(MIDNIGHT + timedelta(minutes=1))
    now.look(MIDNIGHT + timedelta(minutes=1))
    return cluster


def as_a_stranger(text: str) -> tuple[list[dict[str, str]], dict[str, Decimal]]:
    """Lines of a file, and the sums of its columns of amounts."""
    lines = list(csv.DictReader(io.StringIO(text)))
    return lines, {name: sum((Decimal(line[name]) for line in lines), Decimal()) for name in COLUMNS}


def test_the_file_of_a_month_adds_up_to_the_cluster(viewer: Client, api: Client, month: Cluster) -> None:
    answer = api.get(f"/api/v1/namespaces/chargeback?month={MONTH}").json()
    text = viewer.get(f"/namespaces/chargeback?cluster=prod&month={MONTH}&format=csv").content.decode()
    lines, sums = as_a_stranger(text)
    assert sums["card_share_percent"] == sums["memory_share_percent"] == 100
    assert float(sums["card_hours"]) == answer["total_card_hours"]
    assert float(sums["memory_gib_hours"]) == answer["total_memory_gib_hours"]
    # The stranger's own sum: cards that there are, times the hours of a day.
    assert sums["card_hours"] == Card.objects.filter(removed_at=None).count() * 24
    names = [line["namespace"] for line in lines if line["row"] == "namespace"]
    assert len(names) == len(set(names)) == NamespaceDay.objects.count() > 2
    assert [line["row"] for line in lines[len(names) :]] == ["unallocated", "unidentified", "not-metered", "no-data"]
    assert {line["until_utc"] for line in lines} == {
        ChargeDay.objects.get(done=True).until.strftime("%Y-%m-%d %H:%M:%S")
    }
    assert api.get(f"/api/v1/namespaces/chargeback?month={MONTH}&format=csv").content.decode() == text


def test_the_page_of_a_month_says_since_when_and_links_to_who_held(viewer: Client, month: Cluster) -> None:
    page = get(viewer, f"/namespaces/chargeback?month={MONTH}")
    assert "Recorded since" in page.text
    assert len(page.rows) == NamespaceDay.objects.count() + 4
    name = NamespaceDay.objects.order_by("-card_us")[0].namespace
    assert f"/allocations?cluster=prod&namespace={name}&ended=any" in page.links
    assert "not allocated" in page.text


def test_a_month_by_owner_adds_up_to_the_same_cluster(viewer: Client, api: Client, month: Cluster) -> None:
    whole, sums = as_a_stranger(viewer.get(f"/namespaces/chargeback?month={MONTH}&format=csv").content.decode())
    text = viewer.get(f"/namespaces/chargeback?month={MONTH}&by=owner&format=csv").content.decode()
    lines, by_owner = as_a_stranger(text)
    assert by_owner == sums
    owners = [line for line in lines if line["row"] in ("owner", "no-owner")]
    assert len(owners) == OwnerDay.objects.count() > len(whole) - 4
    of_namespaces = {line["namespace"]: Decimal(line["card_hours"]) for line in whole if line["namespace"]}
    for name, hours in of_namespaces.items():
        mine = sum(Decimal(line["card_hours"]) for line in owners if line["namespace"] == name)
        # Each row is rounded so that the whole adds up.
        assert abs(mine - hours) <= Decimal("0.001") * len(owners)
    rest = [line["row"] for line in lines[len(owners) :]]
    assert rest == ["owner-not-recorded", "unallocated", "unidentified", "not-metered", "no-data"]
    assert lines[len(owners)]["card_hours"] == "0.000"
    answer = api.get(f"/api/v1/namespaces/chargeback?month={MONTH}&by=owner").json()
    assert (answer["by"], answer["owners_since"]) == ("owner", str(MIDNIGHT.date() - timedelta(days=1)))
    assert sum(Decimal(str(row["card_hours"])) for row in answer["rows"]) == Decimal(str(answer["total_card_hours"]))
    assert api.get(f"/api/v1/namespaces/chargeback?month={MONTH}&by=owner&format=csv").content.decode() == text
    out = io.StringIO()
    call_command("chargeback", "--month", MONTH, "--by", "owner", "--csv", stdout=out)
    assert out.getvalue() == text.replace("\r\n", "\n")
    table = io.StringIO()
    call_command("chargeback", "--month", MONTH, "--by", "owner", stdout=table)
    assert "owners recorded since" in table.getvalue()
    assert "(owner-not-recorded)" in table.getvalue()


def test_the_page_of_a_month_by_owner_leads_to_what_the_owner_held(viewer: Client, month: Cluster) -> None:
    page = get(viewer, f"/namespaces/chargeback?month={MONTH}&by=owner")
    assert len(page.rows) == OwnerDay.objects.count() + 5
    assert f"Owners recorded since {MIDNIGHT.date() - timedelta(days=1)}" in page.text
    row = OwnerDay.objects.exclude(owner_name="").order_by("-card_us")[0]
    link = f"/allocations?cluster=prod&namespace={row.namespace}&owner={row.owner_name}&ended=any"
    assert link in page.links
    assert get(viewer, link).rows
    assert f"/namespaces/chargeback?cluster=prod&month={MONTH}" in page.links


def test_what_was_held_before_owners_were_recorded_is_nobody_s_guess(viewer: Client, month: Cluster) -> None:
    held = sum(row.card_us for row in NamespaceDay.objects.all())
    OwnerDay.objects.all().delete()
    page = get(viewer, f"/namespaces/chargeback?month={MONTH}&by=owner")
    assert "Owners not recorded for this month" in page.text
    assert page.rows[0][0].startswith("owner not recorded")
    assert page.rows[0][1] == f"{Decimal(held) / 3_600_000_000:,.0f}"
    _, sums = as_a_stranger(viewer.get(f"/namespaces/chargeback?month={MONTH}&by=owner&format=csv").content.decode())
    assert sums["card_share_percent"] == 100


def test_owners_have_their_month_in_the_table(viewer: Client, month: Cluster) -> None:
    OwnerDay.objects.update(day=MIDNIGHT.date())
    [*rows] = get(viewer, "/namespaces?by=owner&page_size=200").rows
    assert sum("card h" in " ".join(row) for row in rows) > 2


def test_a_month_of_which_nothing_is_known_says_so(viewer: Client, cluster: Cluster) -> None:
    assert "No records for this month" in get(viewer, "/namespaces/chargeback?month=2020-01").text
    assert get(viewer, "/namespaces/chargeback").rows == []


@pytest.mark.parametrize("query", ["month=2026-13", "month=x", "cluster=none", "foo=1", "format=xml", "by=pod"])
def test_what_makes_no_sense_is_refused(viewer: Client, api: Client, cluster: Cluster, query: str) -> None:
    assert viewer.get(f"/namespaces/chargeback?{query}").status_code == 400
    assert api.get(f"/api/v1/namespaces/chargeback?{query}").status_code == 400


def test_of_several_clusters_one_is_to_be_named(api: Client, cluster: Cluster) -> None:
    make_cluster("other")
    assert "There are: other, prod." in api.get("/api/v1/namespaces/chargeback").json()["detail"]
    assert api.get("/api/v1/namespaces/chargeback?cluster=other").json()["rows"][0] == {
        "row": "unallocated",
        "namespace": None,
        "owner_kind": None,
        "owner": None,
        "card_hours": 0.0,
        "card_share_percent": 0.0,
        "memory_gib_hours": 0.0,
        "memory_share_percent": 0.0,
        "costs": [],
        "cost_complete": False,
    }


def test_the_command_says_the_same(api: Client, month: Cluster) -> None:
    out = io.StringIO()
    call_command("chargeback", "--month", MONTH, "--cluster", "prod", "--csv", stdout=out)
    told = api.get(f"/api/v1/namespaces/chargeback?month={MONTH}&format=csv").content.decode()
    assert out.getvalue() == told.replace("\r\n", "\n")
    table = io.StringIO()
    call_command("chargeback", "--month", MONTH, stdout=table)
    assert "(unallocated)" in table.getvalue()
    with pytest.raises(CommandError, match="as 2026-11"):
        call_command("chargeback", "--month", "soon")
    with pytest.raises(CommandError, match="Clusters: prod"):
        call_command("chargeback", "--cluster", "none")


def test_the_largest_namespace_stands_first_with_all_that_there_is_of_it(viewer: Client, month: Cluster) -> None:
    page = get(viewer, "/namespaces")
    rows = list(NamespaceAllocation.objects.filter(by=By.NAMESPACE).order_by("-memory_bytes", "-cards", "id"))
    assert len(page.rows) == len(rows)
    first = rows[0]
    assert first.namespace in page.rows[0][0]
    assert first.oldest_pod in page.titles
    assert f"/allocations?cluster=prod&namespace={first.namespace}" in page.links
    assert f"/history?cluster=prod&namespace={first.namespace}&window=7d" in page.links
    assert "card h" in " ".join(page.rows[0])


def test_what_is_not_counted_yet_is_not_said_to_be_nothing(viewer: Client, month: Cluster) -> None:
    NamespaceAllocation.objects.all().delete()
    page = get(viewer, "/namespaces")
    assert "Not counted yet" in page.text
    assert "No entries." not in page.text
    Allocation.objects.all().delete()
    assert "No entries." in get(viewer, "/namespaces").text


def test_owners_stand_apart(viewer: Client, api: Client, month: Cluster) -> None:
    count = NamespaceAllocation.objects.filter(by=By.OWNER).count()
    assert len(get(viewer, "/namespaces?by=owner&page_size=200").rows) == count
    told = api.get("/api/v1/namespaces?by=owner&page_size=1000").json()["results"]
    assert {one["by"] for one in told} == {"owner"}
    assert {one["by"] for one in api.get("/api/v1/namespaces").json()["results"]} == {"namespace"}
    assert viewer.get("/namespaces?by=pod").status_code == 400


def test_a_part_of_a_name_finds_it(api: Client, month: Cluster) -> None:
    name = NamespaceAllocation.objects.filter(by=By.NAMESPACE)[0].namespace
    found = api.get(f"/api/v1/namespaces?q={name[1:].upper()}").json()["results"]
    assert name in {one["namespace"] for one in found}
    assert api.get("/api/v1/namespaces?q=nobody-is-called-so").json()["results"] == []


def test_what_nobody_meters_is_not_called_nothing(viewer: Client, month: Cluster) -> None:
    """Of a namespace that held only such cards: what it held of memory is another's here."""
    first, other = NamespaceDay.objects.exclude(card_us=0)[:2]
    name = first.namespace
    NamespaceDay.objects.filter(pk=other.pk).update(mib_s=other.mib_s + first.mib_s)
    NamespaceDay.objects.filter(pk=first.pk).update(mib_s=0)
    [row] = [row for row in get(viewer, f"/namespaces/chargeback?month={MONTH}").rows if row[0] == name]
    assert row[-2:] == ["memory not metered", ""], row
    if datetime.now(UTC).strftime("%Y-%m") == MONTH:
        told = get(viewer, f"/namespaces?q={name}").titles
        assert any(title.startswith("memory not metered") for title in told)
        assert not any("0 GiB h" in title for title in told)
