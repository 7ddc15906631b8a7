"""A card returns by a pass of at least the level that failed, of a run that began after it was taken out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from inventory.models import Card, Cluster
from quarantine import manage, moves
from quarantine.models import Case
from quarantine.passed import return_passed
from quarantine.recommend import withdraw
from runtime.clock import database_now
from tests.factories import make_node
from tests.factories.quarantine import make_case
from tests.quarantine.beds import fails, fleet, ran, step


@pytest.fixture
def card(cluster: Cluster) -> Card:
    return fleet(cluster)[0]


@pytest.fixture
def case(card: Card) -> Case:
    """Out of service for ten minutes."""
    Cluster.objects.update(quarantine_kubeconfig="/etc/gpudash/quarantine/c")
    fails(card, ago_s=3600)
    step()
    made = Case.objects.get()
    manage.accept(made)
    moves.marked(made, database_now() - timedelta(minutes=10), None)
    return made


def state(case: Case) -> tuple[str, str]:
    step()
    case.refresh_from_db()
    return str(case.state), str(case.return_reason)


OUT, RETURNING = ("out", ""), ("returning", "passed")


def test_a_checked_pass_returns_it_and_is_named(card: Card, case: Case) -> None:
    assert state(case) == OUT
    run = ran(card, "passed", 60)

    assert state(case) == RETURNING
    assert case.passed_run == run


@pytest.mark.parametrize(
    "run",
    [
        {"verdict": "passed", "level": "ran"},
        {"verdict": "passed", "ago_s": 1200},
        {"verdict": "passed", "suite": "nvidia-smi"},
        {"verdict": "warning"},
        {"verdict": "errored"},
        {"verdict": "failed"},
    ],
    ids=("lower level", "before it was taken out", "another suite", "warning", "errored", "failed"),
)
def test_anything_less_does_not(card: Card, case: Case, run: dict[str, Any]) -> None:
    ran(card, **run)
    assert state(case) == OUT


def test_a_pass_of_another_card_does_not(card: Card, case: Case) -> None:
    ran(Card.objects.exclude(pk=card.pk).get(), "passed", 60)
    assert state(case) == OUT


def test_a_card_that_failed_another_suite_meanwhile_stays_out(card: Card, case: Case) -> None:
    ran(card, "passed", 60)
    for ago_s in (50, 40):
        ran(card, "failed", ago_s, suite="nvidia-smi")

    assert state(case) == OUT
    ran(card, "passed", 30, suite="nvidia-smi")
    assert state(case) == RETURNING


def test_a_failure_after_the_pass_keeps_it_out(card: Card, case: Case) -> None:
    ran(card, "passed", 60)
    ran(card, "failed", 30)
    assert state(case) == OUT


def test_how_many_queries_are_made_does_not_grow_with_the_cases(
    cluster: Cluster, case: Case, django_assert_num_queries: Any
) -> None:
    for number in range(5):
        make_node(cluster, f"other-{number}", "nvidia", 1)
        failed = ran(Card.objects.get(node_name=f"other-{number}"), "failed")
        make_case(cluster, f"other-{number}", card_key=failed.card_key)
        make_case(cluster, f"other-{number}", "out", card_key="9", marked_at=database_now())
    at = database_now()
    with django_assert_num_queries(2):
        assert (withdraw(at), return_passed((), at)) == (0, 0)
