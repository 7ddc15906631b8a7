"""/healthz: the process answers. /readyz: each part that it needs answers too, and the background processes are seen.

Both are open and say nothing secret.
"""

from __future__ import annotations

import logging
import math
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu import Connection

from accounts.required import open_to_all
from gpudash.later_release import differing_migrations, later
from gpudash.probes import HEALTHY
from inventory.processes import pulses
from runtime.models import Role

logger = logging.getLogger(__name__)
BROKER_TIMEOUT_S = 2
#: Seconds for which an answer of /readyz is given again, and after which it is too old to be given, whichever request looks.
KEPT_S, OLD_S = 1.0, 10.0
_IN_DATABASE = ("migrations",)


class NotReady(Exception):
    """A part does not work; the text says which thing to look at."""


@open_to_all
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Waits for a thread like a page. A probe of a process asks the listener for probes (`gpudash.web`)."""
    return HttpResponse(HEALTHY, content_type="text/plain")


@open_to_all
@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Looked up no more than once in KEPT_S: it is open, and costs ten times what a page does that many share."""
    parts = _kept.get()
    ready = all(part["ok"] for name, part in parts.items() if name in ("database", *CHECKS))
    return JsonResponse({"ready": ready, "parts": parts}, status=200 if ready else 503)


class _Kept:
    """The last answer. While one request looks, the others get the answer before, so that a part that hangs holds up one thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts: dict[str, dict[str, object]] = {}
        self._at = -math.inf

    def get(self) -> dict[str, dict[str, object]]:
        for_s = min(KEPT_S, settings.SHARED_LOOK_S)
        age_s = time.monotonic() - self._at
        if age_s < for_s:
            return self._parts
        if not self._lock.acquire(blocking=not for_s or age_s > OLD_S):
            return self._parts
        try:
            # Another may have looked while this one waited.
            if time.monotonic() - self._at >= for_s:
                self._parts, self._at = _parts(), time.monotonic()
            return self._parts
        finally:
            self._lock.release()


def _parts() -> dict[str, dict[str, object]]:
    parts = {"database": _state("database", check_database)}
    there = bool(parts["database"]["ok"])
    for name, check in CHECKS.items():
        # A database that is away is waited for once.
        parts[name] = _state(name, check if there or name not in _IN_DATABASE else _not_asked)
    return parts | _background(there)


def _background(there: bool) -> dict[str, dict[str, object]]:
    """The processes that work behind the pages. They do not make this one unready: that would take the pages away, too."""
    try:
        if not there:
            raise DatabaseError
        return {one.role.value: {"ok": one.ok, "reason": one.reason} for one in pulses()}
    except DatabaseError:
        return {role.value: {"ok": False, "reason": "unknown: cannot read the database"} for role in Role}


def _state(name: str, check: Callable[[], None]) -> dict[str, object]:
    """The reason is a word for the probe; what went wrong in full may name hosts and users and goes to the log."""
    try:
        check()
    except NotReady as error:
        return {"ok": False, "reason": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever a driver raises means that the part does not work
        logger.warning("readyz: %s failed: %s", name, error)
        return {"ok": False, "reason": f"{name} not responding ({type(error).__name__}); see the log"}
    return {"ok": True, "reason": ""}


def check_database() -> None:
    with connection.cursor() as cursor:
        if connection.vendor != "postgresql":
            cursor.execute("SELECT 1")
            return
        cursor.execute("SELECT current_setting('transaction_read_only')")
        if cursor.fetchone() == ("on",):
            raise NotReady("the database is read-only")


def check_migrations() -> None:
    found = differing_migrations()
    if text := later(found.strange):
        raise NotReady(text)
    if found.missing:
        raise NotReady(f"{len(found.missing)} migrations not applied; run gpudash migrate")


def check_broker() -> None:
    """Asks the broker, for at most two seconds in total. A broker in memory is this process."""
    if settings.CELERY_BROKER_URL.startswith("memory:"):
        return
    asked = _Asked.now()
    if not asked.done.wait(BROKER_TIMEOUT_S):
        raise NotReady(f"broker not responding within {BROKER_TIMEOUT_S} s")
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
        # One that is full, or a replica, lets itself be connected to and takes no message.
        name = f"readyz.{socket.gethostname()}.{os.getpid()}"
        with broker.SimpleQueue(name, no_ack=True, queue_opts={"durable": False, "auto_delete": True}) as queue:
            queue.put("ready?")
            queue.get(timeout=BROKER_TIMEOUT_S)
            queue.queue.delete()


def check_static_files() -> None:
    """Production serves collected files only: without their list every page fails."""
    if settings.PRODUCTION and not (Path(str(settings.STATIC_ROOT)) / "staticfiles.json").is_file():
        raise NotReady(f"no static files in {settings.STATIC_ROOT}; run gpudash collectstatic")


def _not_asked() -> None:
    raise NotReady("unknown: database not responding")


CHECKS: dict[str, Callable[[], None]] = {
    "broker": check_broker,
    "migrations": check_migrations,
    "static": check_static_files,
}
_kept = _Kept()
