"""Who may launch: the Django permissions of the operator's and admin's groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from accounts.roles import Role
from audit.actions import Action
from audit.acts import refuse
from notifications import silences
from runtime.scope import current
from validations.policies.reading import may_write

LAUNCH, CAMPAIGN = "validations.add_run", "validations.add_campaign"
MAKE_POLICY, CHANGE_POLICY, DELETE_POLICY = (f"validations.{verb}_policy" for verb in ("add", "change", "delete"))
SILENCE, UNSILENCE = "notifications.add_silence", "notifications.change_silence"
#: To take cards out of service and to return them: of the groups operator and admin.
CASE = "quarantine.change_case"
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


def may_make_policies(request: HttpRequest) -> bool:
    return may(request, MAKE_POLICY)


def may_policy(request: HttpRequest, permission: str, cluster_id: int | None) -> bool:
    """Of a policy of one cluster who sees it whole; None: of all clusters, who sees everything."""
    return may(request, permission) and may_write(cluster_id)


def check_policy(request: HttpRequest, permission: str, cluster_id: int | None) -> None:
    """Raises PermissionDenied."""
    if not may_policy(request, permission, cluster_id):
        refused(request)


def may_silence(request: HttpRequest, permission: str, cluster_id: int | None) -> bool:
    """Findings of one cluster who sees it whole; None: of all clusters, who sees everything."""
    return may(request, permission) and silences.may_silence(cluster_id)


def check_silence(request: HttpRequest, permission: str, cluster_id: int | None) -> None:
    """Raises PermissionDenied."""
    if not may_silence(request, permission, cluster_id):
        refused(request)


def may_case(request: HttpRequest, cluster_id: int) -> bool:
    """Who sees the cluster whole: it takes the node from all of its users."""
    return may(request, CASE) and current().sees_whole(cluster_id)


def may_quarantine(request: HttpRequest) -> bool:
    """Whether who asks is an administrator of all clusters: the switch is of all of them."""
    return getattr(request, "role", None) == Role.ADMIN and current().everything


def refused(request: HttpRequest) -> NoReturn:
    """403, and an entry in the audit log."""
    _note_refused(request)
    raise PermissionDenied


def _only(permission: str) -> Callable[[View], View]:
    def marked(view: View) -> View:
        @wraps(view)
        def asked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not may(request, permission):
                refused(request)
            return view(request, *args, **kwargs)

        return asked

    return marked


def _note_refused(request: HttpRequest) -> None:
    """In the audit log, with what the form names: a launch is of a suite on a place."""
    told = {name: request.POST.get(name, "")[:253] for name in ("suite", "cluster", "node", "card")}
    refuse(Action.ACCESS, f"{request.method} {request.path_info}", wanted=Role.OPERATOR.value, **told)


#: Refuse with 403 who may not; a viewer sees the same forms, disabled, by GET.
launchers_only, campaigners_only, relisters_only = _only(LAUNCH), _only(CAMPAIGN), _only(RELIST)
