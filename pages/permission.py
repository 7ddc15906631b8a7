"""Who may launch: the Django permissions of the operator's and admin's groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from accounts.roles import Role
from audit.actions import Action
from audit.acts import refuse
from runtime.scope import current

LAUNCH, CAMPAIGN = "validations.add_run", "validations.add_campaign"
#: To have a cluster listed anew: of the groups operator and admin.
RELIST = "inventory.change_watch"
View = Callable[..., HttpResponseBase]


def may(request: HttpRequest, permission: str) -> bool:
    """Who sees namespaces only may look, whatever the groups say: what changes something takes from all who use a cluster."""
    return not current().partial and bool(request.user.has_perm(permission))


def may_launch(request: HttpRequest) -> bool:
    return may(request, LAUNCH)


def may_campaign(request: HttpRequest) -> bool:
    return may(request, CAMPAIGN)


def _only(permission: str) -> Callable[[View], View]:
    def marked(view: View) -> View:
        @wraps(view)
        def asked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not may(request, permission):
                _note_refused(request)
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return asked

    return marked


def _note_refused(request: HttpRequest) -> None:
    """In the audit log, with what the form names: a launch is of a suite on a place."""
    told = {name: request.POST.get(name, "")[:253] for name in ("suite", "cluster", "node", "card")}
    refuse(Action.ACCESS, f"{request.method} {request.path_info}", wanted=Role.OPERATOR.value, **told)


#: Refuse with 403 who may not; a viewer sees the same forms, disabled, by GET.
launchers_only, campaigners_only, relisters_only = _only(LAUNCH), _only(CAMPAIGN), _only(RELIST)
