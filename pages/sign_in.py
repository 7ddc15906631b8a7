"""The pages that take a password: signing in and changing it. Each is limited in tries and in work (`docs/access.md`)."""

from __future__ import annotations

import math
import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.core.validators import MaxLengthValidator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts import passwords, sign_in_limit, sign_in_links, two_factor
from accounts.required import open_to_all
from accounts.sign_in_limit import TooManyTries, Use
from accounts.visitor import arrived, on_the_way, remember, visitor_of
from audit.actions import Action
from audit.acts import act


class SignInForm(AuthenticationForm):
    """Django's, limited. `clean` raises TooManyTries and Busy, which are no errors of the form."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["password"].validators.append(MaxLengthValidator(passwords.MAX_LENGTH))

    def clean(self) -> dict[str, Any]:
        if "username" not in self.cleaned_data or "password" not in self.cleaned_data:
            return self.cleaned_data
        assert self.request is not None  # the view gives it
        visitor = visitor_of(self.request, self.cleaned_data["username"])
        sign_in_limit.check(visitor.uses)
        with passwords.checks.one(visitor.known):
            sign_in_limit.take(visitor.uses)
            cleaned: dict[str, Any] = super().clean()
        sign_in_limit.forgive(visitor.uses)
        return cleaned


class ChangePasswordForm(PasswordChangeForm):
    """Django's, limited in the same way: who has found an open session must not guess the password here."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["old_password"].validators.append(MaxLengthValidator(passwords.MAX_LENGTH))

    def clean_old_password(self) -> str:
        uses = _uses_of_owner(self.user)
        sign_in_limit.check(uses)
        with passwords.checks.one(known=True):
            sign_in_limit.take(uses)
            old: str = super().clean_old_password()
        sign_in_limit.forgive(uses)
        return old

    def save(self, commit: bool = True) -> Any:
        with passwords.checks.one(known=True), act(Action.PASSWORD, self.user.get_username()):
            return super().save(commit)


def _uses_of_owner(user: Any) -> list[Use]:
    return [Use(f"change #{user.pk}", sign_in_limit.DEVICE)]


def right_password(user: Any, password: str) -> bool:
    """Of whoever is signed in, asked for once more. Raises TooManyTries and Busy."""
    uses = _uses_of_owner(user)
    sign_in_limit.check(uses)
    with passwords.checks.one(known=True):
        sign_in_limit.take(uses)
        right = bool(user.check_password(password))
    if right:
        sign_in_limit.forgive(uses)
    return right


#: In the session of who has given the right password and owes a code (`two_factor`).
PENDING = "two_factor"


def ask_for_code(request: HttpRequest, user: Any, after: str) -> HttpResponse:
    """The password was right. The session is no session of this user yet."""
    request.session.cycle_key()
    request.session[PENDING] = [user.pk, user.get_session_auth_hash(), int(time.time()), after]
    on_the_way(request)
    return redirect("sign-in-code")


class _Limited:
    """A form view that answers 429 and 503 with its page and when to come back."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        view: Any = super()
        try:
            response: HttpResponse = view.post(request, *args, **kwargs)
        except TooManyTries as error:
            minutes = math.ceil(error.wait / timedelta(minutes=1))
            return self._come_back(429, _("Too many failed attempts. Try again in %d min.") % minutes, error.wait)
        except passwords.Busy:
            text = _("Too many sign-ins right now. Try again in a few seconds.")
            return self._come_back(503, text, timedelta(seconds=passwords.RETRY_AFTER_S))
        return response

    def _come_back(self, status: int, text: str, wait: timedelta) -> HttpResponse:
        view: Any = self
        unbound = view.get_form_class()(**{**view.get_form_kwargs(), "data": None, "files": None})
        response: HttpResponse = view.render_to_response(
            view.get_context_data(form=unbound, blocked=text), status=status
        )
        response.headers["Retry-After"] = str(math.ceil(wait.total_seconds()))
        response._has_been_logged = True  # type: ignore[attr-defined]  # meant so: no error for Django's log
        return response


@open_to_all
class SignIn(_Limited, LoginView):
    """Name and password."""

    template_name = "access/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.LOCAL_ACCOUNTS:
            raise Http404
        return super().post(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        ways = {"oidc": settings.OIDC, "by_link": sign_in_links.enabled()}
        passwords_here = settings.LOCAL_ACCOUNTS and not sign_in_links.is_only_way()
        return super().get_context_data(**kwargs, **ways, local_accounts=passwords_here)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        if two_factor.is_on(form.get_user()):
            return ask_for_code(self.request, form.get_user(), self.get_success_url())
        response = super().form_valid(form)
        arrived(self.request)
        remember(form.get_user(), self.request, response)
        return response


@method_decorator(never_cache, name="dispatch")
class ChangePassword(_Limited, PasswordChangeView):
    template_name = "access/password.html"
    form_class = ChangePasswordForm
    success_url = reverse_lazy("account")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Who has no password here has none to change."""
        if not passwords.has_password(request):
            raise Http404
        view: Any = super()
        response: HttpResponse = view.dispatch(request, *args, **kwargs)
        return response
