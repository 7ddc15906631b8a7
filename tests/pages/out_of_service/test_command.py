"""`gpudash out-of-service`: what the pages do, on the command line."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from audit.models import Entry
from inventory.models import Cluster
from quarantine.models import Case, CaseState, QuarantineSwitch
from tests.factories import make_node
from tests.factories.quarantine import CORDON, make_case, mark_node


@pytest.fixture
def fleet(cluster: Cluster) -> Cluster:
    make_node(cluster, "node-0", "nvidia", 2)
    Cluster.objects.update(quarantine_kubeconfig="/etc/gpudash/quarantine")
    return cluster


def said(*words: str) -> str:
    out = io.StringIO()
    call_command("out_of_service", *words, stdout=out)
    return out.getvalue()


def told(*words: str) -> Any:
    return json.loads(said(*words, "-o", "json"))


def test_a_case_from_its_dry_run_to_its_return(fleet: Cluster) -> None:
    case = make_case(fleet, "node-0")
    assert said("list").startswith(f"{case.pk}  recommended  prod/node-0 card")
    assert [one["id"] for one in told("list", "--cluster", "prod")] == [case.pk]
    assert told("list", "--cluster", "other") == []
    plan = told("accept", case.pk, "--dry-run")
    assert plan["body"]["spec"]["taints"][-1]["key"] == "gpudash.io/failed-validation"
    assert f"  kubectl taint node node-0 gpudash.io/failed-validation={case.pk}:NoSchedule" in said(
        "accept", case.pk, "--dry-run"
    )
    assert Case.objects.get().state == CaseState.RECOMMENDED
    assert said("accept", case.pk, "--note", "slow") == f"{case.pk}: accepted\n"
    assert told("accept", case.pk)["state"] == "accepted"
    assert Entry.objects.filter(action="case-accept").count() == 1
    with pytest.raises(CommandError, match="Enter a reason"):
        said("return", case.pk)
    assert told("return", case.pk, "--note", "new card")["state"] == "returning"
    with pytest.raises(CommandError, match="The case is returning now"):
        said("decline", case.pk)
    Case.objects.update(state=CaseState.RETURNED)
    assert told("list") == []
    assert [one["return_reason"] for one in told("list", "--all")] == ["person"]


def test_a_recommendation_is_declined(fleet: Cluster) -> None:
    case = make_case(fleet, "node-0")
    assert said("decline", case.pk) == f"{case.pk}: declined\n"
    with pytest.raises(CommandError, match="There is no case '0nope'"):
        said("decline", "0nope")


def test_without_a_credential_the_commands_are_printed(fleet: Cluster) -> None:
    Cluster.objects.update(quarantine_kubeconfig="")
    case = make_case(fleet, "node-0")
    text = said("accept", case.pk, "--dry-run", "--how", "cordon")
    assert "gpudash has no permission to mark nodes in this cluster. Run:\n  kubectl taint" in text
    assert "  kubectl cordon node-0\n" in text


def test_marked_nodes(fleet: Cluster) -> None:
    mark_node(fleet, "node-0", CORDON)
    assert said("marks") == "prod/node-0  kubectl: cordon\n"
    [found] = told("marks")
    assert (found["out"], found["marks"][0]["tool"]) == (True, "kubectl")


def test_the_switch_and_its_reset(fleet: Cluster) -> None:
    assert said("switch") == "automatic: off, cap: 20%\n"
    assert told("switch", "on", "--cap", "30") == {
        "automatic": True,
        "cap_percent": 30,
        "tripped_at": None,
        "tripped_reason": None,
    }
    with pytest.raises(CommandError, match="1 to 100"):
        said("switch", "--cap", "0")
    QuarantineSwitch.objects.update(tripped_at="2026-11-22T10:00:00Z", tripped_reason="3 of 8 nodes are out.")
    assert "Stopped 2026-11-22 10:00 UTC: 3 of 8 nodes are out." in said("switch")
    assert told("reset")["tripped_at"] is None
