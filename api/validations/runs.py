"""/api/v1/suites and /api/v1/runs: look, preview, launch, cancel, run again, read the log again."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView, ListView, listed
from api.frame.bodies import Conflict, body_of
from api.frame.problems import Problem, only_known
from api.validations.base import MADE_AT, check_text, key_of, no_such, problems
from resources import run_detail as resources
from resources.declared import filled
from resources.run import RUNS
from resources.run_detail import run_detail
from resources.suite import SuiteList, SuiteShape
from validations import logstore, querysets
from validations.compared import compared
from validations.models import Run
from validations.planning import RunDraft, plan
from validations.reparse import request_reparse
from validations.requests import holder_of, request_again, request_cancel, request_run
from validations.suites import find, registry

LOG_PIECE = 1 << 20
_KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, description="The same key with the same body returns the same run."
)


def _told(name: str, kind: type, text: str, **more: Any) -> OpenApiParameter:
    """A header of the answer."""
    return OpenApiParameter(
        name, kind, OpenApiParameter.HEADER, required=True, response=[200], description=text, **more
    )


class Suites(ApiView):
    @extend_schema(
        operation_id="suites_list", summary="Suites: the kinds of tests, with their options", responses=SuiteList
    )
    def get(self, request: Request) -> Response:
        only_known(request)
        return Response(SuiteList(results=[filled(SuiteShape, one) for one in registry().values()]))


class SuiteDetail(ApiView):
    @extend_schema(summary="One suite", responses=SuiteShape)
    def get(self, request: Request, suite_id: str) -> Response:
        suite = find(suite_id)
        if suite is None:
            raise no_such("suite", suite_id)
        return Response(filled(SuiteShape, suite))


class Runs(ListView):
    resource = RUNS
    #: The audit log says this of who may not.
    told_of = ("suite", "cluster", "node", "card")

    @listed(RUNS, "Runs, newest first")
    def get(self, request: Request) -> Any:
        return self.list(request)

    @extend_schema(
        summary="Launch a run; 409 names the run that occupies the target",
        parameters=[_KEY, MADE_AT],
        request=RunDraft,
        responses={201: resources.RunDetail, 200: resources.RunDetail, 409: Problem, 422: Problem},
    )
    def post(self, request: Request) -> Response:
        with problems():
            run, new = request_run(_draft(request), request.user, key_of(request))
        return _answer(run, new)


class RunPreview(ApiView):
    #: Nothing is launched: who may look may look at this too.
    write_role = "viewer"

    @extend_schema(
        summary="Preview a run: its Job manifest and obstacles", request=RunDraft, responses=resources.Preview
    )
    def post(self, request: Request) -> Response:
        draft = _draft(request)
        with problems():
            wanted = plan(draft)
        holder = holder_of(wanted)
        launchable = not wanted.hindrances(draft.queue_if_full) and holder is None
        answer = filled(resources.Preview, wanted, launchable=launchable, active_run=holder.pk if holder else None)
        return Response(answer)


class RunDetail(ApiView):
    @extend_schema(summary="One run in full", responses=resources.RunDetail)
    def get(self, request: Request, run_id: str) -> Response:
        return Response(run_detail(_whole(run_id)))


class RunCompared(ApiView):
    @extend_schema(summary="First failure, and differences from the last pass", responses=resources.RunCompared)
    def get(self, request: Request, run_id: str) -> Response:
        return Response(filled(resources.RunCompared, compared(_whole(run_id))))


class RunCancel(ApiView):
    @extend_schema(summary="Cancel a run", request=None, responses={202: resources.RunDetail, 409: Problem})
    def post(self, request: Request, run_id: str) -> Response:
        run = _whole(run_id)
        if not request_cancel(run, request.user):
            raise Conflict(f"Run {run.pk} has ended; there is nothing to cancel.")
        return Response(run_detail(_whole(run_id)), status=202)


class RunRerun(ApiView):
    @extend_schema(
        summary="Rerun with the same options",
        parameters=[_KEY, MADE_AT],
        request=None,
        responses={201: resources.RunDetail, 200: resources.RunDetail, 409: Problem, 422: Problem},
    )
    def post(self, request: Request, run_id: str) -> Response:
        with problems():
            run, new = request_again(_whole(run_id), request.user, key_of(request))
        return _answer(run, new)


class RunReparse(ApiView):
    @extend_schema(
        summary="Parse the stored log again with the current parser",
        request=None,
        responses={202: resources.ReparseShape, 409: Problem},
    )
    def post(self, request: Request, run_id: str) -> Response:
        run = _whole(run_id)
        with problems():
            request_reparse(run, request.user)
        told = resources.ReparseShape(run=run.pk, old_verdict=run.verdict, old_parser_version=run.parser_version)
        return Response(told, status=202)


class RunLogText(ApiView):
    """The stored log from an offset. Request again from X-Next-Offset until X-Log-Ended is true and the answer is empty."""

    @extend_schema(
        summary="Log as text, from an offset",
        parameters=[
            OpenApiParameter("offset", int, description="first byte of the stored log, from 0"),
            OpenApiParameter("limit", int, description=f"bytes at most, up to {LOG_PIECE}"),
            _told("X-Next-Offset", int, "offset of the next part"),
            _told("X-Log-Ended", str, "true: the run has ended and the log is complete", enum=["true", "false"]),
        ],
        responses={(200, "text/plain"): OpenApiTypes.STR},
    )
    def get(self, request: Request, run_id: str) -> HttpResponse:
        run = Run.objects.get_queryset().only("id", "state", "log_stored").of_id(run_id)
        if run is None:
            raise no_such("run", run_id)
        offset, limit = _number(request, "offset", 0, 2**62), _number(request, "limit", LOG_PIECE, LOG_PIECE)
        data = logstore.piece(run, offset, limit)
        response = HttpResponse(data, content_type="text/plain; charset=utf-8")
        response.headers["X-Next-Offset"] = str(offset + len(data))
        response.headers["X-Log-Ended"] = "false" if run.active or offset + len(data) < run.log_stored else "true"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Cache-Control"] = "no-store"
        return response


def _draft(request: Request) -> RunDraft:
    draft = body_of(request, RunDraft)
    check_text(suite=draft.suite, node=draft.node, cluster=draft.cluster, card=draft.card)
    return draft


def _whole(run_id: str) -> Run:
    run = querysets.run_whole(run_id)
    if run is None:
        raise no_such("run", run_id)
    return run


def _answer(run: Run, new: bool) -> Response:
    """201: new run, with its URL. 200: existing run of the same key."""
    return Response(
        run_detail(_whole(run.pk)), status=201 if new else 200, headers={"Location": f"/api/v1/runs/{run.pk}"}
    )


def _number(request: Request, name: str, default: int, most: int) -> int:
    text = request.query_params.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= most):
        raise ValidationError({name: [f"Must be an integer from 0 to {most}."]})
    return int(text)
