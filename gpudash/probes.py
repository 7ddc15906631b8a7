"""Probes and scrapes ask by address: a kubelet and Prometheus know a pod by its IP, which no list of host names can hold.

So the host name is not looked at where no answer depends on it. Everything else stays strict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware

ALIVE, READY = "/healthz", "/readyz"
HEALTHY = b"ok\n"
_NEVER_KEPT = "max-age=0, no-cache, no-store, must-revalidate, private"
#: `gpudash.urls` has their views. None of them builds an address out of the Host header.
ADDRESSES = frozenset({ALIVE, READY, "/metrics", "/metrics/self"})


class HostMiddleware(CommonMiddleware):
    """Refuses a host name that is not allowed, but not to a probe."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        if request.path_info in ADDRESSES:
            return None
        return super().process_request(request)


def probes_only(application: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """What the listener for probes answers: /healthz by itself, without Django or the database; /readyz by the application."""

    def asked(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        base = settings.BASE_PATH.rstrip("/")
        bare = path.removeprefix(base) if path.startswith(f"{base}/") else path
        if bare == READY:
            return application(environ, start)
        found = bare == ALIVE and environ.get("REQUEST_METHOD") in ("GET", "HEAD")
        body = HEALTHY if found else b"this address answers GET /healthz and GET /readyz\n"
        headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(body))), ("Cache-Control", _NEVER_KEPT)]
        start("200 OK" if found else "404 Not Found", headers)
        return [] if environ.get("REQUEST_METHOD") == "HEAD" else [body]

    return asked
