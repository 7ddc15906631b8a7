"""A person, another tool and gpudash mark one node and take their marks away, in every order: each undoes its own only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import permutations

import pytest
from django.utils import timezone

from inventory.marks import TAINT
from inventory.models import Cluster
from quarantine import manage
from quarantine.models import Case, ReturnReason
from tests.cluster_quarantine.conftest import look, make_case
from tests.cluster_quarantine.people import TOOL, Person

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]
ACTORS = ("person", "tool", "gpudash")
ORDERS = tuple(permutations(ACTORS))


class Stage:
    """person: cordons. tool: taints. What must be on the node is what those have put there who are still there."""

    def __init__(self, cluster: Cluster, person: Person, how: str) -> None:
        self.cluster, self.person, self.how = cluster, person, how
        self.case: Case | None = None

    def mark(self, actor: str) -> None:
        if actor == "person":
            self.person.cordon()
        elif actor == "tool":
            self.person.taint()
        else:
            self.case = make_case(self.cluster, how=self.how)
            assert look(self.case) == "out"

    def unmark(self, actor: str) -> None:
        if actor == "person":
            self.person.uncordon()
        elif actor == "tool":
            self.person.untaint()
        elif self.case is not None and self.case.open:
            manage.give_back(self.case, note="enough")
            assert look(self.case) == "returned"
        if self.case is not None:
            look(self.case)


@pytest.mark.parametrize("unmarking", ORDERS, ids="-".join)
@pytest.mark.parametrize("marking", ORDERS, ids="-".join)
def test_a_taint_of_ours_leaves_all_others_as_they_are(
    marking: tuple[str, ...], unmarking: tuple[str, ...], real: Cluster, node: Callable[..., Person]
) -> None:
    person = node()
    stage = Stage(real, person, "taint")
    for actor in marking:
        stage.mark(actor)
    there = set(ACTORS)
    for actor in unmarking:
        stage.unmark(actor)
        there.discard(actor)
        expected = {TAINT for one in there if one == "gpudash"} | {TOOL["key"] for one in there if one == "tool"}
        assert (person.taint_keys(), person.cordoned) == (expected, "person" in there), actor


@pytest.mark.parametrize("unmarking", ORDERS, ids="-".join)
@pytest.mark.parametrize("marking", ORDERS, ids="-".join)
def test_a_cordon_of_ours_is_lifted_by_us_alone_and_theirs_never(
    marking: tuple[str, ...], unmarking: tuple[str, ...], real: Cluster, node: Callable[..., Person]
) -> None:
    """A cordon is one bit: who cordons a cordoned node changes nothing, and who uncordons it lifts it for all."""
    person = node()
    stage = Stage(real, person, "cordon")
    first = min(("person", "gpudash"), key=marking.index)
    for actor in marking:
        stage.mark(actor)
    for actor in unmarking:
        stage.unmark(actor)
        before_us = unmarking.index("person") < unmarking.index("gpudash")
        lifted = unmarking[: unmarking.index(actor) + 1]
        if first == "gpudash":
            assert person.cordoned is not bool({"person", "gpudash"} & set(lifted))
        else:
            assert person.cordoned is ("person" not in lifted)
        assert (TOOL["key"] in person.taint_keys()) is ("tool" not in lifted)
    assert stage.case is not None
    by_hand = first == "gpudash" and before_us
    assert stage.case.return_reason == (ReturnReason.BY_HAND if by_hand else ReturnReason.PERSON)
    assert person.taint_keys() == set()


@pytest.mark.parametrize(
    ("after", "stays"), [(timedelta(), True), (timedelta(days=-1), False)], ids=("new", "leftover")
)
def test_a_cordon_that_another_tool_claims_since_stays(
    after: timedelta, stays: bool, real: Cluster, node: Callable[..., Person]
) -> None:
    person = node()
    stage = Stage(real, person, "cordon")
    stage.mark("gpudash")
    prefix = "k8saas.nvidia.com/cordon"
    stamp = f"{timezone.now() + after:%Y-%m-%dT%H-%M-%SZ}"
    person.cordon("fault-quarantine", {f"{prefix}-by": "NVSentinel", f"{prefix}-timestamp": stamp})
    stage.unmark("gpudash")

    assert (person.cordoned, person.taint_keys()) == (stays, set())


def test_a_cordon_that_was_lifted_and_set_again_by_a_person_stays(real: Cluster, node: Callable[..., Person]) -> None:
    person = node()
    stage = Stage(real, person, "cordon")
    stage.mark("gpudash")
    person.uncordon()
    person.cordon()
    stage.unmark("gpudash")

    assert (person.cordoned, person.taint_keys()) == (True, set())
