"""Who asked a moment ago: kept in each process for KEPT_S, since finding it out costs more than an answer that many share.

Only who was let in is kept, never a refusal, and only reads of what many share ask here. So who signs out, loses a role or a token,
or has another password is refused in every process no later than KEPT_S afterwards. Keys are digests: no secret stays here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.bearer import Presented
from accounts.models import ApiToken, hash_secret
from accounts.roles import Role
from runtime.cached import is_shareable
from runtime.scope import Scope

KEPT_S = 1.0
MOST = 2_000


@dataclass(frozen=True)
class Known:
    """Who asks, and for what. token: None for a session. at: of the monotonic clock, before it was looked up."""

    user: Any
    role: Role
    scope: Scope
    token: ApiToken | None
    at: float

    @property
    def holds(self) -> bool:
        usable = self.token is None or self.token.usable(timezone.now())
        return usable and time.monotonic() - self.at < min(KEPT_S, settings.SHARED_LOOK_S)


class Recent:
    """Of this process, by what they presented. The operations of a dict are whole for threads: no lock."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Known] = {}

    def find(self, key: Hashable | None, wanted: Role) -> Known | None:
        """Who is known by this key and may do what `wanted` may."""
        known = self._known.get(key)
        return known if known is not None and known.role.covers(wanted) and known.holds else None

    def keep(self, key: Hashable, known: Known) -> None:
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[key] = known


recent = Recent()


def key_of(request: Any, view: Callable[..., Any], presented: Presented) -> Hashable | None:
    """What this request is known by; None when it has to be looked up in any case."""
    if request.method not in ("GET", "HEAD") or not settings.SHARED_LOOK_S or not is_shareable(view):
        return None
    if presented is not None:
        return presented
    session = request.session.session_key
    return hash_secret(session) if session else None
