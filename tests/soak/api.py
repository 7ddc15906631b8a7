"""The administrator of a cluster whose API server is sometimes away: what was not reached is an OSError, like any other."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import urllib3

from tests.controlplane.admin import Admin, Refused
from tests.controlplane.objects import Json

Answer = TypeVar("Answer")
PATIENCE_S, PAUSE_S = 120.0, 0.5


class Away(OSError):
    """The API server was not reached, or is not ready."""


class PatientAdmin(Admin):
    """Does not retry by itself: a change that was made and not answered must not be made twice without a word."""

    def __init__(self, kubeconfig: Path) -> None:
        super().__init__(kubeconfig)
        authority = self._pool.connection_pool_kw["ca_certs"]
        self._pool = urllib3.PoolManager(ca_certs=authority, maxsize=32, retries=False)

    def call(self, method: str, path: str, body: object = None, content_type: str = "application/json") -> Json:
        """Raises Refused, and Away."""
        try:
            return super().call(method, path, body, content_type)
        except urllib3.exceptions.HTTPError as error:
            raise Away(str(error)) from None
        except Refused as refused:
            # Just started, it does not know its tokens or roles for a moment.
            if refused.status in (401, 403, 429) or refused.status >= 500:
                raise Away(str(refused)) from None
            raise


def patiently(call: Callable[[], Answer]) -> Answer:
    """The answer, as soon as the API server is there. The call must be one that may be made twice. Raises Away after a while."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return call()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(PAUSE_S)
