"""The form of a policy: the fields of `PolicyDraft`. What is wrong is said by `validations.policies.manage`, as REST says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from inventory.models import Cluster
from pages.frame import choices
from pages.launch_forms import OPTION, SuiteForm, Typed, Whole, offer
from pages.words import runs as run_words
from validations.models import LevelChoice
from validations.policies import reading
from validations.policies.manage import PolicyDraft
from validations.suites import registry

MOST_OFFERED = 200
VOIDS = ("void_on_driver", "void_on_reboot", "void_on_machine", "void_on_image")
TICKS = (*VOIDS, "counts_imported")
_TEXTS = ("name", "level", "cluster", "pool", "model", "stack", "window_cron", "time_zone")
_NUMBERS = (
    "window_minutes",
    "max_per_cluster",
    "max_per_pool",
    "card_minutes_per_day",
    "keep_free_nodes",
    "keep_free_cards",
)
_UNITS = {"d": 86_400, "h": 3600}


def _number(label: Any, *, required: bool = False, **attributes: Any) -> Whole:
    return Whole(
        label=label,
        required=required,
        widget=forms.TextInput({"inputmode": "numeric", "maxlength": 6, "autocomplete": "off"} | attributes),
    )


def _text(label: Any, most: int, **attributes: Any) -> Typed:
    given = {"maxlength": most, "autocomplete": "off", "spellcheck": "false"} | attributes
    return Typed(label=label, most=most, widget=forms.TextInput(given))


def _tick(label: Any) -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False)


class PolicyForm(SuiteForm):
    """before: what the fields show that the address or the sent form does not name."""

    #: That a form was drawn: what of its ticks is not sent was taken off.
    drawn = Typed(widget=forms.HiddenInput)
    name = _text(lazy("Name"), 100, required=True)
    level = Typed(label=lazy("Least test level"), widget=forms.Select())
    cluster = Typed(label=lazy("Cluster"), most=253, widget=forms.Select())
    pool = _text(lazy("Pool"), 255, list="pools", placeholder=lazy("all"))
    model = _text(lazy("Model"), 128, list="models", placeholder=lazy("all"))
    stack = Typed(label=lazy("Stack"), most=32, widget=forms.Select())
    node_labels = Typed(
        label=lazy("Node labels, one per line"),
        most=8000,
        widget=forms.Textarea({"rows": 2, "spellcheck": "false", "placeholder": "team=research"}),
    )
    max_age = _number(lazy("Valid for"), required=True)
    max_age_unit = Typed(label=lazy("Unit"), widget=forms.Select(choices=[("d", lazy("days")), ("h", lazy("hours"))]))
    void_on_driver = _tick(lazy("Driver changed"))
    void_on_reboot = _tick(lazy("Node rebooted"))
    void_on_machine = _tick(lazy("Machine replaced"))
    void_on_image = _tick(lazy("Image or parser changed"))
    counts_imported = _tick(lazy("Count results from other tools"))
    window_cron = _text(lazy("Start of the window"), 100, placeholder="0 22 * * *")
    window_minutes = _number(lazy("Length, minutes"), placeholder="480")
    time_zone = _text(lazy("Time zone"), 64, placeholder="Europe/Berlin")
    max_per_cluster = _number(lazy("Parallel runs per cluster"), required=True)
    max_per_pool = _number(lazy("Parallel runs per pool"), placeholder=lazy("no limit"))
    card_minutes_per_day = _number(lazy("Minutes per card in 24 h"), placeholder=lazy("no limit"))
    keep_free_nodes = _number(lazy("Free nodes per pool"), required=True)
    keep_free_cards = _number(lazy("Free cards per pool"), required=True)
    takes_out = _tick(lazy("Takes failed cards out of service automatically"))

    def __init__(
        self, data: QueryDict, enabled: bool, before: PolicyDraft, takes_out: bool = False, may_take_out: bool = False
    ) -> None:
        """takes_out: whether the policy does so now. may_take_out: who reads may change that."""
        super().__init__(_filled(data, before, takes_out), enabled)
        if not may_take_out:
            self.fields["takes_out"].disabled, self.fields["takes_out"].initial = True, takes_out
        one_card = [suite for suite in registry().values() if suite.cards == 1]
        suites = sorted(((one.id, run_words.suite_title(one.id)) for one in one_card), key=lambda one: one[1].lower())
        offer(self.fields["suite"], [("", _("Choose a suite")), *suites])
        offer(self.fields["level"], [one for one in run_words.LEVELS if one[0] != LevelChoice.NONE])
        names = list(Cluster.objects.order_by("name").values_list("name", flat=True)[:MOST_OFFERED])
        every = [("", _("All clusters"))] if reading.may_write(None) or not enabled else []
        offer(self.fields["cluster"], [*every, *_kept(names, str(self.filled.get("cluster", "")))])
        stacks = [name for name, _title in choices.stacks()]
        offer(self.fields["stack"], [("", _("All")), *_kept(stacks, str(self.filled.get("stack", "")))])
        self.pools = [name for name, _words in choices.pools()]
        self.models = [name for name, _title in choices.models()]
        self._labels: dict[str, str] = {}

    @property
    def voids(self) -> list[forms.BoundField]:
        return [self[name] for name in VOIDS]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        self._labels = {}
        for line in self.typed("node_labels").splitlines():
            label, equals, value = line.strip().partition("=")
            if not line.strip():
                continue
            if not (equals and label.strip()):
                self.refuse({"node_labels": [_("Must be KEY=VALUE, one per line.")]})
                break
            self._labels[label.strip()] = value.strip()
        return cleaned

    def draft(self) -> PolicyDraft:
        """Of a form whose fields have values."""
        texts = {name: self.typed(name).strip() for name in _TEXTS}
        given: dict[str, Any] = texts | {name: self.typed(name) for name in (*_NUMBERS, *TICKS)}
        return PolicyDraft(
            suite=self.typed("suite"),
            options=self.given(),
            node_labels=self._labels,
            max_age_s=self.typed("max_age") * _UNITS.get(self.typed("max_age_unit"), 86_400),
            **given,
        )

    def refuse(self, problems: Mapping[str, Sequence[str]]) -> None:
        super().refuse({"max_age" if name == "max_age_s" else name: texts for name, texts in problems.items()})


def _filled(data: QueryDict, before: PolicyDraft, takes_out: bool) -> QueryDict:
    """What is given, and what the policy is for the rest."""
    found = data.copy()
    first = "drawn" not in found
    found["drawn"] = "1"
    unit = next(name for name, seconds in _UNITS.items() if before.max_age_s % seconds == 0 or name == "h")
    values = {name: getattr(before, name) for name in (*_TEXTS, *_NUMBERS)} | {
        "suite": before.suite,
        "options_of": before.suite,
        "max_age": before.max_age_s // _UNITS[unit],
        "max_age_unit": unit,
        "node_labels": "\n".join(f"{label}={value}" for label, value in before.node_labels.items()),
        **{f"{OPTION}{name}": value for name, value in before.options.items()},
    }
    if not first:
        return found
    for name, value in values.items():
        found.setdefault(name, "" if value is None else str(value))
    for name in (*(name for name in TICKS if getattr(before, name)), *(["takes_out"] if takes_out else [])):
        found.setdefault(name, "on")
    return found


def _kept(names: Sequence[str], value: str) -> list[tuple[str, str]]:
    """What a select offers; what is set and not there is still shown."""
    return [(name, name) for name in dict.fromkeys([*names, *([value] if value else [])])]
