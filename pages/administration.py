"""Administration: who has access and how many tokens there are, which clusters are there and how one is added, whether gpudash itself
works, whether the audit log holds. In numbers, each with the page behind it. For administrators.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.models import ApiToken, UserScope
from accounts.required import needs
from accounts.roles import Role
from audit.models import Entry
from audit.reading import last_reading
from pages.docs import titles
from pages.frame.freshness import Freshness, freshness_of
from pages.frame.live import live_page
from pages.installation import state_of
from resources.user import users

#: So many clusters are named here, those first that are not in sync.
CLUSTERS_SHOWN = 8
#: A token that ends within this is to be made anew soon.
SOON = timedelta(days=14)


@dataclass(frozen=True)
class People:
    """Accounts and tokens that work. roles: (role, label, how many active accounts have it)."""

    active: int
    deactivated: int
    roles: list[tuple[str, str, int]]
    without_role: int
    limited: int
    tokens: int
    ending: int


@dataclass(frozen=True)
class AuditState:
    """What the last reading of the whole chain found. level: its sign."""

    level: str
    text: str
    at: datetime | None
    entries: int


def people() -> People:
    """Four queries, whatever their number."""
    roles = {role.value: Count("pk", filter=Q(account_role=role.value, is_active=True)) for role in Role}
    counts = users().aggregate(
        active=Count("pk", filter=Q(is_active=True)),
        deactivated=Count("pk", filter=Q(is_active=False)),
        without_role=Count("pk", filter=Q(account_role="", is_active=True)),
        **roles,
    )
    now = timezone.now()
    working = ApiToken.objects.filter(revoked_at=None, expires_at__gt=now, user__is_active=True)
    tokens = working.aggregate(all=Count("pk"), ending=Count("pk", filter=Q(expires_at__lt=now + SOON)))
    return People(
        active=counts["active"],
        deactivated=counts["deactivated"],
        roles=[(role.value, role.label, counts[role.value]) for role in reversed(Role)],
        without_role=counts["without_role"],
        limited=UserScope.objects.filter(user__is_active=True).count(),
        tokens=tokens["all"],
        ending=tokens["ending"],
    )


def audit_state() -> AuditState:
    last = Entry.objects.order_by("-number").values_list("number", flat=True).first() or 0
    read = last_reading()
    if read is not None and read.broken is not None:
        told = _(
            "The chain breaks at entry %(number)s: an entry was changed or is missing. For details, run gpudash audit verify."
        )
        text = told % {"number": read.broken}
        return AuditState("error", text, read.read_at, last)
    if read is None or read.whole_at is None:
        return AuditState("none", _("Not verified yet. A worker verifies the log within minutes."), None, last)
    text = _("Verified: %(n)s entries intact.") % {"n": read.whole_number}
    return AuditState("good", text, read.whole_at, last)


def _clusters(found: list[Freshness]) -> list[Freshness]:
    order = {"error": 0, "warning": 1}
    return sorted(found, key=lambda one: (order.get(one.level, 2), one.cluster))[:CLUSTERS_SHOWN]


@needs(Role.ADMIN)
@require_safe
def administration(request: HttpRequest) -> HttpResponseBase:
    found = freshness_of(request)
    context: dict[str, Any] = {
        "people": people(),
        "clusters": _clusters(found),
        "cluster_count": len(found),
        "state": state_of(),
        "audit": audit_state(),
        "docs": titles(),
        "oidc": settings.OIDC,
        "by_groups": bool(settings.GROUP_ROLES),
        "local_accounts": settings.LOCAL_ACCOUNTS,
    }
    return live_page(request, "administration/page.html", "administration/part.html", context)
