"""A policy acts by itself only where an administrator allows it, in room that counts whoever is out, until the breaker trips."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from audit.models import Entry
from inventory.models import Card, Cluster, Node, NodeTotals, Watch
from quarantine import manage
from quarantine.automatic import room_for
from quarantine.models import Case, QuarantineSwitch
from tests.quarantine.beds import fails, fleet, policy_that_takes_out, step
from validations.models import Policy, PolicySwitch
from validations.policies import manage as policies
from validations.policies.manage import draft_of


@pytest.fixture
def cards(cluster: Cluster) -> list[Card]:
    """Ten nodes of one pool, none out; gpudash may mark them."""
    Cluster.objects.update(quarantine_kubeconfig="/etc/gpudash/quarantine/c")
    found = fleet(cluster, nodes=10)
    NodeTotals.objects.update(pool="A100")
    return found


def bad(card: Card) -> None:
    policy_that_takes_out(card, fails(card))


def states() -> list[str]:
    return [state for _, state, _ in step()]


def allow(**more: Any) -> QuarantineSwitch:
    return manage.change_switch(automatic=True, **more)


def test_it_takes_out_what_its_policy_confirmed_and_says_for_whom(cards: list[Card]) -> None:
    allow()
    bad(cards[0])

    assert states() == ["accepted"]
    case = Case.objects.get()
    assert (case.automatic, case.accepted_by_name) == (True, "")
    entry = Entry.objects.get(action="case-accept")
    assert (entry.kind, entry.detail["policy"], entry.detail["out"]) == ("process", "all", "0 of 10")


def test_a_policy_that_confirms_after_the_recommendation_acts_too(cards: list[Card]) -> None:
    allow()
    run = fails(cards[0])
    assert states() == ["recommended"]
    policy = policy_that_takes_out(cards[0], run)

    assert states() == ["accepted"]
    case = Case.objects.get()
    assert (case.policy, "the policy all" in case.said_reason) == (policy, True)


@pytest.mark.parametrize(
    "missing",
    ["switch", "policy", "credentials", "paused policy", "all paused", "pool", "two failures only", "fresh data"],
)
def test_it_does_nothing_where_one_of_these_is_missing(cards: list[Card], missing: str) -> None:
    allow()
    bad(cards[0])
    if missing == "switch":
        manage.change_switch(automatic=False)
    elif missing == "policy":
        policies.take_out(Policy.objects.get(), False)
    elif missing == "credentials":
        Cluster.objects.update(quarantine_kubeconfig="")
    elif missing == "paused policy":
        policies.pause(Policy.objects.get(), True)
    elif missing == "all paused":
        PolicySwitch.objects.create(paused=True)
    elif missing == "pool":
        NodeTotals.objects.update(pool="")
    elif missing == "fresh data":
        Watch.objects.update(state="refused", reason="401")
    else:
        Policy.objects.all().delete()

    assert states() == ["recommended"]
    assert not Entry.objects.filter(action="case-accept").exists()


def cordoned(node: str) -> None:
    Node.objects.filter(name=node).update(unschedulable=True)


def tainted(node: str) -> None:
    Node.objects.filter(name=node).update(marks='[{"kind":"taint","key":"example.com/x","blocks":true}]')


def unready(node: str) -> None:
    Node.objects.filter(name=node).update(ready=None)


@pytest.mark.parametrize("out", [cordoned, tainted, unready])
def test_the_cap_counts_whoever_is_out(cards: list[Card], out: Any) -> None:
    allow()
    out("gpu-8")
    out("gpu-9")
    bad(cards[0])

    assert states() == ["recommended"]
    switch = QuarantineSwitch.objects.get()
    assert switch.tripped_at is not None
    assert "2 of 10 nodes of the pool A100" in switch.said_tripped
    assert list(Entry.objects.filter(action__startswith="quarantine-").values_list("action", flat=True)) == [
        "quarantine-change",
        "quarantine-trip",
    ]


def test_two_of_ten_may_be_out_and_the_third_trips_the_breaker_until_a_person_resets_it(cards: list[Card]) -> None:
    allow()
    for card in cards[:3]:
        bad(card)
    assert states() == ["accepted", "accepted", "recommended"]
    assert states() == ["accepted", "accepted", "recommended"]

    Case.objects.filter(state="accepted").update(state="returned")
    assert states()[2] == "recommended", "it does not go on by itself"
    manage.reset()
    assert states()[2] == "accepted"
    assert Entry.objects.filter(action="quarantine-reset").count() == 1


def test_a_node_that_is_out_already_uses_no_room(cards: list[Card]) -> None:
    allow()
    cordoned("gpu-8")
    cordoned("gpu-0")
    bad(cards[0])

    assert states() == ["accepted"]


def test_one_node_of_a_small_pool_may_be_out(cards: list[Card]) -> None:
    NodeTotals.objects.exclude(node_name__in=("gpu-0", "gpu-1")).update(pool="other")
    allow()
    bad(cards[0])
    bad(cards[1])

    assert states() == ["accepted", "recommended"]


def test_the_cap_is_of_the_installation(cards: list[Card]) -> None:
    allow(cap_percent=40)
    for card in cards[:5]:
        bad(card)

    assert states() == ["accepted"] * 4 + ["recommended"]
    room = room_for(Case.objects.get(state="recommended"), 40)
    assert room is not None
    assert (room.out, room.limit, room.free) == (4, 4, False)


def test_a_change_of_what_the_policy_covers_takes_the_permission_back(cards: list[Card]) -> None:
    bad(cards[0])
    policy = Policy.objects.get()
    policies.change(policy, _with(policy, max_per_cluster=9))
    assert policy.takes_out

    policies.change(policy, _with(policy, suite="nvidia-smi", level="detected"))
    policy.refresh_from_db()
    assert not policy.takes_out
    assert Entry.objects.last().detail["takes_out"] == "True → False"  # type: ignore[union-attr]


def _with(policy: Policy, **columns: Any) -> Any:
    return msgspec.structs.replace(draft_of(policy), **columns)
