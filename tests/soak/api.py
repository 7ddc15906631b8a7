"""The administrator of a cluster whose API server is sometimes away: what was not reached is an OSError, like any other."""

from __future__ import annotations

from pathlib import Path

import urllib3

from tests.controlplane.admin import Admin, Refused
from tests.controlplane.objects import Json


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
