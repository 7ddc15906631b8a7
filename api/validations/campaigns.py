"""/api/v1/campaigns: make, look, pause, resume, stop; the matrix of results."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.datastructures import MultiValueDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView, ListView, listed
from api.frame.bodies import body_of
from api.frame.problems import Problem
from api.validations.base import MADE_AT, check_text, key_of, no_such, problems
from inventory.queries import rows as inventory
from resources import campaign as resources
from resources.campaign import CAMPAIGNS, MATRIX
from resources.certificate import as_file
from resources.declared import Shape, filled
from resources.node import NodeFilter
from resources.run_detail import RunWarning
from validations import campaigns, querysets, report
from validations.campaign_checks import MOST_TARGETS, Spot
from validations.certificate import issue
from validations.coverage import coverage
from validations.models import Campaign
from validations.targets import NoPlace, find_cluster

_KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, description="The same key returns the same campaign."
)


class CampaignPlace(Shape):
    """A target of a campaign. card: key of the card; "": any card."""

    node: str
    cluster: str = ""
    card: str = ""


class CampaignDraft(Shape):
    """A campaign to start: either targets, or a selector with filters of /api/v1/nodes."""

    suite: str
    name: str = ""
    options: dict[str, Any] = {}
    targets: list[CampaignPlace] = []
    selector: dict[str, str | list[str]] = {}
    max_parallel: int = 4
    stop_after_failures: int | None = None


class Campaigns(ListView):
    resource = CAMPAIGNS

    @listed(CAMPAIGNS, "Campaigns, newest first")
    def get(self, request: Request) -> Any:
        return self.list(request)

    @extend_schema(
        summary="Start a campaign: one suite on many targets",
        parameters=[_KEY, MADE_AT],
        request=CampaignDraft,
        responses={201: resources.CampaignDetail, 200: resources.CampaignDetail, 422: Problem},
    )
    def post(self, request: Request) -> Response:
        draft = body_of(request, CampaignDraft)
        with problems():
            row, new = campaigns.create(
                draft.suite,
                _spots(draft),
                request.user,
                name=draft.name,
                options=draft.options,
                max_parallel=draft.max_parallel,
                stop_after_failures=draft.stop_after_failures,
                selector=dict(draft.selector),
                key=key_of(request),
            )
        return Response(_detail(row), status=201 if new else 200, headers={"Location": f"/api/v1/campaigns/{row.pk}"})


class CampaignDetail(ApiView):
    @extend_schema(summary="One campaign with its counts", responses=resources.CampaignDetail)
    def get(self, request: Request, campaign_id: str) -> Response:
        return Response(_detail(_campaign(campaign_id)))


class CampaignChange(ApiView):
    @extend_schema(
        summary="Pause, resume or stop; active runs continue",
        request=None,
        responses={200: resources.CampaignDetail, 409: Problem},
    )
    def post(self, request: Request, campaign_id: str, verb: str) -> Response:
        row = _campaign(campaign_id)
        with problems():
            campaigns.change(row, verb)
        return Response(_detail(row))


class CampaignMatrix(ListView):
    """Targets in order, each with verdict and measurements; CSV has no measurements."""

    resource = MATRIX

    def rows(self) -> QuerySet[Any]:
        return querysets.with_results(querysets.campaign_targets(_campaign(self.kwargs["campaign_id"]).pk))

    @listed(MATRIX, "Matrix of a campaign: all targets with their results")
    def get(self, request: Request, campaign_id: str) -> Any:
        return self.list(request)


class CampaignReport(ApiView):
    """The bytes are the canonical form, so that a reader can compute the hash of what came."""

    @extend_schema(
        summary="Report of a campaign in canonical form, with its SHA-256 in X-Report-SHA256",
        parameters=[
            OpenApiParameter(
                "X-Report-SHA256",
                str,
                OpenApiParameter.HEADER,
                required=True,
                response=[200],
                description="SHA-256 of the body, 64 hexadecimal digits",
            )
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, campaign_id: str) -> HttpResponse:
        data = report.canonical(report.content(_campaign(campaign_id)))
        return HttpResponse(data, content_type="application/json", headers={"X-Report-SHA256": report.sha256(data)})


class CampaignCertificate(ApiView):
    """Signing is written to the audit log: it is no reading."""

    @extend_schema(
        summary="Sign the report of an ended campaign: an in-toto statement in a DSSE envelope",
        request=None,
        responses={200: OpenApiTypes.OBJECT, 403: Problem, 409: Problem},
    )
    def post(self, request: Request, campaign_id: str) -> HttpResponse:
        row = _campaign(campaign_id)
        with problems():
            return as_file(issue.of_campaign(row), f"campaign-{row.pk}")


def _campaign(campaign_id: str) -> Campaign:
    row = querysets.campaigns().of_id(campaign_id)
    if row is None:
        raise no_such("campaign", campaign_id)
    return row


def _detail(row: Campaign) -> resources.CampaignDetail:
    return filled(
        resources.CampaignDetail,
        row,
        progress=resources.CampaignProgress(**campaigns.progress(row)),
        coverage=filled(resources.CampaignCoverage, coverage(row)),
        warnings=[filled(RunWarning, one) for one in campaigns.cautions(row)],
    )


def _spots(draft: CampaignDraft) -> list[Spot]:
    if bool(draft.targets) == bool(draft.selector):
        raise ValidationError({"targets": ["Must have either targets or a selector."]})
    if draft.selector:
        return _selected(draft.selector)
    try:
        default = "" if all(place.cluster for place in draft.targets) else find_cluster("").name
    except NoPlace as error:
        raise ValidationError({"targets": [str(error)]}) from None
    for place in draft.targets:
        check_text(targets=place.node + place.cluster + place.card)
    return [(place.cluster or default, place.node, place.card) for place in draft.targets]


def _selected(selector: dict[str, str | list[str]]) -> list[Spot]:
    """Nodes that the filters of the node list choose, in its order."""
    values = {name: value if isinstance(value, list) else [value] for name, value in selector.items()}
    chosen = NodeFilter(MultiValueDict(values), inventory.node_totals())
    if not chosen.is_valid():
        raise ValidationError({f"selector.{name}": list(texts) for name, texts in chosen.errors.items()})
    rows = chosen.ordered().values_list("cluster__name", "node_name")[: MOST_TARGETS + 1]
    return [(cluster, node, "") for cluster, node in rows]
