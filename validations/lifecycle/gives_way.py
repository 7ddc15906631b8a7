"""A run that a policy started gives way to everybody: it takes an idle card only, with the lowest priority, and never pre-empts.

Looked at right before its Job is created, long after the card was chosen. A run that must not start is skipped: it says nothing of
its card, which stays due.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from inventory.models import Card, Cluster, Node, NodeTotals
from validations.lifecycle.endings import IN_USE, POLICIES_OFF, Ending
from validations.models import Launcher, PolicySwitch, Run
from wording.said import sentence

#: The PriorityClass of the Jobs of policies (deploy/launcher-role.yaml).
PRIORITY_CLASS = "gpudash-policy"


def why_not(run: Run) -> Ending | None:
    """Why the run must not start now; None for one that may, and for one that no policy started. At most five queries."""
    if run.policy_id is None:
        return None
    if PolicySwitch.all_paused():
        return Ending(POLICIES_OFF, sentence("All policies were paused before the run started."))
    where = {"cluster_id": run.cluster_id, "node_name": run.node_name}
    if Node.objects.filter(cluster_id=run.cluster_id, name=run.node_name, policies_off=True).exists():
        return Ending(POLICIES_OFF, sentence("An annotation of node {node} switches policies off.", node=run.node_name))
    unplaced = NodeTotals.objects.filter(**where, unplaced_count__gt=0).exists()
    key = run.card_key or run.card_requested
    cards = Card.objects.filter(**where, removed_at=None, **({"key": key} if key else {}))
    if unplaced or not cards.filter(allocations_count=0).exists():
        return Ending(IN_USE, sentence("A pod was allocated the card before the run started."))
    return None


def with_priority(manifest: dict[str, Any], policy: bool) -> dict[str, Any]:
    """The same Job; that of a policy's run has the lowest priority. Whether it pre-empts is said by the class: never.

    A pod that is disrupted (pre-empted, evicted, of a node that is drained) is gone before it can be looked at: with the rule the Job
    itself says so. Source: batch/v1 PodFailurePolicy, on by default since Kubernetes 1.26; older API servers drop the field.
    """
    if policy:
        spec = manifest["spec"]
        spec["template"]["spec"]["priorityClassName"] = PRIORITY_CLASS
        disrupted = {"type": "DisruptionTarget", "status": "True"}
        spec["podFailurePolicy"] = {"rules": [{"action": "FailJob", "onPodConditions": [disrupted]}]}
    return manifest


def priority_missing(clusters: Iterable[Cluster]) -> dict[int, str]:
    """Id of a cluster → why policies start nothing in it: its PriorityClass is not there, or not one that gives way. One query."""
    rows = list(clusters)
    there = set(Launcher.objects.filter(cluster__in=rows, gives_way=True).values_list("cluster_id", flat=True))
    return {
        row.pk: sentence(
            "Cluster {name}: PriorityClass {priority} with preemptionPolicy Never and a negative value was not found. "
            "Apply deploy/launcher-role.yaml.",
            name=row.name,
            priority=PRIORITY_CLASS,
        )
        for row in rows
        if row.pk not in there
    }
