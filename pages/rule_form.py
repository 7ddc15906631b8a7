"""The form of a rule: the fields of `RuleDraft`. What is wrong is said by `notifications.manage`, as REST says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from inventory.models.choices import Severity
from notifications.manage import RuleDraft
from notifications.models import Channel, Digest
from pages.draft_form import DraftForm
from pages.launch_forms import Typed
from pages.scope_field import ScopeField
from pages.words import notifications as words

MOST_OFFERED = 200


class Words(forms.MultipleChoiceField):
    """Words of which any may be sent: whether they are known is said by `manage`."""

    def valid_value(self, value: str) -> bool:
        return True

    def to_python(self, value: Any) -> list[str]:
        return [word.replace("\0", "")[:64] for word in super().to_python(value)]


class RuleForm(DraftForm):
    """before: what the fields show that neither the address nor the sent form names."""

    names: ClassVar[Mapping[str, str]] = {"places": "scope"}
    #: That a form was drawn: what of its ticks is not sent was taken off.
    drawn = Typed(widget=forms.HiddenInput)
    name = Typed(label=lazy("Name"), most=100, widget=forms.TextInput({"maxlength": 100, "autocomplete": "off"}))
    channel = Typed(label=lazy("Channel"), most=100, widget=forms.Select())
    about = Words(label=lazy("About"), required=False, widget=forms.CheckboxSelectMultiple())
    codes = Words(label=lazy("Types of findings"), required=False, widget=forms.SelectMultiple({"size": 6}))
    least_severity = Typed(label=lazy("Least severity"), widget=forms.Select(choices=Severity.choices))
    scope = ScopeField(lazy("Everything"))
    digest = Typed(label=lazy("Sent"), widget=forms.Select(choices=Digest.choices))
    digest_hour = Typed(
        label=lazy("Hour"),
        most=2,
        widget=forms.TextInput({"inputmode": "numeric", "maxlength": 2, "autocomplete": "off"}),
    )
    time_zone = Typed(
        label=lazy("Time zone"),
        most=64,
        widget=forms.TextInput({"maxlength": 64, "autocomplete": "off", "placeholder": "Europe/Berlin"}),
    )

    def __init__(self, data: QueryDict, before: RuleDraft) -> None:
        super().__init__(_filled(data, before))
        channels = list(Channel.objects.order_by("name").values_list("name", flat=True)[:MOST_OFFERED])
        asked = str(self.data.get("channel", ""))[:100]
        offered = dict.fromkeys([*channels, *([asked] if asked else [])])
        self.fields["channel"].widget.choices = [("", _("Choose a channel")), *((one, one) for one in offered)]
        self.fields["about"].widget.choices = words.about_choices()
        self.fields["codes"].widget.choices = words.code_choices()

    @property
    def topics(self) -> list[Any]:
        """The boxes of what it can be about."""
        return list(self["about"])

    def draft(self) -> RuleDraft:
        hour = self.typed("digest_hour").strip() or "8"
        names = ("name", "channel", "about", "codes", "least_severity", "digest", "time_zone")
        return RuleDraft(
            **{name: self.typed(name) for name in names},
            places="\n".join(self.typed("scope") or ()),
            digest_hour=int(hour) if hour.isascii() and hour.isdigit() else -1,
        )

    def scope_refused(self) -> bool:
        """What is chosen as its scope makes no sense, which the form says: nothing would be everything."""
        return "scope" in self.errors


def _filled(data: QueryDict, before: RuleDraft) -> QueryDict:
    found = data.copy()
    if "drawn" in found:
        return found
    found["drawn"] = "1"
    texts = ("name", "channel", "least_severity", "digest", "digest_hour", "time_zone")
    for name in texts:
        found.setdefault(name, str(getattr(before, name)))
    lists: dict[str, Sequence[str]] = {"about": before.about, "codes": before.codes}
    places = before.places.splitlines()
    lists["scope_clusters"] = [one for one in places if "/" not in one]
    lists["scope_namespaces"] = [one for one in places if "/" in one]
    for name, values in lists.items():
        if name not in found:
            found.setlist(name, list(values))
    found.setdefault("scope", "some" if places else "all")
    return found
