"""/api/v1/out-of-service, /api/v1/node-marks, /api/v1/quarantine: cases and what is done about them, marked nodes, the switch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.roles import Role
from api.frame.base import ApiView, ListView, listed
from api.frame.bodies import Conflict, body_of
from api.frame.problems import Problem, only_known
from api.validations.base import problems
from audit.actions import Action
from audit.acts import refuse
from quarantine import manage, reading
from quarantine.models import Case
from quarantine.planned import Plan
from resources.csv_export import cluster_names
from resources.declared import filled
from resources.node_mark import NODE_MARKS
from resources.out_of_service import CASES, CaseActed, CasePlan, CaseShape, SwitchShape
from runtime.scope import current

Note = Annotated[str, Meta(description="Reason, up to 500 characters.", max_length=500)]


class Accept(msgspec.Struct, frozen=True, kw_only=True):
    """How a case is accepted."""

    note: Note = ""
    how: Annotated[
        str, Meta(description="Mark: taint, cordon, device-taint or nvsentinel. Empty: as the cluster is set.")
    ] = ""
    dry_run: bool = False


class Decline(msgspec.Struct, frozen=True, kw_only=True):
    """Why it stays in service."""

    note: Note = ""


class Return(msgspec.Struct, frozen=True, kw_only=True):
    """Why it returns without a pass. Required unless dry_run."""

    note: Note = ""
    dry_run: bool = False


class SwitchChange(msgspec.Struct, frozen=True, kw_only=True):
    """Fields to change; omitted fields stay."""

    automatic: bool | None = None
    cap_percent: Annotated[int, Meta(description="1 to 100.")] | None = None


class Cases(ListView):
    resource = CASES

    @listed(CASES, "Cases of cards and nodes out of service, newest first")
    def get(self, request: Request) -> Any:
        return self.list(request)


class CaseDetail(ApiView):
    @extend_schema(summary="One case", responses=CaseShape)
    def get(self, request: Request, case_id: str) -> Response:
        return Response(_told(_case(case_id)))


class CaseAccept(ApiView):
    @extend_schema(
        summary="Take out of service, or with dry_run return what would be done",
        request=Accept,
        responses={200: CaseActed, 409: Problem},
    )
    def post(self, request: Request, case_id: str) -> Response:
        row, body = _writable(request, case_id), body_of(request, Accept)
        with _refusals():
            if body.dry_run:
                return _answer(row, manage.plan_accept(row, body.how))
            manage.accept(row, request.user, note=body.note, how=body.how)
            return _answer(row)


class CaseDecline(ApiView):
    @extend_schema(summary="Keep in service", request=Decline, responses={200: CaseActed, 409: Problem})
    def post(self, request: Request, case_id: str) -> Response:
        row, body = _writable(request, case_id), body_of(request, Decline)
        with _refusals():
            manage.decline(row, request.user, note=body.note)
            return _answer(row)


class CaseReturn(ApiView):
    @extend_schema(
        summary="Return to service without a pass, or with dry_run return what would be done",
        request=Return,
        responses={200: CaseActed, 409: Problem},
    )
    def post(self, request: Request, case_id: str) -> Response:
        row, body = _writable(request, case_id), body_of(request, Return)
        with _refusals():
            if body.dry_run:
                return _answer(row, manage.plan_return(row))
            manage.give_back(row, request.user, note=body.note)
            return _answer(row)


class NodeMarks(ListView):
    resource = NODE_MARKS

    @listed(NODE_MARKS, "GPU nodes that are cordoned, tainted or reported as bad, by which tool and why")
    def get(self, request: Request) -> Any:
        return self.list(request)


class Quarantine(ApiView):
    write_role = Role.ADMIN

    @extend_schema(summary="Whether policies may take cards out of service without asking", responses=SwitchShape)
    def get(self, request: Request) -> Response:
        only_known(request)
        return Response(_switch())

    @extend_schema(
        summary="Switch it on or off, or change the cap. Role admin, for all clusters",
        request=SwitchChange,
        responses=SwitchShape,
    )
    def patch(self, request: Request) -> Response:
        _check(request, current().everything)
        change = body_of(request, SwitchChange)
        with problems():
            manage.change_switch(request.user, automatic=change.automatic, cap_percent=change.cap_percent)
        return Response(_switch())


class QuarantineReset(ApiView):
    write_role = Role.ADMIN

    @extend_schema(
        summary="Let policies act again after the cap was reached. Role admin, for all clusters",
        request=None,
        responses=SwitchShape,
    )
    def post(self, request: Request) -> Response:
        _check(request, current().everything)
        manage.reset(request.user)
        return Response(_switch())


def _case(case_id: str) -> Case:
    row = reading.cases().of_id(case_id)
    if row is None:
        raise NotFound(f"There is no case {case_id[:64]!r}. /api/v1/out-of-service lists them.")
    return row


def _writable(request: Request, case_id: str) -> Case:
    row = _case(case_id)
    _check(request, reading.may_act(row.cluster_id))
    return row


@contextmanager
def _refusals() -> Iterator[None]:
    """409 where the state of the case does not allow it, 400 for a field."""
    try:
        with problems():
            yield
    except ValidationError as error:
        detail: Any = error.detail
        if list(detail) == [""]:
            raise Conflict(" ".join(map(str, detail[""]))) from None
        raise


def _answer(row: Case, plan: Plan | None = None) -> Response:
    planned = None if plan is None else filled(CasePlan, plan, by_gpudash=not plan.off)
    return Response(CaseActed(case=_told(_case(row.pk)), plan=planned))


def _told(row: Case) -> Any:
    return CASES.read(row, cluster_names())


def _switch() -> SwitchShape:
    """Why it tripped names a pool of a cluster, so only who sees all clusters is told."""
    row = manage.switch()
    if not current().everything:
        row.tripped_reason, row.tripped_wording = "", None
    return filled(SwitchShape, row)


def _check(request: Request, may: bool) -> None:
    """Raises PermissionDenied."""
    if not may:
        refuse(Action.ACCESS, f"{request.method} {request._request.path_info}", wanted="scope")
        raise PermissionDenied("Your scope does not cover all of it. Ask an administrator.")
