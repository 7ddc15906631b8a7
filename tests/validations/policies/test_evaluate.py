"""What is kept of the cards is what the facts say, whatever has changed since; nothing is written where nothing has."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.models import Card, Cluster, Node, NodeTotals
from runtime.clock import database_now
from tests.database import RowsOfModule
from tests.factories import make_cluster, make_node
from validations.models import LastResult, Policy, PolicyCard, PolicyCount, PolicyState, Run
from validations.options_key import options_key
from validations.policies import counts, manage
from validations.policies.evaluate import evaluate
from validations.policies.manage import PolicyDraft
from validations.suites import registry

SUITE = registry()["cuda-vectoradd"]
DAY = timedelta(days=1)
CARDS = 4


@pytest.fixture(scope="module")
def rows(rows_of_module: RowsOfModule) -> int:
    """Two nodes with two cards each, every card passed a day ago."""
    with rows_of_module():
        return _four_cards().pk


@pytest.fixture
def fleet(rows: int, db: None) -> Cluster:
    return Cluster.objects.get(pk=rows)


def _four_cards() -> Cluster:
    cluster = make_cluster()
    for name in ("node-a", "node-b"):
        make_node(cluster, name, "nvidia", 2, loads=(0.0,))
    Node.objects.update(driver_version="570.1", boot_id="boot", machine_id="machine/board", os="linux", ready=True)
    for card in Card.objects.all():
        passed(card)
    return cluster


def passed(card: Card, ago: timedelta = DAY, verdict: str = "passed", **more: Any) -> Run:
    at = database_now() - ago
    image = str(SUITE.settle({})["image"])
    run = Run.objects.create(
        cluster=card.cluster,
        suite=SUITE.id,
        node_name=card.node_name,
        card_key=card.key,
        state="ended",
        state_since=at,
        ended_at=at,
        verdict=verdict,
        level="checked" if verdict == "passed" else "",
        options_key=options_key(SUITE, {}),
        image=image,
        parser_version=SUITE.parser_version,
        **{"driver_version": "570.1", "boot_id": "boot", "machine_id": "machine/board", **more},
    )
    good = {"good": run, "good_at": at, "good_driver": run.driver_version, "passed_at": at}
    LastResult.objects.update_or_create(
        cluster=card.cluster,
        node_name=card.node_name,
        card_key=card.key,
        suite=SUITE.id,
        defaults={
            "run": run,
            "verdict": verdict,
            "ended_at": at,
            "said": run,
            "said_at": at,
            "said_verdict": verdict,
            **(good if verdict == "passed" else {}),
        },
    )
    return run


def policy(**more: Any) -> Policy:
    return manage.create(PolicyDraft(name="all", suite=SUITE.id, **{"void_on_reboot": True, **more}))


def kept() -> dict[tuple[str, str], tuple[Any, ...]]:
    columns = ("state", "reason", "hindrance", "valid_until", "not_before", "run_id", "failures", "tries")
    rows = PolicyCard.objects.order_by("node_name", "card_key")
    return {(row.node_name, row.card_key): tuple(getattr(row, name) for name in columns) for row in rows}


def states() -> list[str]:
    rows = PolicyCard.objects.order_by("node_name", "card_key").values_list("state", "reason")
    return [f"{state} {reason}".strip() for state, reason in rows]


def first() -> Card:
    return Card.objects.order_by("node_name", "key")[0]


CHANGES: dict[str, tuple[Callable[[], Any], str]] = {
    "driver": (lambda: Node.objects.filter(name="node-a").update(driver_version="580.2"), "due driver-changed"),
    "boot": (lambda: Node.objects.filter(name="node-a").update(boot_id="other"), "due rebooted"),
    "machine": (lambda: Node.objects.filter(name="node-a").update(machine_id="other"), "due machine-replaced"),
    "image": (lambda: Run.objects.filter(node_name="node-a").update(image="other"), "due image-changed"),
    "parser": (lambda: Run.objects.filter(node_name="node-a").update(parser_version=0), "due parser-changed"),
    "failure": (lambda: passed(first(), timedelta(hours=1), "failed"), "failed failed-once"),
    "newer pass": (lambda: passed(first(), timedelta(hours=1)), "valid"),
    "driver unknown": (lambda: Node.objects.filter(name="node-a").update(driver_version=""), "valid"),
    "in use": (lambda: Card.objects.update(allocations_count=1), "valid"),
    "another suite's options": (lambda: Run.objects.filter(node_name="node-a").update(options_key="x"), "due expired"),
    "lower level": (lambda: Run.objects.filter(node_name="node-a").update(level="ran"), "due expired"),
    "node gone": (lambda: Node.objects.filter(name="node-a").delete(), "valid"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen_though_valid_cards_are_left_out(fleet: Cluster, change: str) -> None:
    made, (act, expected) = policy(), CHANGES[change]
    now = database_now()
    assert evaluate(made, now) == CARDS
    assert set(states()) == {"valid"}
    assert evaluate(made, now + timedelta(seconds=1)) == 0
    act()
    evaluate(made, now + timedelta(seconds=2))
    assert states()[0] == expected
    quick = kept()
    # From nothing, all of it comes out the same.
    PolicyCard.objects.all().delete()
    Policy.objects.update(evaluated_at=None)
    evaluate(made, now + timedelta(seconds=2))
    assert kept() == quick


def test_a_pass_expires_and_a_changed_policy_is_looked_at_whole(fleet: Cluster) -> None:
    made, now = policy(max_age_s=2 * 86_400), database_now()
    evaluate(made, now)
    assert evaluate(made, now + DAY / 2) == 0
    evaluate(made, now + DAY)
    assert set(states()) == {"due expired"}
    manage.change(made, PolicyDraft(name="all", suite=SUITE.id, max_age_s=30 * 86_400))
    evaluate(made, now + DAY)
    assert set(states()) == {"valid"}


def test_one_node_is_looked_at_alone_and_comes_out_as_with_all(fleet: Cluster) -> None:
    made, now = policy(), database_now()
    evaluate(made, now)
    Node.objects.update(driver_version="580.2")
    passed(Card.objects.get(pk=first().pk), timedelta(minutes=1), driver_version="580.2")
    evaluate(made, now, (fleet.pk, "node-a"))
    assert sorted(states()) == ["due driver-changed", "valid", "valid", "valid"]
    alone = {place: row for place, row in kept().items() if place[0] == "node-a"}
    evaluate(made, now)
    assert {place: row for place, row in kept().items() if place[0] == "node-a"} == alone
    assert sorted(states()) == ["due driver-changed"] * 3 + ["valid"]


def test_cards_that_are_gone_or_no_longer_covered_have_no_state(fleet: Cluster) -> None:
    made, now = policy(), database_now()
    evaluate(made, now)
    Card.objects.filter(pk=first().pk).update(removed_at=now)
    assert evaluate(made, now) == 1
    assert PolicyCard.objects.count() == CARDS - 1
    NodeTotals.objects.filter(node_name="node-b").update(pool="b")
    manage.change(made, PolicyDraft(name="all", suite=SUITE.id, pool="b"))
    evaluate(made, now)
    assert set(PolicyCard.objects.values_list("node_name", flat=True)) == {"node-b"}
    manage.change(made, PolicyDraft(name="all", suite=SUITE.id, node_labels={"no": "such"}))
    evaluate(made, now)
    assert PolicyCard.objects.count() == 0


def test_queries_do_not_grow_with_cards(fleet: Cluster) -> None:
    def asked() -> int:
        made = policy(max_age_s=86_400 * 9)
        with CaptureQueriesContext(
            connection,
        ) as found:
            evaluate(made, database_now())
        made.delete()
        return len(found)

    few = asked()
    make_node(fleet, "node-c", "nvidia", 8, loads=(0.0,))
    assert asked() == few <= 14


def test_counts_of_the_fleet_take_the_worst_of_each_card(fleet: Cluster) -> None:
    made, now = policy(), database_now()
    strict = manage.create(PolicyDraft(name="daily", suite=SUITE.id, max_age_s=3600))
    passed(first(), timedelta(minutes=5), "failed")
    for one in (made, strict):
        evaluate(one, now)
    counts.count(now)
    counts.count(now)  # the row of the hour is written anew
    whole = PolicyCount.objects.get(policy=None)
    assert {state: getattr(whole, state) for state in PolicyState.values} == {
        "valid": 0, "due": CARDS - 1, "running": 0, "failed": 1, "excluded": 0,
    }  # fmt: skip
    own = PolicyCount.objects.get(policy=made)
    assert (own.valid, own.failed, own.driver) == (CARDS - 1, 1, "570.1")
