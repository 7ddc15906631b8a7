"""/api/v1/silences: look, make, end; and the acknowledgement of one finding. For operators, within their scope."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView, ListView, listed
from api.frame.bodies import body_of
from api.validations.base import MADE_AT, problems
from audit.actions import Action
from audit.acts import refuse
from inventory.queries import rows as querysets
from notifications import silences
from notifications.models import Silence
from notifications.silences import SilenceDraft
from resources.csv_export import cluster_names
from resources.silence import SILENCES, SilenceShape
from resources.silence import silences as rows_of_silences


class Acknowledgement(msgspec.Struct, frozen=True, kw_only=True):
    """It ends at `until`, or with the finding if that is earlier."""

    reason: str
    until: Annotated[datetime, Meta(tz=True)]


class Silences(ListView):
    resource = SILENCES
    #: The audit log says this of who may not.
    told_of = ("cluster", "code", "node", "card", "pod")

    @listed(SILENCES, "Active silences, the one that ends first at the top")
    def get(self, request: Request) -> Any:
        return self.list(request)

    @extend_schema(
        summary="Silence findings until a time; without a cluster it needs a scope of all clusters",
        parameters=[MADE_AT],
        request=SilenceDraft,
        responses={201: SilenceShape},
    )
    def post(self, request: Request) -> Response:
        draft = body_of(request, SilenceDraft)
        _check(request, silences.may_silence_in(draft.cluster))
        with problems():
            row = silences.silence(draft, request.user)
        return _made(row)


class SilenceDetail(ApiView):
    @extend_schema(summary="One silence", responses=SilenceShape)
    def get(self, request: Request, silence_id: int) -> Response:
        return Response(_told(_silence(silence_id)))


class SilenceEnd(ApiView):
    @extend_schema(summary="End a silence now", request=None, responses=SilenceShape)
    def post(self, request: Request, silence_id: int) -> Response:
        row = _silence(silence_id)
        _check(request, silences.may_silence(row.cluster_id))
        silences.end(row, request.user)
        return Response(_told(row))


class FindingAcknowledge(ApiView):
    @extend_schema(
        summary="Acknowledge a finding: no message reports it until a time, or until it ends",
        parameters=[MADE_AT],
        request=Acknowledgement,
        responses={201: SilenceShape},
    )
    def post(self, request: Request, finding_id: int) -> Response:
        row = querysets.findings_now().filter(pk=finding_id).first() if finding_id < 2**63 else None
        if row is None:
            raise NotFound(f"There is no active finding {str(finding_id)[:64]}. /api/v1/findings lists them.")
        body = body_of(request, Acknowledgement)
        _check(request, silences.may_silence(row.cluster_id))
        with problems():
            made = silences.acknowledge(row, body.reason, body.until, request.user)
        return _made(made)


def _silence(silence_id: int) -> Silence:
    row: Silence | None = rows_of_silences().filter(pk=silence_id).first() if silence_id < 2**63 else None
    if row is None:
        raise NotFound(f"There is no silence {str(silence_id)[:64]}. /api/v1/silences lists them.")
    return row


def _made(row: Silence) -> Response:
    return Response(_told(row), status=201, headers={"Location": f"/api/v1/silences/{row.pk}"})


def _told(row: Silence) -> Any:
    return SILENCES.fill([row], cluster_names())[0]


def _check(request: Request, may: bool) -> None:
    """Raises PermissionDenied."""
    if not may:
        refuse(Action.ACCESS, f"{request.method} {request._request.path_info}", wanted="scope")
        raise PermissionDenied("Your scope does not include all that would be silenced. Name a cluster of your scope.")
