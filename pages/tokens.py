"""The tokens of a user, as the account's page and the page of a user print them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils import timezone

from accounts.models import ApiToken

#: Of those that have ended, so many are shown: scripts may make one a day for years. Those that work are limited by a setting.
ENDED_SHOWN = 10


@dataclass(frozen=True)
class ShownTokens:
    """The newest first: those that work, then some that have ended. more: whether there are more of those."""

    rows: list[ApiToken]
    more: bool
    now: datetime


def shown_tokens(user: Any) -> ShownTokens:
    """Two queries."""
    now = timezone.now()
    works = Q(revoked_at=None, expires_at__gt=now)
    own = ApiToken.objects.filter(user_id=user.pk).order_by("-created_at", "-pk")
    ended = list(own.exclude(works)[: ENDED_SHOWN + 1])
    return ShownTokens([*own.filter(works), *ended[:ENDED_SHOWN]], len(ended) > ENDED_SHOWN, now)
