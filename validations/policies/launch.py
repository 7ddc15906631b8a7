"""Runs of the chosen cards. The policy's row is the lock, so that two workers do not start too many; what is started is a row of
`Run` in the same transaction, so a kill at any point starts nothing twice and forgets nothing.
"""

from __future__ import annotations

import logging
from collections import Counter
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from inventory.models import Cluster
from validations.lifecycle.gives_way import priority_missing
from validations.models import Policy, PolicyCard, PolicyState, PolicySwitch
from validations.planning import Refused, RunDraft
from validations.policies import rules
from validations.policies.around import around, pools_of
from validations.policies.choose import (
    CARD_TIME,
    CLUSTER_FULL,
    KEEP_FREE,
    NODE_BUSY,
    PENDING_PODS,
    POOL_FULL,
    Candidate,
    Chosen,
    Limits,
    choose,
)
from validations.policies.standing import RETESTED
from validations.requester import gone
from validations.requests import Busy, NotAllowed, request_run
from wording.said import Said, sentence, series, stored

logger = logging.getLogger(__name__)

#: Runs that one policy starts in one go, and due cards that are looked at for it, the oldest first.
AT_ONCE, LOOKED_AT = 20, 2000
_HELD = {
    CLUSTER_FULL: sentence("the limit per cluster is reached"),
    POOL_FULL: sentence("the limit per pool is reached"),
    KEEP_FREE: sentence("the pool must keep cards or nodes free"),
    PENDING_PODS: sentence("a pending pod fits on the node"),
    CARD_TIME: sentence("the test time limit of the card is reached (24 h)"),
    NODE_BUSY: sentence("another card of the node is tested first"),
}


def launch(policy_id: str, at: datetime) -> int:
    """Start runs of due cards; returns how many. Why no more were started is kept in the policy's row."""
    with transaction.atomic():
        policy = (
            Policy.objects.select_for_update(of=("self",))
            .select_related("requested_by", "cluster")
            .filter(pk=policy_id)
            .first()
        )
        if policy is None:
            return 0
        started, held = _launch(policy, at)
        changes: dict[str, object] = {"held": str(held)[:2000], "held_wording": stored(held, 2000) if held else None}
        if started:
            changes["launched_at"] = at
        Policy.objects.filter(pk=policy_id).update(**changes)
    return started


def due(policy: Policy, at: datetime) -> Q:
    """Condition on `PolicyCard`: those that may be tested now, as far as their own state says."""
    tested = Q(state=PolicyState.DUE) | Q(state=PolicyState.FAILED, reason__in=RETESTED)
    return Q(policy=policy, hindrance="") & tested & (Q(not_before=None) | Q(not_before__lte=at))


def stopped(policy: Policy, at: datetime) -> str:
    """Why the policy starts nothing at all now; "" when it may."""
    if PolicySwitch.all_paused():
        return sentence("All policies are paused.")
    if policy.paused:
        return sentence("The policy is paused.")
    if why := gone(policy.requested_by, policy.requested_by_name, policy.cluster):
        return why
    if rules.windows_of(policy).open_at(at) is None:
        return sentence("Outside its window.")
    return ""


def _launch(policy: Policy, at: datetime) -> tuple[int, str]:
    rows = PolicyCard.objects.filter(due(policy, at)).order_by("since", "pk")[:LOOKED_AT]
    found = list(rows.values_list("cluster_id", "node_name", "card_key", "since"))
    if not found:
        return 0, ""
    if why := stopped(policy, at):
        return 0, why
    clusters = Cluster.objects.in_bulk({cluster for cluster, *_ in found})
    missing = priority_missing(clusters.values())
    found = [one for one in found if one[0] in clusters and one[0] not in missing]
    chosen = _chosen(policy, found, at)
    started, refused = 0, list(missing.values())
    for one in chosen.cards:
        try:
            started += _start(policy, clusters[one.place[0]], one, at)
        except NotAllowed as error:
            refused.append(sentence("Cluster {name}: {text}", name=clusters[one.place[0]].name, text=error.words))
    return started, series([*dict.fromkeys(refused), *_words(chosen.held)])


def _chosen(policy: Policy, found: list[tuple[int, str, str, datetime]], at: datetime) -> Chosen:
    clusters = {cluster for cluster, *_ in found}
    pools = pools_of(clusters)
    candidates = [
        Candidate(place=(cluster, node, key), pool=(cluster, pools.get((cluster, node), "")), since=since)
        for cluster, node, key, since in found
    ]
    minutes = policy.card_minutes_per_day
    limits = Limits(
        at_once=AT_ONCE,
        per_cluster=policy.max_per_cluster,
        per_pool=policy.max_per_pool,
        keep_cards=policy.keep_free_cards,
        keep_nodes=policy.keep_free_nodes,
        card_s=minutes * 60 if minutes is not None else None,
    )
    return choose(candidates, limits, around(policy, pools, clusters, at))


def _start(policy: Policy, cluster: Cluster, one: Candidate, at: datetime) -> bool:
    """Whether a run was started. What is refused for the card is kept with it, for an hour; a card that is held waits."""
    _, node, key = one.place
    row = PolicyCard.objects.filter(policy=policy, cluster=cluster, node_name=node, card_key=key)
    draft = RunDraft(suite=policy.suite, cluster=cluster.name, node=node, card=key, options=policy.options)
    try:
        run, _ = request_run(draft, policy=policy)
    except NotAllowed:
        raise
    except Busy:
        return False
    except Refused as error:
        code = min(error.codes, default="not-applicable")[:63]
        failed = Q(state=PolicyState.FAILED)
        row.update(refused=code, refused_at=at)
        row.filter(failed).update(hindrance=code)
        row.exclude(failed).update(state=PolicyState.EXCLUDED, reason=code, hindrance=code, since=at, not_before=None)
        return False
    row.update(state=PolicyState.RUNNING, reason="", since=at, run=run, not_before=None, refused="", refused_at=None)
    return True


def _words(held: Counter[str]) -> list[Said]:
    return [
        sentence("{number} not started: {why}.", number=number, why=_HELD[why]) for why, number in held.most_common()
    ]
