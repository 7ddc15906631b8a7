"""Forms of the account page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiToken
from accounts.roles import Role

DEFAULT_DAYS, MAX_DAYS = 90, 3650


class TokenForm(forms.Form):
    """A new token: a name, a role up to one's own, days until it expires."""

    name = forms.CharField(label=_("Name"), max_length=100)
    role = forms.ChoiceField(label=_("Role"))
    expires_in_days = forms.IntegerField(
        label=_("Valid for (days)"), initial=DEFAULT_DAYS, min_value=1, max_value=MAX_DAYS
    )

    def __init__(self, role: Role, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(one.value, one.label) for one in Role if role.covers(one)]
        named = ", ".join(str(value) for value, _label in field.choices)
        field.error_messages["invalid_choice"] = _("One of %(roles)s is wanted: not more than your own.") % {
            "roles": named
        }

    def clean(self) -> dict[str, Any]:
        """Adds `expires_at`: one moment for who checks it and for the token."""
        data = super().clean() or self.cleaned_data
        if "expires_in_days" in data:
            data["expires_at"] = timezone.now() + timedelta(days=data["expires_in_days"])
        return data

    def issue(self, user: Any, parent: ApiToken | None = None) -> tuple[ApiToken, str]:
        """Raises TokenEnded."""
        data = self.cleaned_data
        return ApiToken.issue(user, data["name"], Role(data["role"]), data["expires_at"], parent)


class ThemeForm(forms.Form):
    """Automatic (as the system says), light or dark."""

    theme = forms.ChoiceField(choices=[("auto", _("Automatic")), ("light", _("Light")), ("dark", _("Dark"))])
