"""One pass over the cases of a cluster that act: what should be, beside what is. It may come late, twice, or not at all.

Only the launch worker makes passes, with credentials that nothing else has. Cases of one node are taken together.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db.models import Q
from django.db.models.functions import Now

from inventory.marks import OURS
from inventory.models import Cluster, Node
from kube.client import ApiError
from quarantine import moves, sentinel_steps
from quarantine.calls import Api
from quarantine.card_steps import Cards
from quarantine.models import ACTING, OPEN, Case, How, Marker
from quarantine.steps import node_step
from quarantine.wish import OF_NODE
from runtime.clock import database_now
from runtime.leases.lease import Lease, LeaseLost
from validations.copies import COPY_STATES, copy_words
from validations.lifecycle.outage import LOST, wait_s
from validations.models import Launcher
from wording.said import cut, of_error, sentence, stored

logger = logging.getLogger(__name__)

#: Cases that one pass takes up.
MOST = 200


def with_work() -> list[int]:
    """Clusters in which a pass would find something to do. Three queries."""
    missing = Cluster.objects.filter(marker=None).values_list("pk", flat=True)
    Marker.objects.bulk_create([Marker(cluster_id=pk) for pk in missing], ignore_conflicts=True)
    due = Marker.objects.filter(Q(next_try_at=None) | Q(next_try_at__lte=Now())).exclude(
        cluster__quarantine_kubeconfig=""
    )
    acting = Case.objects.filter(_due(), state__in=ACTING).values("cluster_id")
    found = set(due.filter(cluster_id__in=acting).values_list("cluster_id", flat=True))
    left = leftovers()
    return sorted(found | set(due.filter(cluster_id__in=left).values_list("cluster_id", flat=True)) if left else found)


def _due() -> Q:
    return Q(next_look_at=None) | Q(next_look_at__lte=Now())


def leftovers(cluster_id: int | None = None) -> dict[int, set[str]]:
    """Cluster → nodes that have a mark of ours, though its case is over: by what the mirror has, which may be a moment behind."""
    rows = Node.objects.filter(marks__contains=f'"tool":"{OURS}"')
    if cluster_id is not None:
        rows = rows.filter(cluster_id=cluster_id)
    named = {
        (node.cluster_id, node.name, one.case)
        for node in rows.only("cluster_id", "name", "marks")
        for one in node.found_marks
        if one.ours and one.case
    }
    cases = Case.objects.filter(pk__in={case for _, _, case in named}).exclude(state__in=OPEN)
    over = set(cases.values_list("pk", flat=True)) if named else set()
    found: dict[int, set[str]] = {}
    for cluster, node, case in named:
        if case in over:
            found.setdefault(cluster, set()).add(node)
    return found


def reconcile(lease: Lease, api: Api | None, why: str = "") -> None:
    """One pass. api None: there is no client for the cluster, for the reason `why`. Raises LeaseLost and errors of the database."""
    marker = Marker.objects.get(cluster_id=lease.cluster_id)
    at = database_now()
    try:
        if api is None:
            raise ApiError(0, "NoClient", why)
        if copy := _copy(lease.cluster_id):
            _not_reached(lease, marker, copy, at)
            return
        api.meanwhile = lease.tick
        _look(lease.cluster_id, api, at)
    except ApiError as error:
        call = sentence("{call}: {error}", call=error.call, error=of_error(error)) if error.call else of_error(error)
        _not_reached(lease, marker, call, at)
        return
    known = {"failing_since": None, "next_try_at": None, "tries": 0, "error": "", "error_wording": None}
    lease.update(reached_at=at, **known)


def _copy(cluster_id: int) -> str:
    """A copy of the database marks nothing, as it launches nothing."""
    launcher = (
        Launcher.objects.filter(cluster_id=cluster_id, lock_state__in=COPY_STATES).select_related("cluster").first()
    )
    return copy_words(launcher) if launcher else ""


def _not_reached(lease: Lease, marker: Marker, why: str, at: datetime) -> None:
    lease.update(
        error=cut(why, moves.LONGEST),
        error_wording=stored(why),
        failing_since=marker.failing_since or at,
        next_try_at=at + timedelta(seconds=wait_s(marker.tries)),
        tries=min(marker.tries + 1, 1000),
    )


def _look(cluster_id: int, api: Api, at: datetime) -> None:
    rows = Case.objects.filter(cluster_id=cluster_id, state__in=ACTING).select_related("cluster").order_by("pk")
    due = set(rows.filter(_due()).values_list("node_name", flat=True)[:MOST])
    nodes: dict[str, list[Case]] = {name: [] for name in sorted(leftovers(cluster_id).get(cluster_id, ()))}
    cards: list[Case] = []
    requests: list[Case] = []
    for case in rows.filter(node_name__in=due | nodes.keys()):
        if case.how in OF_NODE:
            nodes.setdefault(case.node_name, []).append(case)
        else:
            (cards if case.how == How.DEVICE_TAINT else requests).append(case)
    for name, cases in nodes.items():
        _safely(cases, at, lambda name=name, cases=cases: node_step(api, name, cases, at))  # type: ignore[misc]
    for case in requests:
        _safely([case], at, lambda case=case: sentinel_steps.step(api, case, at))  # type: ignore[misc]
    if cards:
        _safely(cards, at, lambda: _cards(Cards(api), cards, at))


def _cards(rules: Cards, cases: Iterable[Case], at: datetime) -> None:
    for case in cases:
        _safely([case], at, lambda case=case: rules.step(case, at))  # type: ignore[misc]


def _safely(cases: Iterable[Case], at: datetime, work: Callable[[], Any]) -> None:
    """The trouble of one node, or of all rules, is its own.

    A cluster that cannot be asked, or accepts no credentials, ends the pass.
    """
    try:
        work()
    except ApiError as error:
        if error.status in (0, 401):
            raise
        for case in cases:
            moves.failed(case, at, of_error(error))
    except (LeaseLost, *LOST):
        raise
    except msgspec.DecodeError as error:
        for case in cases:
            moves.failed(
                case, at, sentence("The answer of the API server cannot be read: {error}", error=str(error)[:300])
            )
    except Exception as error:
        logger.exception("cases %s: the pass failed", ", ".join(one.pk for one in cases))
        for case in cases:
            moves.failed(case, at, sentence("Internal error in gpudash ({name}).", name=type(error).__name__))
