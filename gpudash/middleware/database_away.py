"""While the database is away, or takes no changes, requests are answered at once: 503 and when to ask again. A line a minute says so.

One request at a time tries the database, for as long as a connection may take; all others meanwhile are told what is known.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
from django.db import DatabaseError, InterfaceError, OperationalError, connection, connections
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from api.frame.problems import problem
from gpudash.logs.secrets import masked
from gpudash.middleware.roles import for_programs

logger = logging.getLogger(__name__)
RETRY_S = 5
#: A web process waits no longer for a connection: an answer has to come within 5 s.
CONNECT_S = 3
LINE_EVERY_S = 60.0
DETAIL = (
    "The database is not responding or is read-only. No data is lost. Try again in a few seconds. /readyz "
    "reports the failing part."
)
#: SQLSTATEs of a server that is not there for us: connection lost or refused, shutting down, full, another password.
_AWAY = ("08", "57P", "53300", "28")
_SQLITE_AWAY = ("unable to open", "locked", "disk I/O", "readonly database")
#: A server that takes no changes: a standby, or a primary that became one. Django calls it an internal error.
READ_ONLY = "25006"
#: The driver's own errors: Django wraps none that closing a cursor of the server raises, when the connection was lost under it.
_UNWRAPPED = (psycopg.OperationalError, psycopg.InterfaceError)
#: They need no database, or say themselves that it is away.
_OTHERS = ("/healthz", "/readyz", "/static/")


def is_away(error: BaseException | None) -> bool:
    """Whether this error means that the database is not there, and not that a statement was wrong."""
    if is_read_only(error):
        return True
    if isinstance(error, _UNWRAPPED):
        state = error.sqlstate
    elif not isinstance(error, (OperationalError, InterfaceError)):
        return False
    elif connection.vendor == "sqlite":
        return any(text in str(error) for text in _SQLITE_AWAY)
    else:
        state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(_AWAY)


def is_read_only(error: BaseException | None) -> bool:
    """Whether this error says that the database takes no changes."""
    return READ_ONLY in (getattr(one, "sqlstate", None) for one in (error, getattr(error, "__cause__", None)))


def wait_briefly_for_database() -> None:
    """In this process a connection is waited for no longer than CONNECT_S. Before the first one is made."""
    made = connections.settings["default"]
    if made["ENGINE"].endswith("postgresql"):
        wanted = int(made["OPTIONS"].get("connect_timeout", CONNECT_S))
        made["OPTIONS"]["connect_timeout"] = str(min(wanted, CONNECT_S))


class Outage:
    """What this process knows of the database. Times are of the monotonic clock but `since`, which is told."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trying = threading.Lock()
        self.since = ""
        self._refused = 0
        self._line_at = 0.0

    def refused(self, error: BaseException | None = None) -> None:
        """A request was told so. error: what was found out by it; None: nothing new."""
        with self._lock:
            now = time.monotonic()
            if not self.since:
                self.since, self._refused, self._line_at = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()), 0, 0.0
            self._refused += 1
            if error is not None and (not self._line_at or now - self._line_at >= LINE_EVERY_S):
                self._line_at = now
                text = "database not responding or read-only since %s: %d requests answered with 503 (%s)"
                logger.error(text, self.since, self._refused, _words(error))

    def over(self) -> None:
        with self._lock:
            if self.since:
                logger.warning(
                    "database responding again; since %s %d requests were refused", self.since, self._refused
                )
            self.since = ""

    def still_there(self) -> bool:
        """While it is away: whether it is still. One at a time asks; who comes meanwhile takes it that it is."""
        if not self._trying.acquire(blocking=False):
            self.refused()
            return True
        try:
            connection.close()
            connection.ensure_connection()
        except DatabaseError as error:
            self.refused(error)
            return True
        else:
            self.over()
            return False
        finally:
            self._trying.release()


outage = Outage()


def _words(error: BaseException) -> str:
    return masked(" ".join(str(error).split()))[:300]


def unavailable(request: HttpRequest) -> HttpResponse:
    """The answer. It is no fault of a request: nothing but `Outage` logs it."""
    if for_programs(request):
        response = problem(503, DETAIL)
    else:
        response = HttpResponse(render_to_string("503.html", {"here": request.get_full_path()}), status=503)
    response.headers["Content-Length"] = str(len(response.content))
    response.headers["Retry-After"] = str(RETRY_S)
    response.headers["Cache-Control"] = "no-store"
    logged: Any = response
    logged._has_been_logged = True
    return response


def answer_of_failure(request: HttpRequest) -> HttpResponse | None:
    """For the handler of errors that no view handles: 503 when it is the database that is away."""
    error = sys.exc_info()[1]
    if not is_away(error):
        return None
    outage.refused(error)
    return unavailable(request)


class DatabaseAwayMiddleware:
    """Outside of all that asks the database."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if outage.since and not request.path_info.startswith(_OTHERS) and outage.still_there():
            return unavailable(request)
        return self.get_response(request)
