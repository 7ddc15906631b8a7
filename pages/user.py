"""One user as a page, and a new one: for administrators. What is done here `gpudash user` and REST do too (`accounts.users`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts import users as accounts
from accounts.models import ApiToken
from accounts.required import needs
from accounts.roles import Role
from pages.frame.navigation import crumbs_of_administration
from pages.scope_field import ScopeField
from pages.tokens import shown_tokens
from pages.users import unavailable_words
from resources.user import USERS
from resources.user import users as accounts_told


class GrantForm(forms.Form):
    """A role, and what it is for."""

    role = forms.ChoiceField(
        label=gettext_lazy("Role"), choices=[*Role.choices, ("", gettext_lazy("none"))], required=False
    )
    scope = ScopeField(gettext_lazy("All clusters"))

    @property
    def chosen(self) -> Role | None:
        return Role(self.cleaned_data["role"]) if self.cleaned_data["role"] else None


class NewUserForm(GrantForm):
    """A user who signs in with a password."""

    field_order = ("name", "password", "role", "scope")
    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    password = forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        help_text=gettext_lazy("At least 8 characters. The user can change it on the account page."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )


@needs(Role.ADMIN)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def user(request: HttpRequest, user_id: int) -> HttpResponse:
    """POST: another role or scope; with `check` it is only told what that would be."""
    if request.method != "POST":
        return _page(request, user_id)
    form = GrantForm(request.POST)
    if not form.is_valid() or "check" in request.POST:
        return _page(request, user_id, form)
    found = get_object_or_404(User, pk=user_id)
    try:
        accounts.give(found, form.chosen, form.cleaned_data["scope"])
    except accounts.NotThatUser as error:
        form.add_error("role", str(error))
        return _page(request, user_id, form)
    return _done(request, found, _("Role and scope saved."))


@needs(Role.ADMIN)
@require_POST
def user_act(request: HttpRequest, user_id: int, verb: str) -> HttpResponse:
    """verb: deactivate, activate, end-sessions (but the one that asks) or end-tokens."""
    found = get_object_or_404(User, pk=user_id)
    acts: dict[str, tuple[Callable[[], Any], str]] = {
        "deactivate": (
            lambda: accounts.set_active(found, False),
            _("User deactivated. Sessions ended, tokens revoked."),
        ),
        "activate": (lambda: accounts.set_active(found, True), _("User activated.")),
        "end-sessions": (
            lambda: accounts.end_sessions(found, request.session.session_key or ""),
            _("Sessions ended."),
        ),
        "end-tokens": (lambda: ApiToken.revoke_all(found), _("Tokens revoked.")),
    }
    act, done = acts[verb]
    try:
        act()
    except accounts.NotThatUser as error:
        messages.error(request, f"{found.get_username()}: {error}")
        return redirect("user", user_id)
    return _done(request, found, done)


@needs(Role.ADMIN)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def user_new(request: HttpRequest) -> HttpResponse:
    form = NewUserForm(request.POST if request.method == "POST" else None, initial={"role": Role.VIEWER.value})
    if request.method == "POST" and "check" not in request.POST and (made := _made(form)):
        messages.info(request, _("Created user %(name)s.") % {"name": made.get_username()})
        return redirect("user", made.pk)
    page = {"form": form, "crumbs": crumbs_of_administration("users", _("Add user"))}
    return render(request, "access/user_new.html", page, status=400 if form.errors else 200)


def _made(form: NewUserForm) -> User | None:
    """None where it cannot be, which the form then says."""
    if not form.is_valid():
        return None
    if form.chosen is None:
        form.add_error("role", _("Choose a role."))
        return None
    data = form.cleaned_data
    try:
        return accounts.create(data["name"], data["password"], form.chosen, data["scope"])
    except ValidationError as error:
        for name, texts in _by_field(error).items():
            form.add_error(name, texts)
    except accounts.NotThatUser as error:
        form.add_error("role", str(error))
    return None


def _by_field(error: ValidationError) -> dict[str, list[str]]:
    """A name is checked by its column; what has no column is the password."""
    if not hasattr(error, "error_dict"):
        return {"password": error.messages}
    return {"name" if name == "username" else "password": texts for name, texts in error.message_dict.items()}


def _done(request: HttpRequest, found: User, text: str) -> HttpResponse:
    messages.info(request, f"{found.get_username()}: {text}")
    return redirect("user", found.pk)


def _page(request: HttpRequest, user_id: int, form: GrantForm | None = None) -> HttpResponse:
    """form: one that was refused, or is checked."""
    row: Any = accounts_told().filter(pk=user_id).first()
    if row is None:
        raise Http404
    (row,) = USERS.join([row])
    given = {"role": row.account_role, "scope": row.account_places}
    page = {
        "row": row,
        "sign_in_method": unavailable_words(row.sign_in_method),
        "form": form or GrantForm(initial=given),
        "tokens": shown_tokens(row),
        "crumbs": crumbs_of_administration("users", row.get_username()),
        "own": row.pk == request.user.pk,
    }
    return render(request, "access/user.html", page, status=400 if form and form.errors else 200)
