"""The second step of signing in with a password: asked for after it, switched on and off on the account's page."""

from __future__ import annotations

import base64
import math
import time
from datetime import timedelta
from typing import Any

from allauth.mfa.adapter import get_adapter
from cryptography.fernet import InvalidToken
from django import forms
from django.conf import settings
from django.contrib.auth import get_user_model, login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import passwords, shown_once, two_factor
from accounts.passwords import has_password
from accounts.required import open_to_all
from accounts.sign_in_limit import TooManyTries
from accounts.visitor import arrived, remember
from audit.actions import Action
from audit.acts import refuse
from pages.sign_in import PENDING, right_password

#: In the session of who sets the app up.
NEW_KEY = "second_step_key"
PENDING_S = 600
#: What is shown once.
CODES = "codes"


class CodeForm(forms.Form):
    code = forms.CharField(
        label=gettext_lazy("Authenticator code"),
        max_length=two_factor.MAX_LENGTH,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True}),
    )


class ChangeForm(CodeForm):
    """Who has found an open session neither locks the owner out nor takes the second step away."""

    password = forms.CharField(
        label=gettext_lazy("Password"),
        max_length=passwords.MAX_LENGTH,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "autofocus": True}),
    )
    field_order = ("password", "code")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["code"].widget.attrs["autofocus"]  # the password comes first


@open_to_all
@never_cache
@require_http_methods(["GET", "POST"])
def code(request: HttpRequest) -> HttpResponse:
    user, after = _pending(request)
    if user is None:
        return redirect("sign-in")
    form, blocked, status = CodeForm(request.POST or None), "", 200
    if request.method == "POST" and form.is_valid():
        try:
            if two_factor.check(user, form.cleaned_data["code"]):
                return _signed_in(request, user, after)
        except TooManyTries as error:
            blocked, status = _too_many(error), 429
        else:
            refuse(Action.SIGN_IN, user.get_username(), by="code")
            form.add_error("code", _("Wrong code, or the code was already used."))
    response = render(request, "access/code.html", {"form": form, "blocked": blocked}, status=status)
    response._has_been_logged = True  # type: ignore[attr-defined]  # meant so: no error for Django's log
    return response


def _pending(request: HttpRequest) -> tuple[Any, str]:
    """Who has given the right password a moment ago, and still has it; (None, "") for nobody."""
    try:
        key, auth_hash, at, after = request.session[PENDING]
    except (KeyError, TypeError, ValueError):
        return None, ""
    user = get_user_model().objects.filter(pk=key, is_active=True).first()
    fresh = 0 <= time.time() - at < PENDING_S and settings.LOCAL_ACCOUNTS
    if user is None or not fresh or not constant_time_compare(user.get_session_auth_hash(), auth_hash):
        return None, ""
    return user, after


def _signed_in(request: Any, user: Any, after: str) -> HttpResponse:
    request.session.pop(PENDING, None)
    request.signed_in_by = "password and code"
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    arrived(request)
    response = redirect(after)
    remember(user, request, response)
    return response


def _too_many(error: TooManyTries) -> str:
    return _("Too many failed attempts. Try again in %d min.") % math.ceil(error.wait / timedelta(minutes=1))


@never_cache
@require_http_methods(["GET", "POST"])
def two_factor_page(request: HttpRequest) -> HttpResponse:
    """Switches it on, or off where it is on."""
    if not has_password(request):
        raise Http404
    if codes := shown_once.take(request, CODES):
        return shown_once.forget(render(request, "access/two_factor.html", {"codes": codes.split()}))
    form, blocked, status = ChangeForm(request.POST or None), "", 200
    if request.method == "POST" and form.is_valid():
        try:
            if (done := _change(request, form)) is not None:
                return done
        except TooManyTries as error:
            blocked, status = _too_many(error), 429
        except passwords.Busy:
            blocked, status = _("Too many sign-ins right now. Try again in a few seconds."), 503
    page = {"form": form, "blocked": blocked, "on": two_factor.is_on(request.user)}
    if not page["on"]:
        page |= _setup(request)
    response = render(request, "access/two_factor.html", page, status=status)
    # The secret of the app: not compressed, so that the length tells nothing of it.
    patch_cache_control(response, no_transform=True)
    response._has_been_logged = True  # type: ignore[attr-defined]  # meant so: no error for Django's log
    return response


def _change(request: HttpRequest, form: ChangeForm) -> HttpResponse | None:
    """None where the password or the code is wrong, which the form then says."""
    user, given = request.user, form.cleaned_data["code"]
    if not right_password(user, form.cleaned_data["password"]):
        form.add_error("password", _("Wrong password."))
        return None
    on = two_factor.is_on(user)
    secret = "" if on else _secret(request)
    if not (two_factor.check(user, given) if on else two_factor.fits(user, secret, given)):
        form.add_error("code", _("Wrong code, or the code was already used."))
        return None
    if on:
        two_factor.switch_off(user)
        return redirect("account")
    request.session.pop(NEW_KEY, None)
    codes = two_factor.switch_on(user, secret)
    return shown_once.keep(request, redirect("account-two-factor"), CODES, " ".join(codes))


def _secret(request: HttpRequest) -> str:
    """The one that this page shows, until it is switched on."""
    adapter = get_adapter()
    try:
        return str(adapter.decrypt(request.session[NEW_KEY]))
    except (KeyError, InvalidToken):
        secret = two_factor.new_secret()
        request.session[NEW_KEY] = adapter.encrypt(secret)
        return secret


def _setup(request: HttpRequest) -> dict[str, str]:
    """The secret as text and as a picture, for the app."""
    adapter, secret = get_adapter(), _secret(request)
    svg = adapter.build_totp_svg(adapter.build_totp_url(request.user, secret))
    return {"secret": secret, "picture": "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()}
