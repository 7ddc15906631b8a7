"""A node is marked, and the mark taken away, with the account's own token: nothing twice, nothing of others undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from audit.models import Entry
from inventory.marks import ANNOTATION, TAINT
from inventory.marks.read import marks
from inventory.models import Cluster, Node
from kube.client import ApiError
from quarantine import manage
from quarantine.calls import Api
from quarantine.models import Case, CaseState, Marker
from tests.cluster_quarantine.conftest import look, make_case
from tests.cluster_quarantine.people import TOOL, Person
from validations.models import Launcher

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]
NodeOf = Callable[..., Person]
UPGRADE = "nvidia.com/gpu-driver-upgrade-state"


def test_a_node_is_marked_with_its_reason_and_returned_by_a_person(real: Cluster, node: NodeOf) -> None:
    person = node(taints=[TOOL])
    case = make_case(real)

    assert look(case) == "out"
    value, why = person.ours
    assert (value, person.taint_keys(), person.cordoned) == (case.pk, {TAINT, TOOL["key"]}, False)
    assert why["cases"][0] | {"at": ""} == {
        "id": case.pk,
        "by": "ana",
        "at": "",
        "reason": case.reason,
        "run": "",
        "card": case.card_key,
        "how": "taint",
        "was": {"unschedulable": False, "taints": [TOOL]},
    }
    assert case.was == why["cases"][0]["was"]
    assert [one.case for one in marks(person.decoded()) if one.ours] == [case.pk]

    before = person.read()["metadata"]["resourceVersion"]
    assert look(case) == "out"
    assert person.read()["metadata"]["resourceVersion"] == before, "what is right is not written again"

    manage.give_back(case, note="the card was replaced")
    assert look(case) == "returned"
    assert (person.ours, person.taint_keys()) == (("", None), {TOOL["key"]})
    actions = list(Entry.objects.filter(action__startswith="case-").order_by("pk").values_list("action", flat=True))
    assert actions == ["case-mark", "case-return", "case-unmark"]


def test_a_cordon_is_ours_to_lift_only_where_we_did_it(real: Cluster, node: NodeOf) -> None:
    person = node()
    case = make_case(real, how="cordon")
    assert (look(case), person.cordoned) == ("out", True)
    manage.give_back(case, note="enough")
    assert (look(case), person.cordoned) == ("returned", False)

    person.cordon()
    second = make_case(real, how="cordon")
    assert (look(second), person.cordoned) == ("out", True)
    manage.give_back(second, note="enough")
    assert (look(second), person.cordoned, person.taint_keys()) == ("returned", True, set())


def test_two_cards_of_a_node_share_its_mark_until_the_last_returns(real: Cluster, node: NodeOf) -> None:
    person = node()
    first, second = make_case(real, card=0, how="cordon"), make_case(real, card=1, how="cordon")
    assert (look(first), second.pk in str(person.ours[1])) == ("out", True)

    manage.give_back(first, note="enough")
    assert look(first) == "returned"
    assert (person.ours[0], person.cordoned) == (second.pk, True)
    assert [one["id"] for one in person.ours[1]["cases"]] == [second.pk]

    second.refresh_from_db()
    manage.give_back(second, note="enough")
    assert (look(second), person.ours, person.cordoned) == ("returned", ("", None), False)


@pytest.mark.parametrize("how", ["taint", "cordon"])
def test_a_mark_that_a_person_removed_stays_away(real: Cluster, node: NodeOf, how: str) -> None:
    person = node()
    case = make_case(real, how=how)
    look(case)
    person.untaint(TAINT)

    assert (look(case), case.return_reason) == ("returned", "removed-by-hand")
    assert (person.ours, person.cordoned) == (("", None), False)
    assert (look(case), person.taint_keys()) == ("returned", set())


def test_a_person_who_uncordons_returns_the_node(real: Cluster, node: NodeOf) -> None:
    person = node()
    case = make_case(real, how="cordon")
    look(case)
    person.uncordon()

    assert (look(case), case.return_reason, person.taint_keys()) == ("returned", "removed-by-hand", set())


@pytest.mark.parametrize("state", ["upgrade-required", "cordon-required", "drain-required", "something-new"])
def test_nothing_is_done_while_a_driver_upgrade_is_under_way(real: Cluster, node: NodeOf, state: str) -> None:
    person = node(labels={UPGRADE: state})
    case = make_case(real)
    assert (look(case), person.taint_keys()) == ("accepted", set())
    assert state in case.waits

    person.change({"metadata": {"labels": {UPGRADE: "upgrade-done"}}})
    assert (look(case), case.waits) == ("out", "")
    person.change({"metadata": {"labels": {UPGRADE: state}}})
    manage.give_back(case, note="enough")
    assert (look(case), person.taint_keys()) == ("returning", {TAINT})
    person.change({"metadata": {"labels": {UPGRADE: "upgrade-failed"}}})
    assert (look(case), person.taint_keys()) == ("returned", set())


def test_the_uncordon_at_the_end_of_an_upgrade_is_no_persons(real: Cluster, node: NodeOf) -> None:
    person = node()
    case = make_case(real, how="cordon")
    look(case)
    person.change({"metadata": {"labels": {UPGRADE: "uncordon-required"}}})
    look(case)
    person.uncordon("gpu-operator")
    person.change({"metadata": {"labels": {UPGRADE: "upgrade-done"}}})

    assert (look(case), person.cordoned) == ("out", True)


def test_a_node_that_is_gone_or_made_anew_closes_its_case(real: Cluster, node: NodeOf, admin: Any) -> None:
    person = node()
    case, later = make_case(real), make_case(real, card=1)
    look(case)
    person.create([], {})
    assert (look(case), case.return_reason, person.taint_keys()) == ("returned", "node-replaced", set())
    later.refresh_from_db()
    assert later.state == CaseState.RETURNED

    third = make_case(real)
    assert look(third) == "out"
    admin.call("DELETE", person.path, {})
    assert (look(third), third.return_reason) == ("returned", "node-removed")


def test_who_writes_to_the_node_meanwhile_is_not_undone(
    real: Cluster, node: NodeOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = node()
    case = make_case(real)
    patch, refused = Api.patch_node, []

    def late(self: Api, name: str, change: Any) -> None:
        if not refused:
            person.taint()
        try:
            patch(self, name, change)
        except ApiError as error:
            refused.append(error.status)
            raise

    monkeypatch.setattr(Api, "patch_node", late)
    assert look(case) == "out"
    assert (refused, person.taint_keys()) == ([409], {TAINT, TOOL["key"]})
    assert case.was["taints"] == [TOOL], "what stood there is what was read last"


def test_a_mark_of_a_case_that_is_in_no_row_is_left_to_a_person(real: Cluster, node: NodeOf) -> None:
    person = node()
    person.change({"metadata": {"annotations": {ANNOTATION: '{"cases":[{"id":"elsewhere"}]}'}}})
    person.taint({"key": TAINT, "value": "elsewhere", "effect": "NoSchedule"})
    case = make_case(real)

    assert (look(case), person.ours[0]) == ("accepted", "elsewhere")
    assert "elsewhere" in case.waits


def test_a_mark_whose_case_is_over_is_taken_away(real: Cluster, node: NodeOf) -> None:
    """As after a kill, or with a backup that was put back."""
    person = node()
    case = make_case(real)
    look(case)
    Case.objects.filter(pk=case.pk).update(state=CaseState.RETURNED)
    assert (look(case), person.taint_keys()) == ("returned", {TAINT}), "the mirror does not show it yet"
    Node.objects.update(marks=msgspec.json.encode(marks(person.decoded())).decode())

    assert (look(case), person.ours) == ("returned", ("", None))


def test_a_copy_of_the_database_marks_nothing(real: Cluster, node: NodeOf) -> None:
    person = node()
    Launcher.objects.create(cluster=real, lock_state="other", lock_holder="db-2")
    case = make_case(real)

    assert (look(case), person.taint_keys()) == ("accepted", set())
    assert "db-2" in Marker.objects.get().error
