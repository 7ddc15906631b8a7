"""Prices: which is in force, exact sums of money, a change within the month, and what has no price."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from accounts.roles import Role
from audit.models import Entry
from inventory.charges import days
from inventory.charges.month import charge
from inventory.charges.prices import PER_UNIT, Hardware, Money, Rate, Rates, millionths, packed, unpacked, written
from inventory.charges.rates import Bad, PriceDraft, put, read_file, replace_all
from inventory.history import packed as history
from inventory.models import Allocation, Card, Cluster, NamespaceDay, Node, Price
from inventory.models.charges import By
from runtime.scope import Scope, seeing
from tests.cast import make_user, signed_in
from tests.factories import make_node
from tests.factories.history import put_day
from tests.pages.reading import get

FIRST, DAY = date(2026, 11, 1), date(2026, 11, 20)
MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
HOUR_US, GIB_HOUR = 3_600_000_000, 1024 * 3600


def rate(since: str = "2026-11-01", card: str | None = "2", gib: str | None = None, **more: str) -> Rate:
    choose = {"label": "", "pool": "", "model": "", "currency": "EUR"} | more
    amounts = [None if one is None else millionths(one) for one in (card, gib)]
    return Rate(since=date.fromisoformat(since), card_hour=amounts[0], gib_hour=amounts[1], **choose)


def test_the_most_specific_price_wins_and_of_it_the_latest_that_has_begun() -> None:
    everything, later = rate(card="1"), rate("2026-11-15", card="2")
    model, pool, label = rate(card="3", model="T4"), rate(card="4", pool="p"), rate(card="5", label="team=a")
    both = rate(card="6", label="team=a", model="T4")
    rates = Rates([everything, later, model, pool, label, both])
    here = Hardware("p", "T4", ("team=a",))
    assert rates.of(here, DAY) == both
    assert rates.of(Hardware("p", "T4"), DAY) == pool
    assert rates.of(Hardware("p", "A100", ("team=a",)), DAY) == label
    assert rates.of(Hardware("", "T4"), DAY) == model
    assert rates.of(Hardware(), DAY) == later
    assert rates.of(Hardware(), date(2026, 11, 14)) == everything
    assert rates.of(Hardware(), date(2026, 10, 31)) is None
    assert rates.label_keys == {"team"}
    two = Rates([rate(card="1", label="b=1"), rate(card="2", label="a=1")])
    assert two.of(Hardware(labels=("a=1", "b=1")), DAY) == rate(card="2", label="a=1")


def test_a_price_that_ends_leaves_unknown_and_no_less_specific_one() -> None:
    rates = Rates([rate(), rate(model="T4"), rate("2026-11-10", card=None, model="T4")])
    assert rates.of(Hardware("", "T4"), DAY) is None
    assert rates.of(Hardware("", "A100"), DAY) == rate()


def test_money_is_exact_and_unknown_is_not_0() -> None:
    money = Money()
    money.add(rate(card="2.5", gib="0.000001"), 3 * HOUR_US, 7 * GIB_HOUR)
    assert Decimal(money.parts["EUR"]) / PER_UNIT == Decimal("7.500007")
    assert not money.unknown
    money.add(rate(card="1", currency="USD"), HOUR_US, 0)
    money.add(None, HOUR_US, 0)
    assert sorted(money.parts) == ["EUR", "USD"]
    assert money.unknown
    not_metered = Money()
    not_metered.add(rate(card=None, gib="1"), HOUR_US, 0)
    assert not_metered.unknown
    assert not not_metered.parts["EUR"]


@given(st.integers(0, 10**13 - 1))
def test_prices_survive_being_written(amount: int) -> None:
    assert millionths(str(written(amount))) == amount


@pytest.mark.parametrize("text", ["", "-1", "1e3", "0x1", "1,5", "NaN", "1.", "1.0000001", "12345678", "٣", " 1"])
def test_what_is_no_price(text: str) -> None:
    with pytest.raises(ValueError):
        millionths(text)


def test_hardware_survives_being_packed() -> None:
    parts = [(Hardware("p", "T4", ("a=1",)), 1, 2), (Hardware(), 3, 0)]
    assert unpacked(packed(parts), 4, 2) == sorted(parts)
    assert packed([(Hardware(), 0, 0)]) == ""
    assert unpacked("", 4, 2) == []
    twice = [(hardware, 2 * cards, 2 * memory) for hardware, cards, memory in sorted(parts)]
    assert unpacked(packed(parts), 8, 4, days=2) == twice


def test_days_of_the_same_hardware_have_the_same_text() -> None:
    assert packed([(Hardware("p"), 1, 2)]) == packed([(Hardware("p"), 7, 0), (Hardware("q"), 0, 0)])
    assert unpacked(packed([(Hardware("p"), 1, 2)]), 10, 20, days=5) == [(Hardware("p"), 10, 20)]


def test_the_days_between_two_prices_are_one_stretch() -> None:
    rates = Rates([rate("2026-10-01"), rate("2026-11-10", model="T4"), rate("2026-11-10"), rate("2026-11-30")])
    days = [date(2026, 11, day) for day in (1, 9, 10, 29)]
    assert rates.stretches(days[0], days[3]) == [(days[0], days[1]), (days[2], days[3])]
    assert Rates().stretches(days[0], days[0]) == [(days[0], days[0])]


def test_a_part_of_money_is_of_each_currency_and_of_nothing_it_is_unknown() -> None:
    money = Money()
    money.add(rate(card="2"), HOUR_US, 0)
    money.add(rate(card="1", currency="USD"), HOUR_US, 0)
    half = money.share(1, 2)
    assert {name: Decimal(part) / PER_UNIT for name, part in half.parts.items()} == {"EUR": 1, "USD": Decimal("0.5")}
    assert not half.unknown
    assert money.share(3, 2).parts == money.parts
    nothing = money.share(0, 0)
    assert (dict(nothing.parts), bool(nothing.unknown)) == ({}, True)


@pytest.fixture
def month(cluster: Cluster) -> Cluster:
    """Two days of two nodes with two cards each, of models T4 and A100; team-a has a T4, team-b an A100, all the time."""
    for name, model in (("t", "T4"), ("a", "A100")):
        make_node(cluster, name, "nvidia", 2, loads=(1.0,))
        Card.objects.filter(node_name=name).update(model=model, first_seen_at=MIDNIGHT - timedelta(days=9))
    for name, space in (("t", "team-a"), ("a", "team-b")):
        held = list(Allocation.objects.filter(node_name=name).order_by("id"))
        Allocation.objects.filter(pk__in=[one.pk for one in held[1:]]).delete()
        Allocation.objects.filter(pk=held[0].pk).update(namespace=space, started_at=MIDNIGHT - timedelta(days=5))
    for day in (DAY, DAY + timedelta(days=1)):
        put_day(cluster, day, total=[1] * history.SLOTS)
    return cluster


def price(**values: Any) -> Price:
    return put(PriceDraft(**({"currency": "EUR", "since": "2026-11-01"} | values)))[0]


def sum_up(cluster: Cluster) -> None:
    days.look(MIDNIGHT + timedelta(days=2, hours=1))


def costs(cluster: Cluster, by: By = By.NAMESPACE) -> dict[str, dict[str, Decimal]]:
    """By namespace or kind. The rows add up to the total in each currency."""
    found = charge(cluster, FIRST, by)
    for currency, total in found.costs.items():
        assert sum(row.costs.get(currency, Decimal()) for row in found.rows) == total
    return {row.namespace or row.kind: row.costs for row in found.rows if row.card_hours}


def test_a_change_within_the_month_counts_by_its_day_and_rows_add_up(month: Cluster) -> None:
    price(card_hour="1.10", model="T4")
    price(card_hour="2.005", model="T4", since="2026-11-21")
    price(card_hour="4", model="A100", currency="USD")
    sum_up(month)
    team_a = Decimal("74.52")  # 24 h × 1.10 + 24 h × 2.005
    assert costs(month) == {
        "team-a": {"EUR": team_a},
        "team-b": {"USD": Decimal("192.00")},
        "unallocated": {"EUR": team_a, "USD": Decimal("192.00")},
    }
    found = charge(month, FIRST)
    assert found.costs == {"EUR": 2 * team_a, "USD": Decimal("384.00")}
    assert found.cost_complete
    by_owner = charge(month, FIRST, By.OWNER)
    assert by_owner.costs == found.costs
    assert costs(month, By.OWNER)["team-a"] == {"EUR": team_a}


def test_a_price_written_later_counts_for_days_that_are_over(month: Cluster) -> None:
    sum_up(month)
    assert not charge(month, FIRST).priced
    price(gib_hour="0.01")
    assert charge(month, FIRST).cost_complete
    assert costs(month)["team-a"]["EUR"] > 0


def test_what_has_no_price_is_unknown_and_a_sum_with_it_says_so(month: Cluster) -> None:
    price(card_hour="1", model="T4")
    sum_up(month)
    found = charge(month, FIRST)
    rows = {row.namespace or row.kind: row for row in found.rows}
    assert (rows["team-a"].costs, rows["team-a"].cost_complete) == ({"EUR": Decimal("48.00")}, True)
    assert (rows["team-b"].costs, rows["team-b"].cost_complete) == ({}, False)
    assert (rows["unallocated"].costs, rows["unallocated"].cost_complete) == ({"EUR": Decimal("48.00")}, False)
    assert (found.costs, found.cost_complete) == ({"EUR": Decimal("96.00")}, False)


def test_days_without_hardware_have_an_unknown_price(month: Cluster) -> None:
    price(card_hour="1")
    sum_up(month)
    for text in ("", "{", "[[1]]", '[["",""]]', "7", "[7,8]", '{"a":1}'):
        NamespaceDay.objects.filter(namespace="team-a").update(by_hardware=text)
        row = next(row for row in charge(month, FIRST).rows if row.namespace == "team-a")
        assert (row.costs, row.cost_complete) == ({}, False)


def test_a_label_of_the_node_chooses(month: Cluster) -> None:
    facts = {"metadata": {"name": "t", "labels": {"billing": "gold", "other": "x"}}}
    Node.objects.filter(name="t").update(facts=json.dumps(facts), has_gpu=True)
    price(card_hour="1")
    price(card_hour="10", label="billing=gold")
    sum_up(month)
    assert costs(month)["team-a"] == {"EUR": Decimal("480.00")}
    assert costs(month)["team-b"] == {"EUR": Decimal("48.00")}


def test_thirds_of_a_cent_add_up(month: Cluster) -> None:
    price(card_hour="0.003333")
    sum_up(month)
    assert charge(month, FIRST).costs == {"EUR": Decimal("0.64")}
    costs(month)


def test_who_sees_one_namespace_sees_the_others_in_one_row(month: Cluster) -> None:
    price(card_hour="1", model="T4")
    price(card_hour="2", model="A100")
    sum_up(month)
    with seeing(Scope(frozenset(), frozenset({(month.pk, "team-a")}))):
        assert costs(month) == {
            "team-a": {"EUR": Decimal("48.00")},
            "others": {"EUR": Decimal("96.00")},
            "unallocated": {"EUR": Decimal("144.00")},
        }
        assert charge(month, FIRST).costs == {"EUR": Decimal("288.00")}


def test_without_prices_nothing_more_is_read(month: Cluster, django_assert_num_queries: Any) -> None:
    sum_up(month)
    with django_assert_num_queries(4):
        charge(month, FIRST)
    price(card_hour="1")
    with django_assert_num_queries(6):
        charge(month, FIRST)


def test_rest_csv_command_and_page_say_the_same(month: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    viewer = signed_in(make_user("vera", Role.VIEWER))
    sum_up(month)
    address = f"cluster={month.name}&month=2026-11"
    bare = viewer.get(f"/api/v1/namespaces/chargeback?{address}&format=csv").content.decode()
    assert "cost" not in bare
    assert "Cost" not in get(viewer, f"/namespaces/chargeback?{address}").text
    price(card_hour="1234.50", model="T4")
    told = viewer.get(f"/api/v1/namespaces/chargeback?{address}").json()
    assert told["total_costs"] == [{"currency": "EUR", "amount": "118512.00"}]
    assert told["cost_complete"] is False
    rows = {row["namespace"] or row["row"]: row for row in told["rows"]}
    assert rows["team-a"]["costs"] == [{"currency": "EUR", "amount": "59256.00"}]
    assert rows["team-b"]["costs"] == []
    text = viewer.get(f"/api/v1/namespaces/chargeback?{address}&format=csv").content.decode()
    lines = {row["namespace"] or row["row"]: row for row in csv.DictReader(io.StringIO(text))}
    assert (lines["team-a"]["cost_EUR"], lines["team-a"]["cost_complete"]) == ("59256.00", "yes")
    assert (lines["team-b"]["cost_EUR"], lines["team-b"]["cost_complete"]) == ("", "no")
    page = get(viewer, f"/namespaces/chargeback?{address}").text
    assert "59,256.00 EUR" in page
    assert "118,512.00 EUR · unknown" in page
    call_command("chargeback", "--cluster", month.name, "--month", "2026-11")
    out = capsys.readouterr().out
    assert "118512.00 EUR + unknown" in out


@pytest.mark.django_db
def test_rest_sets_lists_and_removes_prices() -> None:
    admin, viewer = signed_in(make_user("ada", Role.ADMIN)), signed_in(make_user("vera", Role.VIEWER))
    body = {"currency": "EUR", "since": "2026-11-01", "card_hour": "2.10", "model": "T4"}

    def post(client: Client, sent: Any) -> Any:
        return client.post("/api/v1/prices", json.dumps(sent), content_type="application/json")

    made = post(admin, body)
    assert (made.status_code, made.json()["card_hour"], made.json()["gib_hour"]) == (201, "2.1", None)
    assert post(admin, body | {"card_hour": "3"}).status_code == 200
    assert [one["card_hour"] for one in viewer.get("/api/v1/prices").json()["results"]] == ["3"]
    assert post(viewer, body).status_code == 403
    bad = post(admin, {"currency": "euro", "since": "soon", "label": "x", "card_hour": "-1"})
    assert bad.status_code == 400
    assert {one["field"] for one in bad.json()["errors"]} == {"currency", "since", "label", "card_hour"}
    assert post(admin, body | {"card_hour": 2.1}).status_code == 400
    pk = made.json()["id"]
    assert viewer.get(f"/api/v1/prices/{pk}").json()["model"] == "T4"
    assert admin.delete(f"/api/v1/prices/{pk}").status_code == 204
    assert admin.delete(f"/api/v1/prices/{pk}").status_code == 404
    entries = Entry.objects.filter(action__startswith="price-", outcome="done").order_by("id")
    assert [one.action for one in entries] == ["price-set", "price-set", "price-remove"]


FILE = """
- {model: T4, since: 2026-11-01, currency: EUR, card_hour: 2.10}
- label: billing=gold
  since: 2026-11-15
  currency: EUR
  card_hour: 3.000001
  gib_hour: null
"""


@pytest.mark.django_db
def test_a_file_becomes_all_prices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    price(card_hour="9")
    file = tmp_path / "prices.yaml"
    file.write_text(FILE)
    call_command("prices", "load", str(file))
    assert "Loaded 2 prices" in capsys.readouterr().out
    call_command("prices", "list")
    shown = capsys.readouterr().out
    assert "3.000001" in shown
    assert sorted(Price.objects.values_list("card_hour", flat=True)) == [2_100_000, 3_000_001]
    for text, why in (
        (FILE + "- {model: T4, since: 2026-11-01, currency: USD}\n", "price 3: since: Another price"),
        (FILE + "- {since: 2026-11-01, currency: USD, per_hour: 1}\n", "price 3: file: Object contains unknown field"),
        (FILE + "- 7\n", "price 3: file"),
        ("a: b", "Must be a list"),
        ("[", "Must be YAML"),
        ("- !!python/object/apply:os.system [ls]", "price 1"),
        ("[" * 5000, "Must be YAML"),
    ):
        file.write_text(text)
        with pytest.raises(CommandError, match=why):
            call_command("prices", "load", str(file))
    assert Price.objects.count() == 2
    call_command("prices", "set", "--currency", "EUR", "--since", "2026-12-01", "--card-hour", "1")
    call_command("prices", "remove", str(Price.objects.get(model="T4").pk))
    assert Price.objects.count() == 2


def test_json_is_a_file_too() -> None:
    [one] = read_file(b'[{"model": "T4", "since": "2026-11-01", "currency": "EUR", "card_hour": 2.10}]')
    assert one.card_hour == "2.10"


@pytest.mark.django_db
def test_nothing_of_a_bad_file_is_written() -> None:
    good = PriceDraft(currency="EUR", since="2026-11-01", card_hour="1")
    with pytest.raises(Bad):
        replace_all([good, PriceDraft(currency="EUR", since="never")])
    assert not Price.objects.exists()
