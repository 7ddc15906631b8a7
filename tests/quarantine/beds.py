"""A small fleet, and runs on its cards that have ended."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from inventory.models import Card, Cluster, Node
from quarantine import tasks
from quarantine.models import Case
from runtime.clock import database_now
from tests.factories import make_node
from validations.lastresults import refresh_last
from validations.models import Policy, PolicyCard, Run
from validations.policies import manage as policies
from validations.policies.manage import PolicyDraft

SUITE = "cuda-vectoradd"


def fleet(cluster: Cluster, nodes: int = 1, cards: int = 2) -> list[Card]:
    """The first card of each node."""
    for number in range(nodes):
        make_node(cluster, f"gpu-{number}", "nvidia", cards, loads=(0.0,))
    Node.objects.update(machine_id="machine/board", ready=True)
    first: dict[str, Card] = {}
    for card in Card.objects.order_by("node_name", "key"):
        first.setdefault(card.node_name, card)
    return list(first.values())


def ran(card: Card, verdict: str, ago_s: float = 60, **more: Any) -> Run:
    """A run that ended so long ago, with what the product makes of it."""
    at = database_now() - timedelta(seconds=ago_s)
    values = {
        "level": "checked" if verdict == "passed" else "",
        "level_possible": "checked",
        "machine_id": "machine/board",
        "reasons": [{"code": "wrong-result", "text": "at 7"}] if verdict == "failed" else [],
        "started_at": at,
    }
    run = Run.objects.create(
        cluster=card.cluster,
        suite=more.pop("suite", SUITE),
        node_name=card.node_name,
        card_key=card.key,
        state="ended",
        state_since=at,
        ended_at=at,
        verdict=verdict,
        **values | more,
    )
    refresh_last(run)
    return run


def fails(card: Card, times: int = 2, ago_s: float = 600) -> Run:
    """Failures one after the other; the last."""
    return [ran(card, "failed", ago_s - number) for number in range(times)][-1]


def policy_that_takes_out(card: Card, run: Run, **more: Any) -> Policy:
    """A policy that has confirmed the failure."""
    policy = Policy.objects.filter(name="all").first() or policies.create(PolicyDraft(name="all", suite=SUITE))
    policies.take_out(policy, True)
    PolicyCard.objects.create(
        policy=policy,
        cluster=card.cluster,
        node_name=card.node_name,
        card_key=card.key,
        since=run.ended_at,
        run=run,
        failures=2,
        **{"state": "failed", "reason": "failed-confirmed"} | more,
    )
    return policy


def step() -> list[tuple[str, str, str]]:
    """One step by the rows alone; (node, state, return reason) of all cases after it, oldest first."""
    tasks.step()
    return list(Case.objects.order_by("pk").values_list("node_name", "state", "return_reason"))
