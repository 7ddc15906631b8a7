"""Results of other tools under a policy: they count only where it says so, a pass as one of ours, a failure as a reason to test."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.models import Card, Cluster, Node
from runtime.clock import database_now
from tests.validations.policies.test_evaluate import DAY, first, fleet, kept, passed, policy, rows, states
from validations.imported import Report, receive
from validations.models import ImportedStatement, LastResult, Policy, PolicyCard, Run
from validations.policies.evaluate import evaluate

__all__ = ["fleet", "rows"]
pytestmark = pytest.mark.django_db


def report(verdict: str = "passed", card: Card | None = None, level: str = "checked") -> None:
    """Another tool's result of the policy's suite, now."""
    one = card or first()
    outcome = "" if verdict == "passed" else '<failure message="x"/>'
    case = f'<testcase name="x"><properties><property name="uuid" value="{one.uuid or one.key}"/></properties>{outcome}</testcase>'
    text = f'<testsuite name="cuda-vectoradd" hostname="{one.node_name}">{case}</testsuite>'
    receive(Report(format="junit", content=text.encode(), cluster=one.cluster.name))
    # JUnit does not say what was checked, and these cards have no UUID.
    newest = ImportedStatement.objects.filter(of_card=True).latest("id")
    newest.level, newest.card_key, newest.node_name = level if verdict == "passed" else "", one.key, one.node_name
    newest.save()


def without_own() -> None:
    LastResult.objects.all().delete()
    Run.objects.all().delete()


def test_a_reported_pass_counts_only_where_the_policy_says_so(fleet: Cluster) -> None:
    without_own()
    report()
    evaluate(policy(), database_now())
    assert states()[0] == "due never-validated"
    Policy.objects.all().delete()
    made = policy(counts_imported=True)
    evaluate(made, database_now())
    assert states() == ["valid", *["due never-validated"] * 3]
    [row] = PolicyCard.objects.filter(state="valid")
    assert row.run is None
    assert row.valid_until == ImportedStatement.objects.latest("id").tested_at + timedelta(seconds=made.max_age_s)
    assert not LastResult.objects.exists()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"driver_version": "580.2"}, "due driver-changed"),
        ({"boot_id": "other"}, "due rebooted"),
        ({"machine_id": "other"}, "due machine-replaced"),
    ],
)
def test_a_change_of_the_node_voids_a_reported_pass(fleet: Cluster, change: dict[str, str], expected: str) -> None:
    without_own()
    report()
    made = policy(counts_imported=True)
    evaluate(made, database_now())
    Node.objects.update(**change)
    evaluate(made, database_now())
    assert states()[0] == expected


def test_a_pass_of_a_lower_level_does_not_count(fleet: Cluster) -> None:
    without_own()
    report(level="ran")
    evaluate(policy(counts_imported=True), database_now())
    assert states()[0] == "due never-validated"


def test_a_reported_failure_makes_a_valid_card_due_and_fails_none(fleet: Cluster) -> None:
    made, now = policy(counts_imported=True), database_now()
    evaluate(made, now)
    assert set(states()) == {"valid"}
    report("failed")
    evaluate(made, now + timedelta(seconds=1))
    assert states() == ["due reported-failed", *["valid"] * 3]
    # Our own test afterwards decides.
    passed(first(), timedelta(seconds=-2))
    evaluate(made, now + timedelta(seconds=3))
    assert set(states()) == {"valid"}


def test_a_report_that_comes_late_does_not_hide_a_later_test(fleet: Cluster) -> None:
    without_own()
    report("failed")
    report()
    late = ImportedStatement.objects.filter(of_card=True).latest("id")
    for before in (timedelta(hours=1), timedelta(0)):
        failed_at = ImportedStatement.objects.get(of_card=True, verdict="failed").tested_at
        ImportedStatement.objects.filter(pk=late.pk).update(tested_at=failed_at - before)
        Policy.objects.all().delete()
        evaluate(policy(counts_imported=True), database_now())
        assert states()[0] == "due reported-failed"


@pytest.mark.parametrize("outcome", ['<failure message="x"/>', '<error message="x"/>'])
@pytest.mark.parametrize("bad", [0, 1])
def test_a_part_that_passed_is_no_pass_of_a_test_that_did_not(fleet: Cluster, outcome: str, bad: int) -> None:
    without_own()
    card = first()
    Card.objects.filter(pk=card.pk).update(uuid="GPU-00000000-0000-4000-8000-000000000001")
    cases = "".join(
        f'<testcase name="GPU-00000000-0000-4000-8000-000000000001">{outcome if part == bad else ""}</testcase>'
        for part in range(2)
    )
    text = f'<testsuite name="cuda-vectoradd" hostname="{card.node_name}">{cases}</testsuite>'
    receive(Report(format="junit", content=text.encode(), cluster=card.cluster.name))
    assert ImportedStatement.objects.filter(card_key=card.key).count() == 2
    ImportedStatement.objects.filter(verdict="passed").update(level="checked")
    evaluate(policy(counts_imported=True), database_now())
    assert states()[0] == ("due reported-failed" if "failure" in outcome else "due never-validated")


def test_a_reported_failure_is_nothing_to_a_policy_that_does_not_count_it(fleet: Cluster) -> None:
    report("failed")
    evaluate(policy(), database_now())
    assert set(states()) == {"valid"}


def test_a_reported_pass_takes_no_failure_of_ours_back(fleet: Cluster) -> None:
    passed(first(), timedelta(hours=1), "failed")
    report()
    evaluate(policy(counts_imported=True), database_now())
    assert states()[0] == "failed failed-once"


def test_a_reported_pass_expires_with_its_age(fleet: Cluster) -> None:
    without_own()
    report()
    made = policy(counts_imported=True, max_age_s=2 * 86_400)
    evaluate(made, database_now())
    evaluate(made, database_now() + 3 * DAY)
    assert states()[0] == "due never-validated"


def test_it_costs_no_query_more_and_nothing_is_written_where_nothing_changed(fleet: Cluster) -> None:
    counts = []
    for counting in (False, True):
        Policy.objects.all().delete()
        made = policy(counts_imported=counting)
        evaluate(made, database_now())
        with CaptureQueriesContext(connection) as found:
            assert evaluate(made, database_now() + timedelta(seconds=1)) == 0
        counts.append(len(found))
    assert counts[0] == counts[1]
    assert len(kept()) == 4
