"""A node that is handed over to NVSentinel: its MaintenanceRequest beside its case. What is not verified: `quarantine.sentinel`."""

from __future__ import annotations

from datetime import datetime

from kube.client import ApiError
from quarantine import moves, sentinel
from quarantine.calls import Api
from quarantine.models import Case, CaseState, ReturnReason
from quarantine.nodes import in_cluster
from wording.said import sentence


def step(api: Api, case: Case, at: datetime) -> None:
    """Raises ApiError."""
    there = api.request(case.pk)
    if case.state != CaseState.RETURNING and not in_cluster(case.cluster_id, case.node_name):
        moves.begin_return(case, ReturnReason.NODE_REMOVED, at)
    if case.state == CaseState.RETURNING:
        _take_away(api, case, there is not None, at)
    elif there is not None:
        _there(case, at)
    elif case.state == CaseState.OUT:
        moves.begin_return(case, ReturnReason.BY_HAND, at)
    else:
        body = sentinel.request(case.pk, case.node_name, case.reason)
        try:
            api.create_request(body)
        except ApiError as error:
            if error.status == 404:
                moves.waits(
                    case, at, sentence("The cluster has no MaintenanceRequests ({group}).", group=sentinel.GROUP)
                )
                return
            if error.status != 409:
                raise
        moves.marked(case, at, body["spec"])


def _there(case: Case, at: datetime) -> None:
    if case.state == CaseState.ACCEPTED:
        moves.marked(case, at, None)
    else:
        moves.seen(case, at)


def _take_away(api: Api, case: Case, there: bool, at: datetime) -> None:
    """NVSentinel keeps the request until it has reported that the maintenance is over: it is away when it is not found."""
    if not there:
        moves.returned(case, at, None)
        return
    api.delete_request(case.pk)
    moves.waits(case, at, sentence("NVSentinel has not released the MaintenanceRequest yet."), again=None)
