"""Nothing is open but what says so: each request needs a signed-in user (or a bearer token) with the role of its view."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils.cache import patch_cache_control

from accounts.addresses import client_address, exact_address
from accounts.bearer import BadToken, Presented, bearer_behind, check_address, presented
from accounts.recent import Known, key_of, recent
from accounts.required import role_wanted
from accounts.roles import Role, granted
from accounts.scopes import access
from api.frame.problems import problem
from audit.actions import Action, Kind
from audit.acts import refuse
from audit.who import Who, acting, acts, current
from gpudash.middleware.request_log import request_id
from runtime.scope import EVERYTHING, NOTHING, Scope, seeing, sees
from runtime.scope import current as current_scope

#: Where programs ask: a bearer token counts, and refusals are problem details. Elsewhere the header is not looked at.
PROGRAM_PATHS = ("/api/", "/metrics")
SIGN_IN = "Sign in, or send the header 'Authorization: Bearer <token>'."
NO_ROLE = "Your account has no role. Ask an administrator for the role viewer."


def for_programs(request: HttpRequest) -> bool:
    return request.path_info.startswith(PROGRAM_PATHS)


class RoleMiddleware:
    """Sets `request.role` (Role or None) and `request.api_token` (ApiToken or None), and the scope in force (`runtime.scope`).

    Refuses who lacks the view's role.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        via = "REST" if for_programs(request) else "page"
        nobody = Who(kind=Kind.ANONYMOUS.value, address=client_address(request), request=request_id.get(), via=via)
        # Nothing is seen until it is known who asks, nor where no view is asked.
        with acting(nobody), seeing(NOTHING):
            response = self.get_response(request)
            _read_on(response, current_scope())
        if getattr(request, "role", None) is not None:
            patch_cache_control(response, private=True)
        return response

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        seen: Any = request
        seen.role, seen.api_token = None, None
        wanted = role_wanted(view)
        if wanted is None:
            sees(EVERYTHING)
            return None
        try:
            _identify(seen, view, wanted)
        except BadToken as error:
            return _not_signed_in(request, str(error))
        if not request.user.is_authenticated:
            return _not_signed_in(request, SIGN_IN)
        acts(_who(seen))
        if seen.role is None or not seen.role.covers(wanted):
            return _refused(request, seen.role, wanted)
        return None


def _identify(request: Any, view: Callable[..., Any], wanted: Role) -> None:
    """Sets who asks. One who was let in a moment ago is not looked up again (`recent`). Raises BadToken."""
    given = presented(request.headers.get("Authorization", "")) if for_programs(request) else None
    key = key_of(request, view, given)
    known = recent.find(key, wanted)
    if known is not None:
        if known.token is not None:
            check_address(known.token, exact_address(request))
        request.user, request.api_token, request.role = known.user, known.token, known.role
        sees(known.scope)
        request.session.accessed = given is None  # the answer varies by its cookie
        return
    started = time.monotonic()
    scope = _look_up(request, given)
    sees(scope)
    if key is not None and request.role is not None and request.role.covers(wanted):
        # Not the lazy one of a session, which holds its request.
        user = request.user if given else getattr(request, "_cached_user", request.user)
        recent.keep(key, Known(user, request.role, scope, request.api_token, started))


def _look_up(request: Any, given: Presented) -> Scope:
    with seeing(EVERYTHING):
        if given is None:
            may = access(*granted(request.user))
            request.role = may.role
            return may.scope
        bearer = bearer_behind(*given, exact_address(request))
        request.user, request.api_token, request.role = bearer.user, bearer.token, bearer.role
        return bearer.scope


def _read_on(response: Any, scope: Scope) -> None:
    """What is streamed is made after this thread has gone on: it sees what the request saw."""
    if getattr(response, "streaming", False):
        response.streaming_content = _seen(iter(response.streaming_content), scope)


def _seen(parts: Iterator[bytes], scope: Scope) -> Iterator[bytes]:
    while True:
        with seeing(scope):
            part = next(parts, None)
        if part is None:
            return
        yield part


def _not_signed_in(request: HttpRequest, detail: str) -> HttpResponse:
    if for_programs(request):
        response = problem(401, detail)
        response.headers["WWW-Authenticate"] = 'Bearer realm="gpudash"'
        return response
    if request.htmx:  # type: ignore[attr-defined]
        # A part of a page: the whole page has to go to the sign-in, not the part.
        return HttpResponse(status=401, headers={"HX-Redirect": resolve_url("sign-in")})
    return redirect_to_login(request.get_full_path())


def _who(request: Any) -> Who:
    """Whoever asks, for the audit log."""
    token = request.api_token
    kind = Kind.SESSION if token is None else Kind.TOKEN
    return msgspec.structs.replace(
        current(), name=request.user.get_username(), kind=kind.value, token=f"gpd_{token.pk}" if token else ""
    )


def _refused(request: HttpRequest, role: Role | None, wanted: Role) -> HttpResponse:
    detail = (
        NO_ROLE
        if role is None
        else f"Requires the role {wanted.value}; your role is {role.value}. Ask an administrator."
    )
    refuse(Action.ACCESS, f"{request.method} {request.path_info}", wanted=wanted.value)
    if for_programs(request):
        return problem(403, detail)
    return render(request, "access/refused.html", {"role": role, "wanted": wanted, "detail": detail}, status=403)
