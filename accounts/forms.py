"""Forms of the account page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiToken
from accounts.networks import BadNetwork, networks_in, outside
from accounts.roles import Role
from accounts.scopes import BadScope, most_role, places_in

DEFAULT_DAYS, MAX_DAYS = 90, 3650


class PlacesField(forms.CharField):
    """Clusters and namespaces; the cleaned value is a tuple of them."""

    def clean(self, value: Any) -> tuple[str, ...]:
        try:
            return places_in(super().clean(_one_text(value)))
        except BadScope as error:
            raise forms.ValidationError(str(error)) from None


class NetworksField(forms.CharField):
    """Networks; the cleaned value is a tuple of them."""

    def clean(self, value: Any) -> tuple[str, ...]:
        try:
            return networks_in(super().clean(_one_text(value)))
        except BadNetwork as error:
            raise forms.ValidationError(str(error)) from None


def _one_text(value: Any) -> Any:
    """REST gives lists."""
    return "\n".join(map(str, value)) if isinstance(value, list) else value


class TokenForm(forms.Form):
    """A new token: a name, a role up to one's own, days until it expires; what it is for, and where it may be used from.

    by: the token that asks for it; None where a person does.
    """

    name = forms.CharField(label=_("Name"), max_length=100)
    role = forms.ChoiceField(label=_("Role"))
    expires_in_days = forms.IntegerField(
        label=_("Valid for, days"), initial=DEFAULT_DAYS, min_value=1, max_value=MAX_DAYS
    )
    scope = PlacesField(
        label=_("Scope (clusters or namespaces)"),
        required=False,
        max_length=10_000,
        widget=forms.TextInput(attrs={"placeholder": "prod, prod/team-a, */team-a"}),
    )
    networks = NetworksField(
        label=_("Allowed addresses"),
        required=False,
        max_length=4_000,
        widget=forms.TextInput(attrs={"placeholder": "10.0.0.0/8, 2001:db8::/32"}),
    )

    def __init__(self, role: Role, *args: Any, by: ApiToken | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._by = by
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(one.value, one.label) for one in Role if role.covers(one)]
        named = ", ".join(str(value) for value, _label in field.choices)
        field.error_messages["invalid_choice"] = _(
            "Must be one of: %(roles)s. A token cannot exceed your own role."
        ) % {"roles": named}

    def clean(self) -> dict[str, Any]:
        """Adds `expires_at`: one moment for who checks it and for the token."""
        data = super().clean() or self.cleaned_data
        if "expires_in_days" in data:
            data["expires_at"] = timezone.now() + timedelta(days=data["expires_in_days"])
        if (most := most_role(data.get("scope", ()))) and "role" in data and not most.covers(Role(data["role"])):
            self.add_error("role", _("For this scope the role can be at most %(role)s.") % {"role": most.value})
        limits = self._by.networks.split() if self._by else []
        if beyond := outside(data.get("networks") or (), limits):
            told = _("%(network)s is outside the networks of the requesting token: %(limits)s.")
            self.add_error("networks", told % {"network": beyond, "limits": ", ".join(limits)})
        return data

    def issue(self, user: Any) -> tuple[ApiToken, str]:
        """Raises TokenEnded and TooManyTokens. What the token that asks is limited to, the new one is too."""
        data, by = self.cleaned_data, self._by
        limits = {
            "places": data["scope"] or tuple(by.places.split() if by else ()),
            "networks": data["networks"] or tuple(by.networks.split() if by else ()),
        }
        return ApiToken.issue(user, data["name"], Role(data["role"]), data["expires_at"], by, **limits)


def too_many_tokens() -> str:
    """What is said to who has as many as there may be."""
    return _("You have reached the limit of %(n)d active tokens. Revoke one first.") % {"n": settings.TOKENS_PER_USER}


class ThemeForm(forms.Form):
    """Automatic (as the system says), light or dark."""

    theme = forms.ChoiceField(choices=[("auto", _("Automatic")), ("light", _("Light")), ("dark", _("Dark"))])
