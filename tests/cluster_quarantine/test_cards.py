"""One card by a device taint rule, on the versions that the server serves; the account's own token, and what its policy refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from inventory.models import Cluster, ResourceSlice
from quarantine import manage
from quarantine.models import Case, How
from tests.cluster_quarantine.conftest import look
from tests.cluster_quarantine.people import Person
from tests.controlplane import claims
from tests.controlplane.admin import MERGE, Admin, Refused
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import Json

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]
UUID = "GPU-gpu-1-0"


@pytest.fixture(params=["v1beta2", "v1alpha3"])
def rules(request: pytest.FixtureRequest, plane: ControlPlane, account: Path) -> Iterator[str]:
    """Where this server has its rules, in this version alone."""
    plane.serve(f"resource.k8s.io/{request.param}=true", gates="DRADeviceTaintRules=true")
    yield f"/apis/resource.k8s.io/{request.param}/devicetaintrules"
    plane.serve()


@pytest.fixture
def case(real: Cluster, node: Callable[..., Person], admin: Admin) -> Iterator[Case]:
    """Of the first of two cards, that was accepted just now."""
    node()
    publish(admin, ("gpu-0", 0), ("gpu-1", 1))
    at = timezone.now()
    yield Case.objects.create(
        cluster=real,
        node_name="gpu-1",
        card_key=UUID,
        card_uuid=UUID,
        state="accepted",
        state_since=at,
        accepted_at=at,
        accepted_by_name="ana",
        how=How.DEVICE_TAINT,
        what="card",
        suite="nvidia-smi",
        reason="nvidia-smi failed 2 times on this card.",
    )
    admin.call("DELETE", "/apis/resource.k8s.io/v1/resourceslices", {})


def publish(admin: Admin, *named: tuple[str, int]) -> None:
    """named: (name of the device, number of the card in its UUID)."""
    devices = [{**claims.card(number, "gpu-1"), "name": name} for name, number in named]
    made = claims.resource_slice("gpu-1", devices)
    try:
        admin.create(made)
    except Refused:
        admin.patch(made, {"spec": {"devices": devices}})


def rule_of(admin: Admin, rules: str, case: Case) -> Json | None:
    try:
        return admin.call("GET", f"{rules}/gpudash-{case.pk}")
    except Refused as refused:
        assert refused.status == 404  # noqa: PT017
        return None


def answer(admin: Admin, rules: str, case: Case, message: str) -> None:
    """As the controller of the server does, which does not run here."""
    condition = {
        "type": "EvictionInProgress",
        "status": "False",
        "reason": "NotStarted",
        "message": message,
        "lastTransitionTime": "2026-11-26T10:00:00Z",
    }
    admin.call("PATCH", f"{rules}/gpudash-{case.pk}/status", {"status": {"conditions": [condition]}}, MERGE)


def out(admin: Admin, rules: str, case: Case) -> None:
    assert look(case) == "accepted"
    if (rule := rule_of(admin, rules, case)) is not None and rule["spec"]["taint"]["effect"] == "None":
        answer(admin, rules, case, "1 pod would be evicted")
        assert look(case) == "accepted"
    assert look(case) == "out"


def test_a_card_is_tried_dry_then_taken_out_and_returned(case: Case, rules: str, admin: Admin) -> None:
    assert look(case) == "accepted"
    rule = rule_of(admin, rules, case)
    assert rule is not None
    if rule["spec"]["taint"]["effect"] == "None":
        assert look(case) == "accepted"
        assert "dry run" in case.waits
        answer(admin, rules, case, "1 pod in 1 namespace would be evicted")
        look(case)
        assert case.dry_run == "1 pod in 1 namespace would be evicted"
    assert look(case) == "out"
    rule = rule_of(admin, rules, case)
    assert rule is not None
    assert rule["spec"]["deviceSelector"] == {"driver": claims.DRIVER, "pool": "gpu-1", "device": "gpu-0"}
    assert (rule["spec"]["taint"]["effect"], rule["spec"]["taint"]["value"]) == ("NoSchedule", case.pk)
    assert look(case) == "out"

    manage.give_back(case, note="replaced")
    assert (look(case), rule_of(admin, rules, case)) == ("returned", None)


def test_a_rule_that_a_person_deleted_stays_away(case: Case, rules: str, admin: Admin) -> None:
    out(admin, rules, case)
    admin.call("DELETE", f"{rules}/gpudash-{case.pk}", {})

    assert (look(case), case.return_reason) == ("returning", "removed-by-hand")
    assert (look(case), rule_of(admin, rules, case)) == ("returned", None)


def test_a_device_that_means_another_card_now_is_let_go_and_the_card_is_found_again(
    case: Case, rules: str, admin: Admin
) -> None:
    out(admin, rules, case)
    publish(admin, ("gpu-0", 1), ("gpu-1", 0))
    assert look(case) == "accepted"
    assert rule_of(admin, rules, case) is None
    out(admin, rules, case)

    rule = rule_of(admin, rules, case)
    assert rule is not None
    assert rule["spec"]["deviceSelector"]["device"] == "gpu-1"


def test_a_card_that_no_driver_offers_now_keeps_its_rule(case: Case, rules: str, admin: Admin) -> None:
    out(admin, rules, case)
    publish(admin, ("gpu-1", 1))

    assert look(case) == "out"
    assert UUID in case.waits
    assert rule_of(admin, rules, case) is not None


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"name": "other"}, "its own"),
        ({"selector": {}}, "names one device"),
        ({"taint": {"key": "example.com/x", "effect": "NoSchedule"}}, "evicts nothing"),
        ({"taint": {"key": "gpudash.io/failed-validation", "effect": "NoExecute"}}, "evicts nothing"),
    ],
    ids=("name", "selector", "key", "effect"),
)
def test_the_policy_refuses_every_other_rule(rules: str, account: Path, changed: Any, words: str) -> None:
    selector = {"driver": "d", "pool": "p", "device": "x"}
    rule = {
        "apiVersion": f"resource.k8s.io/{rules.split('/')[3]}",
        "kind": "DeviceTaintRule",
        "metadata": {"name": changed.get("name", "gpudash-1"), "labels": {"gpudash.io/case": "1"}},
        "spec": {
            "deviceSelector": changed.get("selector", selector),
            "taint": changed.get(
                "taint", {"key": "gpudash.io/failed-validation", "value": "1", "effect": "NoSchedule"}
            ),
        },
    }
    with pytest.raises(Refused, match=words):
        Admin(account).call("POST", rules, rule)


def test_a_card_of_a_driver_is_taken_out_alone_where_the_mirror_knows_its_device(real: Cluster) -> None:
    assert not ResourceSlice.objects.exists()
    case = Case(cluster=real, node_name="gpu-1", card_uuid=UUID)
    assert manage.hows(case) == ("taint", "cordon")


def test_a_cluster_without_rules_says_so(case: Case) -> None:
    assert (look(case), case.waits) == ("accepted", "The cluster has no device taint rules (resource.k8s.io).")
