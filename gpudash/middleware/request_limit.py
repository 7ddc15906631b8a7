"""So many requests a minute from one address, and with one token: 429 above it, with when the next one is taken.

Counted in the memory of each web process, before anything is looked up: what is refused costs next to nothing. A token is told apart
by its whole text, so that who has not got it cannot use its share up; how its scheme is spelled makes no difference. Probes are not
counted; they are what keeps the process alive.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from hashlib import blake2b
from threading import Lock

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts.addresses import client_address
from accounts.bearer import credentials
from gpudash.middleware.refusals import too_many
from gpudash.middleware.roles import for_programs

_PROBES = frozenset(("/healthz", "/readyz"))
#: Of a minute's requests that many may come at once.
_AT_ONCE = 0.25
#: Addresses and tokens that are remembered; those that asked longest ago are forgotten first.
MOST = 50_000
_MINUTE_S = 60.0


class Buckets:
    """Leaky buckets by key, each kept as the moment from which on it is empty. Threads share one."""

    def __init__(self, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._empty_at: OrderedDict[bytes, float] = OrderedDict()
        self._lock = Lock()

    def take(self, wanted: Iterable[tuple[bytes, int]]) -> float:
        """Count one request against all keys, each with how many it may make in a minute; against none where one is full.

        Seconds until it would be taken; 0: it is.
        """
        now = self._clock()
        with self._lock:
            after: dict[bytes, float] = {}
            wait = 0.0
            for key, a_minute in wanted:
                empty_at = max(self._empty_at.get(key, now), now)
                room = max(a_minute * _AT_ONCE, 1.0) * _MINUTE_S / a_minute
                after[key] = empty_at + _MINUTE_S / a_minute
                wait = max(wait, after[key] - now - room)
            # Of sums of such small steps the last digits are not exact.
            if wait > 1e-6:
                return wait
            for key, empty_at in after.items():
                self._empty_at[key] = empty_at
                self._empty_at.move_to_end(key)
            while len(self._empty_at) > self._most:
                self._empty_at.popitem(last=False)
        return 0.0

    def __len__(self) -> int:
        return len(self._empty_at)

    def clear(self) -> None:
        with self._lock:
            self._empty_at.clear()


buckets = Buckets()


class RequestLimitMiddleware:
    """429 above `settings.REQUESTS_PER_MINUTE_ADDRESS` and `settings.REQUESTS_PER_MINUTE`; 0 for no limit."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        wait_s = buckets.take(_wanted(request)) if request.path_info not in _PROBES else 0.0
        if not wait_s:
            return self.get_response(request)
        response = too_many(request, math.ceil(wait_s))
        response.headers["Retry-After"] = str(math.ceil(wait_s))
        return response


def _wanted(request: HttpRequest) -> Iterable[tuple[bytes, int]]:
    """Where the server knows no address (a Unix socket), and nothing in front of it tells one, there is none to be counted."""
    address, token = client_address(request), credentials(request.headers.get("Authorization", ""))
    if settings.REQUESTS_PER_MINUTE_ADDRESS and address:
        yield b"address " + address.encode(), settings.REQUESTS_PER_MINUTE_ADDRESS
    if settings.REQUESTS_PER_MINUTE and token and for_programs(request):
        digest = blake2b(token.encode(errors="surrogateescape"), digest_size=16).digest()
        yield b"token " + digest, settings.REQUESTS_PER_MINUTE
