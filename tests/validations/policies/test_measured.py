"""By how much measurements moved: golden cases of the rule, and which runs of a card are beside each other."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from math import comb

import pytest
from django.core.management import call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from inventory.models import Card, Cluster
from runtime.clock import database_now
from runtime.scope import Scope, seeing
from tests.factories import make_node
from tests.pages.reading import get
from tests.validations.policies.test_compare import DAY, NEW, OLD, passed
from validations.models import Measurement, Run
from validations.policies import compare
from validations.policies.measured import Both, Moved, moved, sign_test


def one(
    card: int, before: float, after: float, unit: str = "GB/s", pool: str = "a100", name: str = "bandwidth"
) -> Both:
    return Both(1, pool, "A100", "nvbandwidth", "w", name, unit, card, f"n{card}", "0", before, after)


def fleet(factor: float, cards: int = 20) -> list[Both]:
    """Each card's own value, times the factor and a noise of half a percent to both sides."""
    return [one(card, 100 + card, (100 + card) * factor * (1 + (card % 3 - 1) / 200)) for card in range(cards)]


def test_a_shift_of_all_cards_is_slower() -> None:
    [found] = moved(fleet(0.9))
    assert (found.judged, found.cards, found.slower, found.faster) == ("slower", 20, 20, 0)
    assert found.percent == pytest.approx(11.1, abs=0.1)
    assert found.chance == pytest.approx(2 / 2**20)
    assert (found.before.least, found.before.median, found.before.most) == (100, 109.5, 119)
    assert found.outliers == []


def test_of_times_less_is_faster() -> None:
    [found] = moved([card._replace(unit="ms") for card in fleet(0.9)])
    assert (found.judged, found.faster) == ("faster", 20)
    assert found.percent == pytest.approx(-10, abs=0.1)


def test_noise_is_no_shift_and_so_is_less_than_a_percent() -> None:
    [noise] = moved(fleet(1.0))
    assert noise.judged == "same"
    [small] = moved(one(card, 100, 99.5) for card in range(40))
    assert (small.judged, small.slower) == ("same", 40)


def test_too_few_cards_are_not_judged() -> None:
    [found] = moved(fleet(0.5, cards=9))
    assert (found.judged, found.percent, found.chance, found.outliers) == ("too-few", None, None, [])
    assert found.before.median == 104


def test_the_cards_that_got_slower_than_the_others_are_named() -> None:
    cards = fleet(0.9)
    cards[7] = cards[7]._replace(after=50.0)
    cards[8] = cards[8]._replace(after=30.0)
    [found] = moved(cards)
    assert [(card.node, round(card.percent)) for card in found.outliers] == [("n8", 260), ("n7", 114)]
    assert found.outliers_count == 2


def test_many_groups_need_a_smaller_chance() -> None:
    """11 of 12 cards are slower: by chance 0.6% in one group, more than 1% in any of ten."""
    cards = [one(card, 100, 90 if card else 110) for card in range(12)]
    assert [found.judged for found in moved(cards)] == ["slower"]
    others = [card._replace(pool=f"p{number}", after=100.0) for card in cards for number in range(9)]
    assert {found.judged for found in moved([*cards, *others])} == {"same"}


def test_groups_are_of_pool_and_work_and_slower_ones_come_first() -> None:
    found = moved(
        [*fleet(1.0), *(card._replace(pool="h100") for card in fleet(0.8)), *(one(1, 5, 4, pool="t4") for _ in "x")]
    )
    assert [(group.pool, group.judged) for group in found] == [("h100", "slower"), ("a100", "same"), ("t4", "too-few")]


def test_what_says_nothing_of_speed_is_left_out() -> None:
    assert moved([one(card, 1, 2, unit="C") for card in range(20)]) == []
    assert moved([one(1, 0, 2), one(2, 1, 0)]) == []


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_test_is_the_binomial_one(slower: int, faster: int) -> None:
    number, most = slower + faster, max(slower, faster)
    exact = (
        min(1.0, 2 * sum(comb(number, k) for k in range(most, number + 1)) / 2**number) if 2 * most > number else 1.0
    )
    assert sign_test(slower, faster) == pytest.approx(exact, rel=1e-9)


def test_it_is_quick_and_finite_for_a_large_fleet() -> None:
    assert sign_test(40_000, 0) == 0.0
    assert 0 < sign_test(20_300, 19_700) < 0.01


@pytest.fixture
def upgraded(cluster: Cluster) -> Cluster:
    """Twelve cards that passed on both drivers; all but the last got a tenth slower, the first one lost half."""
    for number in range(12):
        make_node(cluster, f"node-{number:02}", "nvidia", 1, loads=(0.0,))
    for number, card in enumerate(Card.objects.order_by("node_name")):
        passed(card, OLD, DAY * 3, bandwidth=1.0)
        passed(card, OLD, DAY * 2, bandwidth=100.0)
        passed(card, NEW, DAY / 2, bandwidth=50.0 if not number else 100.0 if number == 11 else 90.0)
    return cluster


def bandwidth(found: compare.Compared) -> Moved:
    return next(one for one in found.measurements if one.name == "bandwidth")


def asked(**more: list[str]) -> compare.Compared:
    return compare.compare(compare.read({"a": [OLD], "b": [NEW]} | more))


@pytest.mark.django_db
def test_the_newest_run_of_each_card_counts(upgraded: Cluster) -> None:
    """Without any policy. The time of the kernel is the same."""
    found = asked()
    told = bandwidth(found)
    assert (told.cards, told.slower, told.judged) == (12, 11, "slower")
    assert (told.before.least, told.before.most, told.after.median) == (100, 100, 90)
    assert [card.node for card in told.outliers] == ["node-00"]
    assert {one.name: one.judged for one in found.measurements} == {"bandwidth": "slower", "kernel": "same"}


@pytest.mark.django_db
def test_of_a_day_the_results_until_its_end_are_before(upgraded: Cluster) -> None:
    newest = (database_now() - DAY / 2).date()
    told = bandwidth(asked(by=["day"], a=[(newest - DAY).isoformat()], b=[newest.isoformat()]))
    assert (told.cards, told.before.median, told.after.median) == (12, 100, 90)


@pytest.mark.django_db
@pytest.mark.parametrize("by", ["image", "kernel", "operator", "mig-layout"])
def test_of_what_a_run_keeps_each_is_compared(upgraded: Cluster, by: str) -> None:
    for driver, value in ((OLD, "one"), (NEW, "two")):
        kept = {"image": value} if by == "image" else {"node_snapshot": {by.replace("-", "_"): value}}
        Run.objects.filter(driver_version=driver).update(**kept)
    Run.objects.update(workload_key="") if by == "image" else None
    found = asked(by=[by], a=["one"], b=["two"])
    assert bandwidth(found).judged == "slower"
    assert (found.groups, found.before.counts) == ([], None)
    assert asked(by=[by], a=["one"], b=["three"]).measurements == []


@pytest.mark.django_db
def test_failed_runs_and_other_work_are_not_compared(upgraded: Cluster) -> None:
    Run.objects.filter(driver_version=NEW, node_name="node-01").update(verdict="failed")
    Run.objects.filter(driver_version=NEW, node_name="node-02").update(workload_key="another")
    assert bandwidth(asked()).cards == 10


@pytest.mark.django_db
def test_a_scope_compares_its_runs_only(upgraded: Cluster) -> None:
    with seeing(Scope(frozenset(), frozenset({(upgraded.pk, "nowhere")}))):
        assert asked().measurements == []


@pytest.mark.django_db
def test_rest_command_csv_and_page_say_the_same(api: Client, viewer: Client, upgraded: Cluster) -> None:
    path = f"/api/v1/policies/compare?a={OLD}&b={NEW}"
    told = {one["measurement"]: one for one in api.get(path).json()["measurements"]}
    row = told["bandwidth"]
    assert (row["result"], row["cards"], row["cards_slower"], row["outliers_count"]) == ("slower", 12, 11, 1)
    assert row["outliers"][0]["node"] == "node-00"
    out = io.StringIO()
    call_command("policy", "compare", "--a", OLD, "--b", NEW, stdout=out)
    assert "11 of 12 cards slower" in out.getvalue()
    out = io.StringIO()
    call_command("policy", "compare", "--a", OLD, "--b", NEW, "-o", "json", stdout=out)
    assert len(json.loads(out.getvalue())["measurements"]) == 2
    lines = api.get(f"{path}&format=csv").content.decode().splitlines()
    assert len(lines) == 3
    assert "node-00" in lines[1]
    page = get(viewer, f"/policies/compare?a={OLD}&b={NEW}")
    rows = page.tables["Measurements"]
    assert [row[3] for row in rows] == ["12", "12"]
    assert "100.0 → 90.00 GB/s" in rows[0][4]
    assert rows[0][6].startswith("+11.1%")
    assert "slower" in rows[0][7]
    assert "node-00" in rows[0][8]
    assert "No card was measured on both sides" in get(viewer, f"/policies/compare?a={NEW}&b=none").text


@pytest.mark.django_db
def test_older_runs_than_90_days_are_not_read(upgraded: Cluster) -> None:
    card = Card.objects.order_by("node_name")[0]
    before = bandwidth(asked()).cards
    passed(card, OLD, timedelta(days=120), bandwidth=7.0)
    assert bandwidth(asked()).cards == before
    assert Measurement.objects.filter(value=7.0).exists()
