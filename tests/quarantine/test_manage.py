"""What people do with cases: once, within their scope, with an audit entry; and what would be done, before it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from audit.models import Entry
from inventory.models import Cluster, DeviceTaintRule, Node
from quarantine import manage, moves
from quarantine.models import Case, How, QuarantineSwitch
from quarantine.observed import observe
from quarantine.reading import marked_nodes
from runtime.clock import database_now
from runtime.scope import Scope, seeing
from tests.quarantine.beds import fails, fleet, step
from validations.planning import Refused


@pytest.fixture
def case(cluster: Cluster) -> Case:
    fails(fleet(cluster)[0])
    step()
    return Case.objects.get()


def test_an_operator_accepts_once(case: Case) -> None:
    late = Case.objects.get()
    manage.accept(case, note="seen in the log")
    assert (case.state, case.how, case.what) == ("accepted", "taint", "node")
    entry = Entry.objects.get(action="case-accept")
    assert entry.detail["state"] == "recommended → accepted"
    assert entry.detail["note"] == "seen in the log"
    for again in (case, late):
        manage.accept(again, note="twice")
        assert (again.state, again.accepted_note) == ("accepted", "seen in the log")
    with pytest.raises(Refused, match="accepted now"):
        manage.decline(case)
    assert Entry.objects.filter(action="case-accept").count() == 1


def test_a_return_needs_a_reason(case: Case) -> None:
    manage.accept(case)
    with pytest.raises(Refused, match="reason"):
        manage.give_back(case, note="  ")


@pytest.mark.parametrize("act", [manage.accept, manage.decline, manage.plan_accept])
def test_who_does_not_see_the_whole_cluster_decides_nothing(case: Case, act: Callable[..., Any]) -> None:
    with seeing(Scope(frozenset(), frozenset({(case.cluster_id, "team-a")}))), pytest.raises(Refused, match="scope"):
        act(case)
    assert Case.objects.get().state == "recommended"


def test_the_plan_says_what_would_be_done_and_how_a_person_does_it(case: Case) -> None:
    plan = manage.plan_accept(case, how="cordon")

    assert plan.does == [f"Taint the node with gpudash.io/failed-validation={case.pk}:NoSchedule.", "Cordon the node."]
    assert plan.commands[0] == f"kubectl taint node gpu-0 gpudash.io/failed-validation={case.pk}:NoSchedule --overwrite"
    assert plan.commands[1].startswith("kubectl annotate node gpu-0 gpudash.io/out-of-service='")
    assert plan.commands[2] == "kubectl cordon gpu-0"
    assert (plan.off, plan.waits) == (True, "")
    case.refresh_from_db()
    assert (case.state, case.was) == ("recommended", {})
    assert not Entry.objects.filter(action="case-accept").exists()


def test_a_plan_and_an_acceptance_take_no_mark_that_the_cluster_does_not_have(case: Case) -> None:
    Cluster.objects.update(quarantine_how="nvsentinel")
    case.refresh_from_db()
    assert manage.hows(case) == (How.NVSENTINEL,)
    with pytest.raises(Refused, match="nvsentinel"):
        manage.accept(case, how="cordon")
    plan = manage.plan_accept(case)
    assert plan.body is not None
    assert plan.body["spec"]["nodeName"] == "gpu-0"


def test_where_gpudash_marks_nothing_the_mirror_shows_what_a_person_did(case: Case) -> None:
    manage.accept(case)
    assert observe(database_now()) == 0
    Node.objects.update(marks='[{"kind":"taint","tool":"gpudash","key":"k","case":"%s","blocks":true}]' % case.pk)  # noqa: UP031
    assert observe(database_now()) == 1
    case.refresh_from_db()
    assert case.state == "out"

    manage.give_back(case, note="replaced")
    assert observe(database_now()) == 0
    Node.objects.update(marks="")
    assert observe(database_now()) == 1
    case.refresh_from_db()
    assert (case.state, case.return_reason) == ("returned", "person")


def test_a_rule_of_a_card_that_a_person_made_is_seen_too(case: Case) -> None:
    Case.objects.update(state="accepted", how=How.DEVICE_TAINT)
    assert observe(database_now()) == 0
    columns = {"uid": "u", "name": f"gpudash-{case.pk}", "facts": "{}", "digest": 1}
    rule = DeviceTaintRule.objects.create(cluster=case.cluster, **columns)
    assert observe(database_now()) == 1
    case.refresh_from_db()
    assert case.state == "out"
    rule.delete()
    observe(database_now())
    case.refresh_from_db()
    assert (case.state, case.return_reason) == ("returned", "removed-by-hand")


def test_a_request_that_nothing_shows_can_be_returned(case: Case) -> None:
    Case.objects.update(state="accepted", how=How.NVSENTINEL)
    assert observe(database_now()) == 0
    case.refresh_from_db()
    manage.give_back(case, note="replaced")
    assert observe(database_now()) == 1
    case.refresh_from_db()
    assert case.state == "returned"


def test_the_switch_says_who_changed_what(cluster: Cluster) -> None:
    assert (manage.switch().automatic, manage.switch().changed_at) == (False, None)
    manage.change_switch(automatic=True, cap_percent=30)
    manage.change_switch(automatic=True)
    manage.reset()

    assert Entry.objects.get(action__startswith="quarantine").detail == {
        "automatic": "False → True",
        "cap_percent": "20 → 30",
    }
    with pytest.raises(Refused, match="from 1 to 100"):
        manage.change_switch(cap_percent=0)
    assert QuarantineSwitch.objects.get().cap_percent == 30


def test_marked_nodes_say_whose_marks_they_have_and_which_case_explains_them(
    case: Case, django_assert_num_queries: Any
) -> None:
    manage.accept(case)
    moves.marked(case, database_now(), None)
    ours = f'{{"kind":"taint","tool":"gpudash","key":"k","case":"{case.pk}","blocks":true}}'
    stray = '{"kind":"taint","tool":"gpudash","key":"k","case":"gone","blocks":true}'
    Node.objects.update(marks=f'[{ours},{stray},{{"kind":"cordon","tool":"kubectl","blocks":true}}]')

    with django_assert_num_queries(3):
        (found,) = marked_nodes()
    assert (found.blocked, [one.tool for one in found.marks]) == (True, ["gpudash", "gpudash", "kubectl"])
    assert (found.cases, [one.case for one in found.strays]) == ([case], ["gone"])
    with seeing(Scope()):
        assert marked_nodes() == []
