"""Nothing is open but what says so: each request needs a signed-in user (or a bearer token) with the role of its view."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils.cache import patch_cache_control

from accounts.bearer import BadToken, Presented, bearer_behind, presented
from accounts.recent import Known, key_of, recent
from accounts.required import role_wanted
from accounts.roles import Role, role_of
from api.frame.problems import problem

#: Where programs ask: a bearer token counts, and refusals are problem details. Elsewhere the header is not looked at.
PROGRAM_PATHS = ("/api/", "/metrics")
SIGN_IN = "Sign in, or send the header 'Authorization: Bearer <token>'."
NO_ROLE = "Your account has no role. Ask an administrator for the role viewer."


def for_programs(request: HttpRequest) -> bool:
    return request.path_info.startswith(PROGRAM_PATHS)


class RoleMiddleware:
    """Sets `request.role` (Role or None) and `request.api_token` (ApiToken or None), and refuses who lacks the view's role."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
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
            return None
        try:
            _identify(seen, view, wanted)
        except BadToken as error:
            return _not_signed_in(request, str(error))
        if not request.user.is_authenticated:
            return _not_signed_in(request, SIGN_IN)
        if seen.role is None or not seen.role.covers(wanted):
            return _refused(request, seen.role, wanted)
        return None


def _identify(request: Any, view: Callable[..., Any], wanted: Role) -> None:
    """Sets who asks. One who was let in a moment ago is not looked up again (`recent`). Raises BadToken."""
    given = presented(request.headers.get("Authorization", "")) if for_programs(request) else None
    key = key_of(request, view, given)
    known = recent.find(key, wanted)
    if known is not None:
        request.user, request.api_token, request.role = known.user, known.token, known.role
        request.session.accessed = given is None  # the answer varies by its cookie
        return
    started = time.monotonic()
    _look_up(request, given)
    if key is not None and request.role is not None and request.role.covers(wanted):
        # Not the lazy one of a session, which holds its request.
        user = request.user if given else getattr(request, "_cached_user", request.user)
        recent.keep(key, Known(user, request.role, request.api_token, started))


def _look_up(request: Any, given: Presented) -> None:
    if given is None:
        request.role = role_of(request.user)
    else:
        bearer = bearer_behind(*given)
        request.user, request.api_token, request.role = bearer.user, bearer.token, bearer.role


def _not_signed_in(request: HttpRequest, detail: str) -> HttpResponse:
    if for_programs(request):
        response = problem(401, detail)
        response.headers["WWW-Authenticate"] = 'Bearer realm="gpudash"'
        return response
    if request.htmx:  # type: ignore[attr-defined]
        # A part of a page: the whole page has to go to the sign-in, not the part.
        return HttpResponse(status=401, headers={"HX-Redirect": resolve_url("sign-in")})
    return redirect_to_login(request.get_full_path())


def _refused(request: HttpRequest, role: Role | None, wanted: Role) -> HttpResponse:
    detail = (
        NO_ROLE if role is None else f"This needs the role {wanted.value}; you have {role.value}. Ask an administrator."
    )
    if for_programs(request):
        return problem(403, detail)
    return render(request, "access/refused.html", {"role": role, "wanted": wanted, "detail": detail}, status=403)
