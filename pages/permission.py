"""Who may launch: the Django permissions of the operator's and admin's groups. Knows no roles by name."""

from __future__ import annotations

from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest

LAUNCH, CAMPAIGN = "validations.add_run", "validations.add_campaign"
#: Refuse with 403 who may not; a viewer sees the same forms, disabled, by GET.
launchers_only = permission_required(LAUNCH, raise_exception=True)
campaigners_only = permission_required(CAMPAIGN, raise_exception=True)


def may_launch(request: HttpRequest) -> bool:
    return bool(request.user.has_perm(LAUNCH))


def may_campaign(request: HttpRequest) -> bool:
    return bool(request.user.has_perm(CAMPAIGN))
