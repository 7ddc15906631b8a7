"""/api/v1/results: results of other tools: look, preview, send, and the file as it came."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ParseError, PermissionDenied, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView, ListView, listed
from api.frame.bodies import body_of
from api.frame.parsing import StrictJSONParser, read
from api.validations.base import MADE_AT, check_text, no_such, problems
from audit.actions import Action
from audit.acts import refuse
from resources.csv_export import cluster_names
from resources.declared import filled
from resources.imported import RESULTS, ResultDetail, ResultPreview, preview_of
from validations import imported
from validations.imports import registry
from validations.models import ImportedResult

CLOUDEVENT = "application/cloudevents+json"
_FILES = ("report", "rules", "baseline")


class ResultDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A result to send. content: the file as text. cluster: "": the cluster that the report names, or the only one.

    node: node of a report that names none. rules, baseline: files of SuperBench.
    """

    format: str
    content: str
    cluster: str = ""
    node: str = ""
    rules: str | None = None
    baseline: str | None = None


class CloudEventParser(BaseParser):
    """An event, or a batch of them, as NVSentinel sends it: the body is the file."""

    media_type = CLOUDEVENT

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            text = read(stream).decode()
        except UnicodeDecodeError:
            raise ParseError("The body is not UTF-8.") from None
        return {"format": "nvsentinel-cloudevent", "content": text}


class CloudEventsParser(CloudEventParser):
    media_type = "application/cloudevents-batch+json"


_PARSERS: tuple[type[BaseParser], ...] = (StrictJSONParser, CloudEventParser, CloudEventsParser)
_BODY = {"application/json": ResultDraft, CLOUDEVENT: OpenApiTypes.OBJECT}


class Results(ListView):
    resource = RESULTS
    parser_classes = _PARSERS
    #: The audit log says this of who may not.
    told_of = ("format", "cluster", "node")

    @listed(RESULTS, "Results of other tools, newest first")
    def get(self, request: Request) -> Any:
        return self.list(request)

    @extend_schema(
        summary="Send a result of another tool",
        description=(
            f"Formats: {', '.join(registry())}. The same result again returns the first one. "
            "A CloudEvent can be the body itself; it is answered with 202 each time."
        ),
        parameters=[MADE_AT],
        request=_BODY,
        responses={201: ResultDetail, 200: ResultDetail, 202: ResultDetail},
    )
    def post(self, request: Request) -> Response:
        with _problems(request):
            row, new = imported.receive(_report(request), request.user)
        status = 202 if "cloudevents" in (request.content_type or "") else 201 if new else 200
        return Response(_told(row.pk), status=status, headers={"Location": f"/api/v1/results/{row.pk}"})


class ResultPreviewed(ApiView):
    #: Nothing is written.
    write_role = "viewer"
    parser_classes = _PARSERS

    @extend_schema(summary="Preview a result: what a file states", request=_BODY, responses=ResultPreview)
    def post(self, request: Request) -> Response:
        with _problems(request):
            return Response(preview_of(imported.read(_report(request))))


class ResultOne(ApiView):
    @extend_schema(summary="One result with all that it states", responses=ResultDetail)
    def get(self, request: Request, result_id: str) -> Response:
        return Response(_told(result_id))


class ResultOriginal(ApiView):
    """The bytes as they came, for who sees the whole cluster."""

    @extend_schema(
        summary="File of a result as it came",
        parameters=[OpenApiParameter("file", str, enum=_FILES, description="which file; default report")],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, result_id: str) -> HttpResponse:
        name = request.query_params.get("file", "report")
        if name not in _FILES:
            raise ValidationError({"file": [f"Must be one of: {', '.join(_FILES)}."]})
        row = _found(result_id)
        data = imported.original(row, name)
        if data is None:
            raise no_such("result", f"{result_id[:16]} {name}")
        return attachment(row, name, data)


def attachment(row: ImportedResult, name: str, data: bytes) -> HttpResponse:
    """A file of others: it is saved, never shown or run."""
    response = HttpResponse(data, content_type="application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="{row.format}-{row.pk}-{name}"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response.headers["Cache-Control"] = "no-store"
    return response


@contextmanager
def _problems(request: Request) -> Iterator[None]:
    with problems():
        try:
            yield
        except imported.NotYours as error:
            refuse(Action.ACCESS, f"{request.method} {request._request.path_info}", wanted="scope")
            raise PermissionDenied(str(error)) from None


def _report(request: Request) -> imported.Report:
    draft = body_of(request, ResultDraft)
    check_text(format=draft.format, cluster=draft.cluster, node=draft.node)
    files = {name: text.encode() for name in ("rules", "baseline") if (text := getattr(draft, name)) is not None}
    return imported.Report(
        format=draft.format, content=draft.content.encode(), cluster=draft.cluster, node=draft.node, **files
    )


def _found(result_id: str) -> ImportedResult:
    row = imported.results().of_id(result_id)
    if row is None:
        raise no_such("result", result_id)
    return row


def _told(result_id: str) -> ResultDetail:
    row = imported.result_whole(result_id)
    if row is None:
        raise no_such("result", result_id)
    return filled(ResultDetail, row, cluster=cluster_names().get(row.cluster_id, ""))
