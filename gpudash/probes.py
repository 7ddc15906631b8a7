"""Probes and scrapes ask by address: a kubelet and Prometheus know a pod by its IP, which no list of host names can hold.

So the host name is not looked at where no answer depends on it. Everything else stays strict.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware

#: `gpudash.urls` has their views. None of them builds an address out of the Host header.
ADDRESSES = frozenset({"/healthz", "/readyz", "/metrics", "/metrics/self"})


class HostMiddleware(CommonMiddleware):
    """Refuses a host name that is not allowed, but not to a probe."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        if request.path_info in ADDRESSES:
            return None
        return super().process_request(request)
