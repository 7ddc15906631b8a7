"""One case: its history; what would be done; accept, keep, return."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from accounts.roles import Role
from audit.models import Entry
from inventory.models import Cluster
from quarantine.models import Case, CaseState
from runtime.clock import database_now
from tests.cast import make_user, signed_in
from tests.factories import make_cluster, make_node
from tests.factories.quarantine import CORDON, make_case, mark_node, our_mark
from tests.pages.reading import get, read
from tests.scopes.world import scoped_user


@pytest.fixture
def operator(db: None) -> Client:
    return signed_in(make_user("olga", Role.OPERATOR))


@pytest.fixture
def marked(cluster: Cluster) -> Cluster:
    make_node(cluster, "node-0", "nvidia", 2)
    make_node(cluster, "node-1", "nvidia", 2)
    Cluster.objects.update(quarantine_kubeconfig="/etc/gpudash/quarantine")
    return cluster


def out_case(cluster: Cluster) -> Case:
    at = database_now() - timedelta(hours=3)
    told = {"accepted_at": at, "accepted_by_name": "olga", "accepted_note": "too slow", "marked_at": at}
    case = make_case(cluster, "node-0", CaseState.OUT, was={"unschedulable": True, "taints": []}, **told)
    mark_node(cluster, "node-0", our_mark(case))
    return case


def test_a_recommendation_is_accepted_after_what_it_does_was_shown(operator: Client, marked: Cluster) -> None:
    case = make_case(marked, "node-0")
    page = get(operator, f"/out-of-service/{case.pk}/accept")
    assert f"Taint the node with gpudash.io/failed-validation={case.pk}:NoSchedule." in page.text
    assert "kubectl taint node node-0" in page.text
    assert "0 of 2 nodes out · policies stop at 1 (20%)" in page.text
    assert "Running pods stay." in page.text
    case.refresh_from_db()
    assert case.state == CaseState.RECOMMENDED
    answer = operator.post(f"/out-of-service/{case.pk}/accept", {"note": "slow", "how": "taint"})
    assert answer.headers["Location"] == f"/out-of-service/{case.pk}"
    case.refresh_from_db()
    assert (case.state, case.accepted_by_name, case.accepted_note, case.how) == ("accepted", "olga", "slow", "taint")
    assert Entry.objects.filter(action="case-accept").exists()
    page = read(operator.post(f"/out-of-service/{case.pk}/accept", follow=True))
    assert "The case is accepted now." in page.text


def test_another_mark_can_be_chosen(operator: Client, marked: Cluster) -> None:
    case = make_case(marked, "node-0")
    page = get(operator, f"/out-of-service/{case.pk}/accept?how=cordon")
    assert "Cordon the node." in page.text
    assert get(operator, f"/out-of-service/{case.pk}/accept?how=axe", status=400)


def test_without_a_credential_the_commands_stand_there(operator: Client, marked: Cluster) -> None:
    Cluster.objects.update(quarantine_kubeconfig="")
    case = make_case(marked, "node-0")
    assert "Commands…" in get(operator, "/out-of-service").text
    page = get(operator, f"/out-of-service/{case.pk}/accept")
    assert "gpudash has no permission to mark nodes here." in page.text
    assert "kubectl taint node node-0" in page.text


def test_it_is_kept_in_service(operator: Client, marked: Cluster) -> None:
    case = make_case(marked, "node-0")
    assert "The same run is not recommended again." in get(operator, f"/out-of-service/{case.pk}/decline").text
    operator.post(f"/out-of-service/{case.pk}/decline", {"note": "known"})
    case.refresh_from_db()
    assert (case.state, case.declined_note) == ("declined", "known")
    page = get(operator, f"/out-of-service/{case.pk}")
    assert [row[0] for row in page.tables["History"]] == ["Recommended", "Kept in service"]


def test_the_history_of_a_case(operator: Client, viewer: Client, marked: Cluster) -> None:
    case = out_case(marked)
    page = get(viewer, f"/out-of-service/{case.pk}")
    assert [row[0] for row in page.tables["History"]] == ["Recommended", "Accepted", "Marked"]
    assert "too slow" in page.text
    assert "Before cordoned" in page.text
    assert "▶ Pass" in page.text
    assert "The node does not have the mark now." not in page.text
    mark_node(marked, "node-0", CORDON)
    page = get(viewer, f"/out-of-service/{case.pk}")
    assert "The node does not have the mark now." in page.text
    assert "kubectl cordon" in page.text
    assert get(viewer, "/out-of-service/0nothing", status=404)


def test_it_is_returned_with_a_reason(operator: Client, marked: Cluster) -> None:
    case = out_case(marked)
    assert "Remove the mark of this case." in get(operator, f"/out-of-service/{case.pk}/return").text
    answer = operator.post(f"/out-of-service/{case.pk}/return", {"note": " "})
    assert answer.status_code == 400
    assert "Enter a reason." in read(answer).text
    operator.post(f"/out-of-service/{case.pk}/return", {"note": "new card"})
    case.refresh_from_db()
    assert (case.state, case.return_reason, case.returned_note) == ("returning", "person", "new card")


def test_who_may_not_act(viewer: Client, marked: Cluster) -> None:
    case = make_case(marked, "node-0")
    elsewhere = signed_in(scoped_user("olaf", "other", role=Role.OPERATOR))
    make_cluster("other")
    for act in ("accept", "decline", "return"):
        assert viewer.get(f"/out-of-service/{case.pk}/{act}").status_code == 403
        assert viewer.post(f"/out-of-service/{case.pk}/{act}").status_code == 403
        assert elsewhere.post(f"/out-of-service/{case.pk}/{act}").status_code == 404
    of_namespace = signed_in(scoped_user("nora", "prod/team-a", role=Role.OPERATOR))
    assert of_namespace.post(f"/out-of-service/{case.pk}/accept").status_code == 403
    case.refresh_from_db()
    assert case.state == CaseState.RECOMMENDED
