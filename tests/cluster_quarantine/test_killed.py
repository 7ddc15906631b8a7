"""kill -9 at each point of a pass: no mark without a row, no row without its mark, nothing twice."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from audit.models import Entry
from inventory.marks import TAINT
from inventory.models import Cluster
from quarantine import manage
from quarantine.models import Marker
from tests.cluster_quarantine.conftest import look, make_case
from tests.cluster_quarantine.killed import DIED
from tests.cluster_quarantine.people import TOOL, Person
from tests.processes import Processes

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]
POINTS = (("before", "patch_node"), ("after", "patch_node"))


@pytest.fixture
def kill(real: Cluster, processes: Processes) -> Callable[[str, str], None]:
    def die(moment: str, name: str) -> None:
        with pytest.raises(subprocess.CalledProcessError) as died:
            processes.python("-m", "tests.cluster_quarantine.killed", str(real.pk), moment, name)
        assert died.value.returncode == DIED, (processes.folder / "python.log").read_text()
        Marker.objects.update(expires_at=None)  # what the lease of the dead process waits for

    return die


@pytest.mark.parametrize("how", ["taint", "cordon"])
@pytest.mark.parametrize(("moment", "name"), [*POINTS, ("before", "marked"), ("after", "marked")])
def test_a_kill_while_a_node_is_marked(
    real: Cluster, node: Callable[..., Person], kill: Callable[[str, str], None], moment: str, name: str, how: str
) -> None:
    person = node(taints=[TOOL])
    case = make_case(real, how=how)
    kill(moment, name)

    assert (TAINT in person.taint_keys()) is ((moment, name) != ("before", "patch_node"))
    case.refresh_from_db()
    assert case.state == ("out" if (moment, name) == ("after", "marked") else "accepted")
    assert case.was == {"unschedulable": False, "taints": [TOOL]}, "before the mark"

    assert look(case) == "out"
    assert (person.ours[0], person.cordoned) == (case.pk, how == "cordon")
    assert case.was == {"unschedulable": False, "taints": [TOOL]}, "as it was before, not as it is with our mark"
    assert Entry.objects.filter(action="case-mark").count() == 1

    manage.give_back(case, note="enough")
    assert (look(case), person.taint_keys(), person.cordoned) == ("returned", {TOOL["key"]}, False)


@pytest.mark.parametrize("how", ["taint", "cordon"])
@pytest.mark.parametrize(("moment", "name"), [*POINTS, ("before", "returned"), ("after", "returned")])
def test_a_kill_while_a_mark_is_taken_away(
    real: Cluster, node: Callable[..., Person], kill: Callable[[str, str], None], moment: str, name: str, how: str
) -> None:
    person = node(taints=[TOOL])
    case = make_case(real, how=how)
    look(case)
    manage.give_back(case, note="enough")
    kill(moment, name)

    there = (moment, name) == ("before", "patch_node")
    assert (TAINT in person.taint_keys(), person.cordoned) == (there, there and how == "cordon")
    assert look(case) == "returned"
    assert (person.ours, person.taint_keys(), person.cordoned) == (("", None), {TOOL["key"]}, False)
    assert case.return_reason == "person"
    assert Entry.objects.filter(action="case-unmark").count() == 1


def test_a_person_who_cordons_between_the_kill_and_the_next_pass_keeps_the_cordon(
    real: Cluster, node: Callable[..., Person], kill: Callable[[str, str], None]
) -> None:
    person = node()
    case = make_case(real, how="cordon")
    kill("before", "patch_node")
    person.cordon()
    assert look(case) == "out"
    assert case.was["unschedulable"] is True
    manage.give_back(case, note="enough")

    assert (look(case), person.cordoned, person.taint_keys()) == ("returned", True, set())
