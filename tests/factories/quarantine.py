"""Cases and marks for tests, as the launch worker and the mirror would have written them."""

from __future__ import annotations

from typing import Any

import msgspec

from inventory.marks import OURS, TAINT, Mark
from inventory.models import Card, Cluster, Node
from quarantine.models import Case, CaseState
from runtime.clock import database_now
from wording.said import sentence, stored

WHY = sentence(
    "{suite} failed {times} times on this card ({reason}), with no pass in between.",
    suite="cuda-vectoradd",
    times=2,
    reason="exit-code",
)
CORDON = Mark(kind="cordon", tool="kubectl", by="anna", hint=True, since="2026-11-22T10:00:00Z", blocks=True)


def make_case(cluster: Cluster, node: str = "gpu-1", state: str = CaseState.RECOMMENDED, **more: Any) -> Case:
    """A case of the first card of a node."""
    card = Card.objects.filter(cluster=cluster, node_name=node).order_by("pk").first()
    told: dict[str, Any] = {
        "card_key": card.key if card else "0",
        "card_uuid": card.uuid if card else "",
        "suite": "cuda-vectoradd",
        "reason": str(WHY),
        "reason_wording": stored(WHY),
        "state_since": database_now(),
    }
    return Case.objects.create(cluster=cluster, node_name=node, state=state, **told | more)


def mark_node(cluster: Cluster, node: str, *marks: Mark) -> None:
    Node.objects.filter(cluster=cluster, name=node).update(marks=msgspec.json.encode(marks).decode() if marks else "")


def our_mark(case: Case) -> Mark:
    return Mark(
        kind="taint", tool=OURS, key=TAINT, value=case.pk, effect="NoSchedule", by="anna", case=case.pk, blocks=True
    )
