"""The states of a policy's cards are written: only rows that differ, in one transaction. The one writer of `PolicyCard`,
but for refusals of launches (`launch`)."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

from django.db import transaction

from runtime import bulk
from validations.models import Policy, PolicyCard
from validations.policies import rules
from validations.policies.facts import Kept, Known, cards_of, delete_uncovered
from validations.policies.standing import Standing, standing

logger = logging.getLogger(__name__)

_UNIQUE = ("policy_id", "cluster_id", "node_name", "card_key")
_STANDING = ("state", "reason", "hindrance", "since", "valid_until", "not_before", "run_id", "failures", "tries")


def evaluate(policy: Policy, at: datetime, node: tuple[int, str] | None = None) -> int:
    """Write what the cards are now; returns how many rows changed. node: (cluster id, name), to look at one node alone.

    A policy that can decide nothing any more (its suite is gone) keeps the states that it had. Raises DatabaseError.
    """
    try:
        rule = rules.rule_of(policy)
    except rules.NoRule:
        logger.warning(
            "policy %s: no suite %s with these options; its cards are not evaluated", policy.name, policy.suite
        )
        return 0
    with transaction.atomic():
        locked = (
            Policy.objects.select_for_update().filter(pk=policy.pk).values_list("changed_at", "evaluated_at").first()
        )
        if locked is None:
            return 0
        # What is kept follows from the policy as it was: one that has changed since is looked at whole.
        kept_by_it = locked[1] is not None and locked[0] < locked[1]
        changed, cover = [], rules.cover_of(policy)
        for known in cards_of(policy, cover, at, node, unless=rule if kept_by_it else None):
            found = standing(rule, known.facts, at)
            if _differs(known.kept, found):
                changed.append(_row(policy, known, found, at))
        gone = delete_uncovered(policy, cover) if node is None else 0
        bulk.upsert(PolicyCard, (*_UNIQUE, *_STANDING), changed, _UNIQUE)
        if node is None:
            Policy.objects.filter(pk=policy.pk).update(evaluated_at=at)
    return len(changed) + gone


def _differs(kept: Kept, found: Standing) -> bool:
    return kept[1:4] + kept[5:] != (
        found.state,
        found.reason,
        found.hindrance,
        found.valid_until,
        found.not_before,
        found.run,
        found.failures,
        found.tries,
    )


def _row(policy: Policy, known: Known, found: Standing, at: datetime) -> tuple[Any, ...]:
    kept = known.kept
    same = (kept.state, kept.reason) == (found.state, found.reason)
    return (
        policy.pk,
        *known.place,
        found.state,
        found.reason,
        found.hindrance,
        kept.since if same and kept.since else at,
        found.valid_until,
        found.not_before,
        found.run,
        found.failures,
        found.tries,
    )
