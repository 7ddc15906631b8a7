"""One step of all policies: their cards are looked at, due ones are tested, the hour is counted. It may come late, twice, or never.

A mistake with one policy is written to the log and stops no other.
"""

from __future__ import annotations

import logging
from datetime import datetime

from validations.lifecycle.outage import LOST
from validations.models import Policy
from validations.policies import counts, flaps
from validations.policies.evaluate import evaluate
from validations.policies.launch import launch

logger = logging.getLogger(__name__)


def advance(at: datetime) -> int:
    """Returns how many runs were started. Raises errors of the connection."""
    started, there = 0, False
    for policy in Policy.objects.order_by("created_at", "pk"):
        there = True
        try:
            evaluate(policy, at)
            started += launch(policy.pk, at)
        except LOST:
            raise
        except Exception:
            logger.exception("policy %s: its cards cannot be looked at", policy.name)
    if there:
        counts.count(at)
        counts.prune(at)
        flaps.tell(at)
    return started


def look_at_node(suite: str, node: tuple[int, str], at: datetime) -> None:
    """Look at the cards of one node (cluster id, name) under the policies of a suite. Raises errors of the connection."""
    for policy in Policy.objects.filter(suite=suite).order_by("pk"):
        evaluate(policy, at, node)
