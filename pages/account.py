"""Pages of the account, and the link that signs in."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import shown_once
from accounts import sign_in_links as links
from accounts.forms import ThemeForm, TokenForm, too_many_tokens
from accounts.models import ApiToken, TooManyTokens
from accounts.passwords import has_password
from accounts.required import open_to_all
from accounts.roles import Role, granted
from accounts.visitor import arrived
from pages.scope_field import ScopeField
from pages.tokens import shown_tokens

#: `pages.frame.navigation` reads it.
THEME_COOKIE = "theme"
YEAR_S = 365 * 24 * 3600
#: What is shown once.
NEW = "token"


class NewTokenForm(TokenForm):
    """On a page the scope is chosen."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["scope"] = ScopeField(_("Your own scope"), initial=())


@open_to_all
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """The demo's link. Looking at it changes nothing, so that a preview or HEAD does not use it up: the page posts.

    404 when such links are off; otherwise a link that does not work leads to the sign-in page.
    """
    if not links.enabled():
        raise Http404
    posted = request.method == "POST"
    user = links.redeem(token) if posted else links.user_of(token)
    if user is None:
        return redirect("sign-in")
    if posted:
        request.signed_in_by = "link"  # type: ignore[attr-defined]  # for the audit log
        login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
        arrived(request)
        return redirect(resolve_url(settings.LOGIN_REDIRECT_URL))
    response = render(request, "access/sign_in_link.html", {"name": user.get_username()})
    response.headers["Referrer-Policy"] = "strict-origin"  # the address is the secret; no request may carry it on
    return response


@never_cache
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """A token that was just made is on it, once."""
    secret = shown_once.take(request, NEW)
    page = _account_page(request, NewTokenForm(_role(request)), secret=secret)
    return shown_once.forget(page) if secret else page


@never_cache
@require_POST
def create_token(request: HttpRequest) -> HttpResponse:
    """Leads back to the account's page, which shows the token (see `accounts.shown_once`)."""
    form = NewTokenForm(_role(request), request.POST)
    if not form.is_valid() or "check" in request.POST:
        return _account_page(request, form, status=400 if form.errors else 200)
    try:
        _token, secret = form.issue(request.user)
    except TooManyTokens:
        form.add_error("name", too_many_tokens())
        return _account_page(request, form, status=400)
    return shown_once.keep(request, redirect(f"{reverse('account')}#new-token"), NEW, secret)


@require_POST
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    """One's own token; an administrator's, anyone's."""
    tokens = ApiToken.objects.all() if _role(request) == Role.ADMIN else _own_tokens(request)
    token = tokens.filter(pk=token_id).first()
    if token is None:
        raise Http404
    token.revoke()
    return redirect("account") if token.user_id == request.user.pk else redirect("user", token.user_id)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keeps auto, light or dark in a cookie, and goes back to `next`."""
    form = ThemeForm(request.POST)
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, {request.get_host()}, request.is_secure()):
        target = resolve_url("account")
    response = HttpResponseRedirect(target)
    if form.is_valid():
        chosen = form.cleaned_data["theme"]
        response.set_cookie(
            THEME_COOKIE, chosen, max_age=YEAR_S, path=settings.BASE_PATH, samesite="Lax", secure=settings.TLS
        )
    return response


def _role(request: Any) -> Role:
    """The role of this request; the middleware lets none in without one."""
    role: Role = request.role
    return role


def _own_tokens(request: Any) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(user=request.user)


def _account_page(request: HttpRequest, form: TokenForm, status: int = 200, **more: Any) -> HttpResponse:
    page = {
        "form": form,
        "role": _role(request),
        "places": granted(request.user)[1],
        "tokens": shown_tokens(request.user),
        "own_password": has_password(request),
    }
    return render(request, "access/account.html", page | more, status=status)
