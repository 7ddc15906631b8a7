"""Users as a page: for administrators. What is done here `manage.py user` does too (`accounts.users`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts import users as accounts
from accounts.forms import PlacesField
from accounts.models import ApiToken
from accounts.required import needs
from accounts.roles import Role

#: Rows of the page; more are found by name.
MOST = 200


class GrantForm(forms.Form):
    """A role, and what it is for."""

    role = forms.ChoiceField(
        label=gettext_lazy("Role"), choices=[*Role.choices, ("", gettext_lazy("none"))], required=False
    )
    places = PlacesField(
        label=gettext_lazy("For"),
        required=False,
        max_length=10_000,
        widget=forms.TextInput(attrs={"placeholder": gettext_lazy("everything")}),
    )

    @property
    def chosen(self) -> Role | None:
        return Role(self.cleaned_data["role"]) if self.cleaned_data["role"] else None


class NewUserForm(GrantForm):
    """A user who signs in with a password."""

    field_order = ("name", "password", "role", "places")
    name = forms.CharField(label=gettext_lazy("Name"), max_length=150)
    password = forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )


@dataclass(frozen=True)
class UserLine:
    """What the template prints of an account. tokens: those that work."""

    user: User
    form: GrantForm
    tokens: int


@needs(Role.ADMIN)
@never_cache
@require_safe
def users(request: HttpRequest) -> HttpResponse:
    return _page(request, NewUserForm(initial={"role": Role.VIEWER.value}))


@needs(Role.ADMIN)
@require_POST
def user_create(request: HttpRequest) -> HttpResponse:
    form = NewUserForm(request.POST)
    if not form.is_valid() or form.chosen is None:
        if form.is_valid():
            form.add_error("role", _("A new user needs a role."))
        return _page(request, form, 400)
    data = form.cleaned_data
    try:
        made = accounts.create(data["name"], data["password"], form.chosen, data["places"])
    except ValidationError as error:
        form.add_error(None, " ".join(error.messages))
    except accounts.NotThatUser as error:
        form.add_error("role", str(error))
    else:
        messages.info(request, _("User %(name)s is there.") % {"name": made.get_username()})
        return redirect("users")
    return _page(request, form, 400)


@needs(Role.ADMIN)
@require_POST
def user_change(request: HttpRequest, user_id: int) -> HttpResponse:
    """Role and scope."""
    user, form = get_object_or_404(User, pk=user_id), GrantForm(request.POST)
    if not form.is_valid():
        told = " ".join(str(text) for texts in form.errors.values() for text in texts)
        return _answer(request, user, lambda: _refuse(told))
    places = form.cleaned_data["places"]
    return _answer(request, user, lambda: accounts.give(user, form.chosen, places), _("Role and scope are changed."))


@needs(Role.ADMIN)
@require_POST
def user_act(request: HttpRequest, user_id: int, verb: str) -> HttpResponse:
    """verb: deactivate, activate, end-sessions (but the one that asks) or end-tokens."""
    user = get_object_or_404(User, pk=user_id)
    acts: dict[str, tuple[Callable[[], Any], str]] = {
        "deactivate": (lambda: accounts.set_active(user, False), _("Deactivated; sessions and tokens have ended.")),
        "activate": (lambda: accounts.set_active(user, True), _("Active again.")),
        "end-sessions": (
            lambda: accounts.end_sessions(user, request.session.session_key or ""),
            _("The sessions have ended."),
        ),
        "end-tokens": (lambda: ApiToken.revoke_all(user), _("The tokens are revoked.")),
    }
    return _answer(request, user, *acts[verb])


def _refuse(text: str) -> None:
    raise accounts.NotThatUser(text)


def _answer(request: HttpRequest, user: User, act: Callable[[], Any], done: str = "") -> HttpResponseRedirect:
    try:
        act()
    except accounts.NotThatUser as error:
        messages.error(request, f"{user.get_username()}: {error}")
    else:
        messages.info(request, f"{user.get_username()}: {done}")
    return HttpResponseRedirect(reverse("users"))


def _page(request: HttpRequest, form: NewUserForm, status: int = 200) -> HttpResponse:
    """Three queries, whatever the number of users."""
    wanted = request.GET.get("q", "").replace("\0", "")[:150]
    works = Q(api_tokens__revoked_at=None, api_tokens__expires_at__gt=timezone.now())
    found = User.objects.filter(username__icontains=wanted).select_related("scope").prefetch_related("groups")
    rows = list(found.annotate(tokens=Count("api_tokens", filter=works)).order_by("username")[: MOST + 1])
    lines = [UserLine(one, GrantForm(initial=_granted(one), auto_id=False), one.tokens) for one in rows[:MOST]]
    context = {"lines": lines, "more": len(rows) > MOST, "wanted": wanted, "form": form}
    return render(request, "access/users.html", context, status=status)


def _granted(user: User) -> dict[str, str]:
    """As `accounts.roles.granted`, of rows that are read already."""
    names = {group.name for group in user.groups.all()}
    role = max((one for one in Role if one.value in names), key=lambda one: one.rank, default=None)
    scope = getattr(user, "scope", None)
    return {
        "role": Role.ADMIN.value if user.is_superuser else role.value if role else "",
        "places": ", ".join(scope.places.split()) if scope else "",
    }
