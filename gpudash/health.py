"""/healthz: the process answers. /readyz: each part that it needs answers too, and the background processes are seen.

Both are open and say nothing secret.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu import Connection

from accounts.required import open_to_all
from inventory.heartbeats import pulses
from inventory.models import Role

logger = logging.getLogger(__name__)
BROKER_TIMEOUT_S = 2
HEALTHY = b"ok\n"
_IN_DATABASE = ("migrations",)


class NotReady(Exception):
    """A part does not work; the text says which thing to look at."""


@open_to_all
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Where gpudash's own server runs, it answers this before Django does (`gpudash.web`)."""
    return HttpResponse(HEALTHY, content_type="text/plain")


@open_to_all
@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    parts = {"database": _state("database", check_database)}
    there = bool(parts["database"]["ok"])
    for name, check in CHECKS.items():
        # A database that is away is waited for once.
        parts[name] = _state(name, check if there or name not in _IN_DATABASE else _not_asked)
    ready = all(part["ok"] for part in parts.values())
    return JsonResponse({"ready": ready, "parts": parts | _background(there)}, status=200 if ready else 503)


def _background(there: bool) -> dict[str, dict[str, object]]:
    """The processes that work behind the pages. They do not make this one unready: that would take the pages away, too."""
    try:
        if not there:
            raise DatabaseError
        return {one.role.value: {"ok": one.ok, "reason": one.reason} for one in pulses()}
    except DatabaseError:
        return {
            role.value: {"ok": False, "reason": "not known: it could not be read from the database"} for role in Role
        }


def _state(name: str, check: Callable[[], None]) -> dict[str, object]:
    """The reason is a word for the probe; what went wrong in full may name hosts and users and goes to the log."""
    try:
        check()
    except NotReady as error:
        return {"ok": False, "reason": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever a driver raises means that the part does not work
        logger.warning("readyz: %s does not work: %s", name, error)
        return {"ok": False, "reason": f"the {name} does not answer ({type(error).__name__}); the log says more"}
    return {"ok": True, "reason": ""}


def check_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def check_migrations() -> None:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        raise NotReady(f"{len(missing)} migrations are not applied; run manage.py migrate")


def check_broker() -> None:
    """Asks the broker, for at most two seconds in total. A broker in memory is this process."""
    if settings.CELERY_BROKER_URL.startswith("memory:"):
        return
    asked = _Asked.now()
    if not asked.done.wait(BROKER_TIMEOUT_S):
        raise NotReady(f"the broker does not answer within {BROKER_TIMEOUT_S} s")
    if asked.error is not None:
        raise asked.error


class _Asked(threading.Thread):
    """One question to the broker. Its library tries again by itself, so that no time-out of a socket bounds it.

    Probes that come while one waits wait with it: a broker that drops packets must not collect threads.
    """

    _last: _Asked | None = None
    _lock = threading.Lock()

    def __init__(self) -> None:
        super().__init__(name="readyz broker", daemon=True)
        self.url = str(settings.CELERY_BROKER_URL)
        self.done = threading.Event()
        self.error: Exception | None = None

    @classmethod
    def now(cls) -> _Asked:
        with cls._lock:
            last = cls._last
            if last is None or not last.is_alive() or last.done.is_set() or last.url != settings.CELERY_BROKER_URL:
                last = cls._last = cls()
                last.start()
            return last

    def run(self) -> None:
        try:
            _ask_broker(self.url)
        except Exception as error:  # noqa: BLE001 - who waits raises it
            self.error = error
        self.done.set()


def _ask_broker(url: str) -> None:
    options = {"socket_connect_timeout": BROKER_TIMEOUT_S, "socket_timeout": BROKER_TIMEOUT_S}
    with Connection(url, connect_timeout=BROKER_TIMEOUT_S, transport_options=options) as broker:
        broker.ensure_connection(max_retries=0, timeout=BROKER_TIMEOUT_S, reraise_as_library_errors=False)


def check_static_files() -> None:
    """Production serves collected files only: without their list every page fails."""
    if settings.PRODUCTION and not (Path(str(settings.STATIC_ROOT)) / "staticfiles.json").is_file():
        raise NotReady(f"there are no static files in {settings.STATIC_ROOT}; run manage.py collectstatic")


def _not_asked() -> None:
    raise NotReady("not known: the database does not answer")


CHECKS: dict[str, Callable[[], None]] = {
    "broker": check_broker,
    "migrations": check_migrations,
    "static": check_static_files,
}
