"""The form of a channel: its fields are the settings that its type declares. What is wrong is said by `notifications.manage`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from notifications.channels.engine import Kind, Setting
from notifications.manage import LONGEST_SETTING, ChannelDraft
from pages.draft_form import DraftForm
from pages.launch_forms import Typed

SETTING = "setting."


def _field(one: Setting, kept: bool) -> Typed:
    """kept: a secret that is set, which may be left empty."""
    shown = {"autocomplete": "off", "spellcheck": "false", "maxlength": LONGEST_SETTING}
    widget: forms.Widget = forms.TextInput(shown)
    if one.choices:
        widget = forms.Select(choices=[(word, word) for word in one.choices])
    elif one.secret:
        note = _("set; leave empty to keep") if kept else ""
        widget = forms.PasswordInput(shown | {"autocomplete": "new-password", "placeholder": note}, render_value=False)
    help_text = [_(one.help)] if one.help else []
    help_text += [] if one.required else [_("Optional.")]
    return Typed(label=_(one.title), most=LONGEST_SETTING, widget=widget, help_text=" ".join(help_text))


class ChannelForm(DraftForm):
    """before: what the fields show first. secrets: names of those that are set. elsewhere: what is said at no field."""

    name = Typed(label=lazy("Name"), most=100, widget=forms.TextInput({"maxlength": 100, "autocomplete": "off"}))
    language = Typed(label=lazy("Language"), widget=forms.Select(choices=settings.LANGUAGES))

    def __init__(self, data: QueryDict, kind: Kind, before: ChannelDraft, secrets: Sequence[str] = ()) -> None:
        data = data.copy()
        for name, value in {"name": before.name, "language": before.language}.items():
            data.setdefault(name, value)
        for one in kind.settings:
            value = before.settings.get(one.name, one.default)
            if not one.secret:
                data.setdefault(SETTING + one.name, value)
        super().__init__(data)
        self.kind = kind
        for one in kind.settings:
            self.fields[SETTING + one.name] = _field(one, one.name in secrets)

    @property
    def own(self) -> list[forms.BoundField]:
        """The fields of the type."""
        return [self[name] for name in self.fields if name.startswith(SETTING)]

    def draft(self) -> ChannelDraft:
        given = {one.name: self.typed(SETTING + one.name) for one in self.kind.settings}
        return ChannelDraft(
            name=self.typed("name"), kind=self.kind.name, settings=given, language=self.typed("language")
        )

    def refuse(self, problems: Mapping[str, Sequence[Any]]) -> None:
        own = {one.name for one in self.kind.settings}
        super().refuse({SETTING + name if name in own else name: texts for name, texts in problems.items()})
