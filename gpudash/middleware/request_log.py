"""One log line per request, and the ids that every line of a request or of a watcher carries."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

from gpudash.logs.secrets import masked
from runtime.log_context import cluster_name
from runtime.telemetry import figures

logger = logging.getLogger("gpudash.request")
request_id: ContextVar[str] = ContextVar("request_id", default="")
_ID = re.compile(r"^[A-Za-z0-9._-]{1,64}$")
#: Probes and scrapes come every few seconds: logged only when they fail or are slow.
_QUIET = ("/healthz", "/readyz", "/metrics", "/static/")
_SLOW_S = 1.0


class IdsFilter(logging.Filter):
    """Adds request_id and cluster to each record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        record.cluster = getattr(record, "cluster", "") or cluster_name.get()
        return True


class RequestLogMiddleware:
    """Takes X-Request-ID when it is a plain token, makes one otherwise, answers with it. Logs no query string and no body."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        request_id.set(given if _ID.match(given) else uuid.uuid4().hex[:16])
        started = time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - started
        response.headers["X-Request-ID"] = request_id.get()
        figures.count_request(_kind(request), response.status_code, seconds)
        quiet = request.path_info.startswith(_QUIET) and response.status_code < 500 and seconds < _SLOW_S
        # While the database is away, one line a minute counts the requests (`database_away`).
        counted = response.status_code == 503 and getattr(response, "_has_been_logged", False)
        if not quiet and not counted:
            text = "%s %s %d %.0f ms"
            logger.info(text, request.method, masked(request.path_info), response.status_code, seconds * 1000)
        return response


def _kind(request: HttpRequest) -> str:
    """What was asked for, in few words: each is a series of its own."""
    path = request.path_info
    if path.startswith("/api/"):
        return "rest"
    if path.startswith("/metrics"):
        return "scrape"
    if path in ("/healthz", "/readyz"):
        return "probe"
    return "part" if request.headers.get("HX-Request") == "true" else "page"
