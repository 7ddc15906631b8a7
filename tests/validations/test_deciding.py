"""Of the results of a card one decides in which state it is: kept with them, the same as what is asked of single cards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inventory.models import Card, Cluster, Node
from tests.factories import lose_card, make_cluster, make_node
from tests.pages.validations.rows import make_run
from tests.validations.test_results import counted
from validations import validity, validity_counts
from validations.lastresults import Result, deciding
from validations.models import LastResult, Run

pytestmark = pytest.mark.django_db
NOW = timezone.now()
SUITES = ("cuda-vectoradd", "cuda-nbody", "nvidia-smi")
#: (last verdict about the hardware, level of what passed, minutes ago, driver)
_results = st.tuples(
    st.sampled_from(["passed", "failed", ""]),
    st.sampled_from(["checked", "ran", "detected", "", "checked+ran"]),
    st.integers(0, 3),
    st.sampled_from(["1", "2", ""]),
)


def decide_anew() -> None:
    """For rows that a test has written: which one of each card decides."""
    own: dict[tuple[int, str, str], list[Result]] = {}
    for cluster, node, card, *row in LastResult.objects.values_list(
        "cluster", "node_name", "card_key", *Result._fields
    ):
        own.setdefault((cluster, node, card), []).append(Result(*row))
    LastResult.objects.update(decides=False)
    LastResult.objects.filter(pk__in=[deciding(results) for results in own.values()]).update(decides=True)


@pytest.fixture
def fleet() -> Cluster:
    cluster = make_cluster("prod")
    make_node(cluster, "a", "nvidia", 3)
    make_node(cluster, "b", "nvidia", 2)
    Node.objects.filter(name="a").update(driver_version="1")
    return cluster


def write(cluster: Cluster, run: Run, card: Card, results: Sequence[tuple[str, str, int, str]]) -> None:
    """Written in bulk: none of them decides yet."""
    for suite, (said, level, minutes, driver) in zip(SUITES, results, strict=False):
        at = NOW - timedelta(minutes=minutes)
        good = "checked" in level
        lower = level.removeprefix("checked").removeprefix("+")
        LastResult.objects.create(
            cluster=cluster,
            node_name=card.node_name,
            card_key=card.key,
            suite=suite,
            run=run,
            verdict=said or "errored",
            ended_at=at,
            said=run if said else None,
            said_verdict=said,
            said_at=at if said else None,
            good=run if good else None,
            good_at=at if good else None,
            good_driver=driver if good else "",
            lower=run if lower else None,
            lower_at=at if lower else None,
            lower_level=lower,
        )


def rests_on(one: validity.Validity) -> tuple[object, ...]:
    """What a mark and its title say, without the suite: of two that failed in one moment nobody can say which is the newer."""
    if one.state == "failed":
        return one.state, one.bad_run, one.bad_at, one.driver_now
    if one.state in ("ran", "detected"):
        return one.state, one.lower_level, one.lower_run, one.lower_at, one.driver_now
    return one.state, one.good_run, one.good_suite, one.good_at, one.good_driver, one.driver_now


@given(results=st.lists(st.lists(_results, max_size=3), min_size=5, max_size=5))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_counted_is_what_is_said_of_each_card(
    fleet: Cluster, results: list[list[tuple[str, str, int, str]]]
) -> None:
    with transaction.atomic():
        run = make_run(fleet, node="a")
        LastResult.objects.all().delete()
        for card, own in zip(Card.objects.order_by("id"), results, strict=True):
            # Two proofs of one moment may be by two drivers: which of them is the newest nobody can say.
            moments = [minutes for _, level, minutes, _ in own if "checked" in level]
            if len(moments) == len(set(moments)):
                write(fleet, run, card, own)
        decide_anew()
        found = validity.of_cards(Card.objects.values_list("pk", flat=True))
        assert counted(fleet.pk) == {pk: one.state for pk, one in found.items()}
        marks = validity_counts.of_cards(found)
        assert {pk: rests_on(one) for pk, one in marks.items()} == {
            pk: rests_on(one) for pk, one in found.items() if one.state != "never"
        }
        transaction.set_rollback(True)


@pytest.fixture
def validated(fleet: Cluster) -> Card:
    card = Card.objects.filter(node_name="a")[0]
    run = make_run(fleet, node="a", card=card)
    LastResult.objects.filter(run=run).update(good_driver="1")
    assert counted(fleet.pk)[card.pk] == "validated"
    return card


def test_a_card_that_is_gone_is_not_counted(validated: Card) -> None:
    lose_card(validated)
    assert counted(validated.cluster_id) == {card.pk: "never" for card in Card.objects.filter(removed_at=None)}
    assert validity_counts.by_pool([validated.cluster_id], NOW) == {}


def test_only_what_is_young_and_on_a_known_driver_is_fresh_and_sure(validated: Card) -> None:
    def figures() -> tuple[int, int]:
        whole = validity_counts.added(
            validity_counts.by_pool([validated.cluster_id], NOW - timedelta(days=14)).values()
        )
        assert whole.states["validated"] == 1
        return whole.fresh, whole.sure

    assert figures() == (1, 1)
    Node.objects.update(driver_version="")
    assert figures() == (1, 0)
    LastResult.objects.update(good_at=NOW - timedelta(days=15))
    assert figures() == (0, 0)


def test_of_a_card_that_failed_twice_the_newer_failure_is_told(validated: Card) -> None:
    for suite, minutes in (("cuda-nbody", 2), ("nvidia-smi", 1)):
        row = LastResult.objects.filter(suite="cuda-vectoradd").get()
        row.pk, row.suite, row.decides = None, suite, False
        row.said_verdict, row.said_at = "failed", NOW - timedelta(minutes=minutes)
        row.save()
    decide_anew()
    mark = validity_counts.of_cards([validated.pk])[validated.pk]
    assert (mark.state, mark.bad_suite) == ("failed", "nvidia-smi")
    assert mark.bad_suite == validity.of_cards([validated.pk])[validated.pk].bad_suite


def test_of_no_clusters_and_no_nodes_nothing_is_counted(validated: Card) -> None:
    assert (validity_counts.by_pool([], NOW), validity_counts.by_node([]), validity_counts.by_card([])) == ({}, {}, {})
    assert validity_counts.by_card([validated.cluster_id], []) == {}
    assert validity_counts.of_cards([]) == {}
    names = [validated.node_name]
    assert list(validity_counts.by_card([validated.cluster_id], names).values()) == ["validated"]
    assert validity_counts.by_card([validated.cluster_id], ["b"]) == {}


def test_a_state_that_is_none_is_not_shown_as_one(validated: Card) -> None:
    LastResult.objects.update(good=None, good_at=None, lower_level="<b>")
    assert validity_counts.by_node([validated.cluster_id]) == {}


def test_two_results_cannot_decide(validated: Card) -> None:
    row = LastResult.objects.get()
    row.pk, row.suite = None, "cuda-nbody"
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save()


def test_a_failure_comes_before_a_proof_and_a_proof_before_what_only_ran() -> None:
    failed = Result(1, "failed", NOW, "x", NOW, "ran", NOW, False)
    good = Result(2, "passed", NOW, "x", NOW, "", None, False)
    newer = good._replace(id=3, good_at=NOW + timedelta(seconds=1))
    ran = Result(4, "passed", NOW, None, None, "ran", NOW, False)
    older = failed._replace(id=6, said_at=NOW - timedelta(seconds=1))
    seen = Result(5, "passed", NOW, None, None, "detected", NOW + timedelta(seconds=1), False)
    assert [
        deciding(some) for some in ((newer, good, failed, older), (ran, newer, good), (seen, ran), (seen,), ())
    ] == [
        1,
        3,
        4,
        5,
        None,
    ]
