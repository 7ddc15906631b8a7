"""/api/v1/policies: look, preview, make, change, pause, delete; what their cards are; how many were what."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from accounts.permissions import request_role
from accounts.roles import Role
from api.frame.base import ApiView, CsvRenderer, ListView, listed
from api.frame.bodies import body_of
from api.frame.problems import Problem, bad_fields, only_known
from api.validations.base import MADE_AT, problems
from audit.actions import Action
from audit.acts import refuse
from resources.certificate import as_file
from resources.comparison import ComparedCard, PolicyComparison, as_csv
from resources.csv_export import cluster_names
from resources.declared import filled
from resources.policy import (
    POLICIES,
    POLICY_CARDS,
    POLICY_COUNTS,
    PolicyPlanned,
    PolicyPreview,
    PolicyReason,
    PolicyShape,
    PolicySwitched,
)
from runtime.clock import database_now
from runtime.scope import current
from validations.certificate import issue
from validations.models import Policy, PolicySwitch
from validations.planning import Refused
from validations.policies import compare, losses, manage, plan, reading, rules
from validations.policies.losses import OUTCOMES
from validations.policies.manage import PolicyDraft
from wording.said import sentence


class PolicyChange(msgspec.Struct, frozen=True, kw_only=True):
    """Fields to change; omitted fields stay."""

    name: str | UnsetType = UNSET
    suite: str | UnsetType = UNSET
    options: dict[str, Any] | UnsetType = UNSET
    level: str | UnsetType = UNSET
    cluster: str | UnsetType = UNSET
    pool: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    stack: str | UnsetType = UNSET
    node_labels: dict[str, str] | UnsetType = UNSET
    max_age_s: int | UnsetType = UNSET
    void_on_driver: bool | UnsetType = UNSET
    void_on_reboot: bool | UnsetType = UNSET
    void_on_machine: bool | UnsetType = UNSET
    void_on_image: bool | UnsetType = UNSET
    counts_imported: bool | UnsetType = UNSET
    window_cron: str | UnsetType = UNSET
    window_minutes: int | UnsetType | None = UNSET
    time_zone: str | UnsetType = UNSET
    max_per_cluster: int | UnsetType = UNSET
    max_per_pool: int | UnsetType | None = UNSET
    card_minutes_per_day: int | UnsetType | None = UNSET
    keep_free_nodes: int | UnsetType = UNSET
    keep_free_cards: int | UnsetType = UNSET
    takes_out: Annotated[bool, Meta(description="Role admin, for all clusters.")] | UnsetType = UNSET


class Policies(ListView):
    resource = POLICIES
    #: The audit log says this of who may not.
    told_of = ("name", "suite", "cluster")

    @listed(POLICIES, "Policies by name, with the counts of their cards")
    def get(self, request: Request) -> Any:
        return self.list(request)

    @extend_schema(
        summary="Create a policy; it is active at once",
        parameters=[MADE_AT],
        request=PolicyDraft,
        responses={201: PolicyShape},
    )
    def post(self, request: Request) -> Response:
        draft = body_of(request, PolicyDraft)
        _check(request, reading.may_write_in(draft.cluster))
        with problems():
            row = manage.create(draft, request.user)
        return Response(_told(row.pk), status=201, headers={"Location": f"/api/v1/policies/{row.pk}"})


class PolicyDetail(ApiView):
    @extend_schema(summary="One policy", responses=PolicyShape)
    def get(self, request: Request, policy_id: str) -> Response:
        return Response(_told(policy_id))

    @extend_schema(summary="Change a policy; its active runs continue", request=PolicyChange, responses=PolicyShape)
    def patch(self, request: Request, policy_id: str) -> Response:
        row, change = _writable(request, policy_id), body_of(request, PolicyChange)
        given = {name: value for name, value in msgspec.structs.asdict(change).items() if value is not UNSET}
        takes_out = given.pop("takes_out", row.takes_out)
        if change.takes_out is not UNSET and (takes_out or row.takes_out):
            _check_admin(request)
        draft = msgspec.structs.replace(manage.draft_of(row), **given)
        _check(request, reading.may_write_in(draft.cluster))
        with problems():
            row = manage.change(row, draft, request.user) if given else row
        if takes_out != row.takes_out and change.takes_out is not UNSET:
            manage.take_out(row, takes_out)
        return Response(_told(row.pk))

    @extend_schema(summary="Delete a policy and its counts; its runs stay", responses={204: None})
    def delete(self, request: Request, policy_id: str) -> Response:
        manage.remove(_writable(request, policy_id))
        return Response(status=204)


class PolicyPause(ApiView):
    @extend_schema(
        summary="Pause: start no more runs; or resume. Active runs continue",
        request=None,
        responses=PolicyShape,
    )
    def post(self, request: Request, policy_id: str, verb: str) -> Response:
        manage.pause(_writable(request, policy_id), verb == "pause")
        return Response(_told(policy_id))


class PolicyCertificate(ApiView):
    @extend_schema(
        summary="Sign the present state of a policy: an in-toto statement in a DSSE envelope",
        request=None,
        responses={200: OpenApiTypes.OBJECT, 403: Problem, 409: Problem},
    )
    def post(self, request: Request, policy_id: str) -> HttpResponse:
        row = _policy(policy_id)
        with problems():
            return as_file(issue.of_a_policy(row), f"policy-{row.pk}")


class PoliciesSwitch(ApiView):
    #: Who has a scope may not, whatever the role.
    of_all_clusters = True

    @extend_schema(
        summary="Pause or resume all policies. Needs a scope of all clusters",
        request=None,
        responses=PolicySwitched,
    )
    def post(self, request: Request, verb: str) -> Response:
        _check(request, reading.may_write(None))
        manage.pause_all(verb == "pause", request.user)
        return Response(PolicySwitched(paused=PolicySwitch.all_paused()))


class PolicyCards(ListView):
    resource = POLICY_CARDS

    def rows(self) -> QuerySet[Any]:
        return reading.cards(_policy(self.kwargs["policy_id"]).pk)

    @listed(POLICY_CARDS, "Cards of a policy, each with its state and the reason")
    def get(self, request: Request, policy_id: str) -> Any:
        return self.list(request)


class PolicyCounts(ListView):
    resource = POLICY_COUNTS

    @listed(POLICY_COUNTS, "Cards by state, hour by hour, newest first")
    def get(self, request: Request) -> Any:
        return self.list(request)


LIMIT, MOST = 50, 1000


class PoliciesCompared(ApiView):
    renderer_classes: Any = (*api_settings.DEFAULT_RENDERER_CLASSES, CsvRenderer)

    @extend_schema(
        summary="Before and after of a change: which cards lost what, and measurements",
        parameters=[
            OpenApiParameter("by", str, enum=list(compare.WAYS), description="what a and b are (default: driver)"),
            OpenApiParameter("a", str, required=True, description="before: version, image, or day YYYY-MM-DD (UTC)"),
            OpenApiParameter("b", str, required=True, description="after: the same"),
            OpenApiParameter("cluster", str, many=True, description="cluster names; default: all"),
            OpenApiParameter("pool", str, many=True, description="pools; default: all"),
            OpenApiParameter("model", str, many=True, description="card models; default: all"),
            OpenApiParameter("policy", str, description="policy ID; without it: all policies together"),
            OpenApiParameter("loss", str, enum=list(OUTCOMES), description="only cards that lost this"),
            OpenApiParameter("limit", int, description=f"cards, at most {MOST} ({LIMIT})"),
            OpenApiParameter("cursor", str, description="`next` of the answer before"),
        ],
        description="CSV: a line for each measurement of a group of cards.",
        responses={(200, "application/json"): PolicyComparison, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> Response | HttpResponse:
        only_known(request, (*compare.NAMES, "loss", "limit", "cursor"))
        given = {name: values for name, values in request.query_params.lists() if name != "format"}
        loss, cursor, limit = (given.pop(name, [""])[-1] for name in ("loss", "cursor", "limit"))
        wrong: dict[str, list[str]] = {}
        if loss and loss not in OUTCOMES:
            wrong["loss"] = [f"Must be one of: {', '.join(OUTCOMES)}."]
        if limit and not (limit.isascii() and limit.isdigit() and len(limit) < 6 and 1 <= int(limit) <= MOST):
            wrong["limit"] = [f"Must be an integer from 1 to {MOST}."]
        if wrong:
            raise bad_fields(wrong)
        with problems():
            found = compare.compare(compare.read(given))
        if getattr(request.accepted_renderer, "format", "") == CsvRenderer.format:
            answer = HttpResponse(as_csv(found, cluster_names()), content_type="text/csv; charset=utf-8")
            answer.headers["Content-Disposition"] = 'attachment; filename="gpudash-before-and-after.csv"'
            return answer
        rows, following = losses.page(found.losses, loss, cursor, int(limit or LIMIT))
        if rows is None:
            raise bad_fields({"cursor": ["This card is no longer in the list. Start again without a cursor."]})
        names = cluster_names()
        cards = [filled(ComparedCard, one, names) for one in losses.details(rows)]
        return Response(filled(PolicyComparison, found, names, cards=cards, next=following and str(following)))


class PolicyPreviewed(ApiView):
    #: Nothing is written: who may look may look at this too.
    write_role = "viewer"

    @extend_schema(
        summary="Preview a policy: its cards, and its windows of the next 24 h",
        request=PolicyDraft,
        responses=PolicyPreview,
    )
    def post(self, request: Request) -> Response:
        draft = body_of(request, PolicyDraft)
        with problems():
            row = manage.row_of(draft)
            try:
                found = plan.preview(row, database_now())
            except rules.NoRule:
                raise Refused({"suite": [sentence("No suite {name}.", name=draft.suite[:64])]}) from None
        reasons = [PolicyReason(state, reason, number) for (state, reason), number in found.reasons.items()]
        windows = [filled(PolicyPlanned, one) for one in found.windows]
        return Response(filled(PolicyPreview, found, reasons=reasons, windows=windows))


def _policy(policy_id: str) -> Policy:
    row = reading.policies().select_related("cluster").of_id(policy_id)
    if row is None:
        raise NotFound(f"There is no policy {policy_id[:64]!r}. /api/v1/policies lists them.")
    return row


def _told(policy_id: str) -> Any:
    [row] = reading.with_now([_policy(policy_id)])
    return POLICIES.read(row, cluster_names())


def _writable(request: Request, policy_id: str) -> Policy:
    row = _policy(policy_id)
    _check(request, reading.may_write(row.cluster_id))
    return row


def _check_admin(request: Request) -> None:
    """Raises PermissionDenied."""
    if request_role(request) != Role.ADMIN or not current().everything:
        refuse(Action.ACCESS, f"{request.method} {request._request.path_info}", wanted=Role.ADMIN.value)
        raise PermissionDenied("takes_out requires the role admin for all clusters.")


def _check(request: Request, may: bool) -> None:
    """What a policy starts is launched with the scope of who has made it. Raises PermissionDenied."""
    if not may:
        refuse(Action.ACCESS, f"{request.method} {request._request.path_info}", wanted="scope")
        raise PermissionDenied("Your scope does not include all clusters of this policy. Name a cluster of your scope.")
