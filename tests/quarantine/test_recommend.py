"""A confirmed failure recommends, once; what errored never does; a pass takes the recommendation back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from audit.models import Entry
from inventory.models import Cluster, Node
from quarantine import manage, moves
from quarantine.failures import confirmed
from quarantine.models import Case, CaseState
from runtime.clock import database_now
from tests.quarantine.beds import fails, fleet, policy_that_takes_out, ran, step

RECOMMENDED, WITHDRAWN = [("gpu-0", "recommended", "")], [("gpu-0", "withdrawn", "passed")]


def test_two_failures_of_one_suite_recommend_and_say_why(cluster: Cluster) -> None:
    (card,) = fleet(cluster)
    last = fails(card)

    assert step() == RECOMMENDED
    assert step() == RECOMMENDED
    case = Case.objects.get()
    assert (case.run, case.card_key, case.card_uuid, case.level) == (last, card.key, card.uuid, "checked")
    assert case.said_reason == "CUDA vectorAdd failed 2 times on this card (wrong-result), with no pass in between."
    assert list(Entry.objects.values_list("action", "target")) == [
        ("case-recommend", f"{cluster.name}/gpu-0 card {card.key}")
    ]


@pytest.mark.parametrize(
    "verdicts",
    [
        ("failed",),
        ("failed", "passed", "failed"),
        ("errored", "errored", "errored"),
        ("skipped", "skipped"),
        ("failed", "errored", "skipped"),
        ("failed", "failed", "passed"),
        ("warning", "warning"),
    ],
    ids="-".join,
)
def test_anything_less_recommends_nothing(verdicts: tuple[str, ...], cluster: Cluster) -> None:
    (card,) = fleet(cluster)
    for number, verdict in enumerate(verdicts):
        ran(card, verdict, 600 - number)

    assert step() == []


def test_failures_of_different_suites_or_cards_confirm_nothing(cluster: Cluster) -> None:
    one, two = fleet(cluster, nodes=2)
    ran(one, "failed")
    ran(one, "failed", suite="nvidia-smi")
    ran(two, "failed")

    assert step() == []


def test_a_pass_of_a_lower_level_between_two_failures_takes_nothing_back(cluster: Cluster) -> None:
    (card,) = fleet(cluster)
    ran(card, "failed", 300)
    ran(card, "passed", 200, level="ran")
    ran(card, "failed", 100)

    assert step() == RECOMMENDED


def test_a_policy_that_confirmed_it_is_named(cluster: Cluster) -> None:
    (card,) = fleet(cluster)
    policy = policy_that_takes_out(card, fails(card))

    assert step() == RECOMMENDED
    assert Case.objects.get().policy == policy
    assert "confirmed by the policy all" in Case.objects.get().reason


@pytest.mark.parametrize("machine", ["machine/other", ""])
def test_another_machine_under_the_same_name_is_not_blamed(cluster: Cluster, machine: str) -> None:
    (card,) = fleet(cluster)
    fails(card)
    Node.objects.update(machine_id=machine)

    assert step() == ([] if machine else RECOMMENDED)


def test_a_pass_withdraws_what_nobody_has_decided_yet(cluster: Cluster) -> None:
    (card,) = fleet(cluster)
    fails(card)
    step()
    ran(card, "passed", 1)

    assert step() == WITHDRAWN
    ran(card, "failed", 0)
    assert step() == WITHDRAWN, "one failure since the pass"


def test_a_node_that_is_gone_withdraws_it(cluster: Cluster) -> None:
    (card,) = fleet(cluster)
    fails(card)
    step()
    Node.objects.all().delete()

    assert step() == [("gpu-0", "withdrawn", "node-removed")]


def decline(case: Case) -> None:
    manage.decline(case, note="it is in use")


def returned(case: Case) -> None:
    """Taken out, then given back by a person."""
    at = database_now()
    manage.accept(case)
    moves.marked(case, at, None)
    manage.give_back(case, note="replaced")
    moves.returned(case, database_now(), None)


@pytest.mark.parametrize("decided", [decline, returned])
def test_what_a_person_has_decided_is_not_asked_again_for_the_same_failure(decided: Any, cluster: Cluster) -> None:
    (card,) = fleet(cluster)
    fails(card)
    step()
    decided(Case.objects.get())
    before = step()

    assert step() == before
    assert len(before) == 1
    ran(card, "failed", -1)
    assert step()[1:] == RECOMMENDED, "a new failure is a new question"


def test_a_failure_of_the_time_out_of_service_is_not_asked_after_the_return(cluster: Cluster) -> None:
    (card,) = fleet(cluster)
    fails(card)
    step()
    case = Case.objects.get()
    manage.accept(case)
    moves.marked(case, database_now(), None)
    ran(card, "failed", 1)
    manage.give_back(case, note="replaced")
    moves.returned(case, database_now() + timedelta(seconds=1), None)

    assert [state for _, state, _ in step()] == [CaseState.RETURNED]


def test_the_number_of_queries_does_not_grow_with_the_cards(
    cluster: Cluster, django_assert_max_num_queries: Any
) -> None:
    for card in fleet(cluster, nodes=12):
        fails(card)
    with django_assert_max_num_queries(7):
        assert len(confirmed()) == 12
