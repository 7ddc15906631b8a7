"""The forms that launch a run and a campaign. Their options are fields made of what the suite declares.

What is typed is never refused for its shape alone: whether it makes sense is asked of `validations`, as REST does, and what that says
is put at the field that it is about (`refuse`).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from inventory.models import Card, Cluster, Node
from pages.frame import choices
from pages.frame.worded import worded
from pages.rows import targets as places
from pages.words import names as name_words
from pages.words import runs as words
from validations.campaign_checks import Spot
from validations.planning import RunDraft
from validations.suites import find, registry
from validations.suites.engine.base import Option, OptionError, Suite

OPTION = "option."
LONGEST = 512
#: Names offered while typing; any other name may be typed.
NODES_OFFERED = 200
_LAUNCHED = "options."


class Typed(forms.CharField):
    """Text, cut where it is too long for any name, and rid of what no name has. most: characters, None for any number."""

    def __init__(self, *, most: int | None = LONGEST, **more: Any) -> None:
        super().__init__(required=False, **more)
        self.most = most

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value))[: self.most].replace("\0", "")


class Whole(forms.CharField):
    """A whole number from 0 on. Its clean value is an int, or None when it may be left out and is."""

    def clean(self, value: Any) -> int | None:
        text = str(value or "").strip()
        if not text and not self.required:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 7):
            raise ValidationError(_("Must be an integer."))
        return int(text)


class OptionField(Typed):
    """An option of a suite. What is blank is its default."""

    def __init__(self, option: Option, enabled: bool) -> None:
        attributes: dict[str, Any] = {
            "id": f"option-{option.name}",
            "aria-label": name_words.option(option.name),
            "aria-describedby": f"help-{option.name}",
        }
        attributes |= {} if enabled else {"disabled": True}
        widget: forms.Widget = forms.Select(
            attributes, [(one, name_words.value(option.name, one) or "–") for one in option.choices]
        )
        if not option.choices:
            attributes |= {"autocomplete": "off", "spellcheck": "false", "maxlength": LONGEST}
            attributes |= {"inputmode": "numeric"} if option.kind == "number" else {}
            widget = forms.TextInput(attributes)
        super().__init__(label=option.name, widget=widget, initial=str(option.default))
        self.option = option

    @property
    def bounds(self) -> str:
        """What is allowed, in words; "" where the help says it all."""
        option = self.option
        if option.kind == "number":
            return _("%(least)s to %(most)s") % {"least": f"{option.minimum:,}", "most": f"{option.maximum:,}"}
        return _("required") if option.required else ""


def _named(label: Any, **attributes: Any) -> dict[str, Any]:
    """The label around a field holds its help too: the field has a name of its own."""
    return {"aria-label": label, **attributes}


class SuiteForm(forms.Form):
    """A suite with its options. data: parameters of the page or what was posted; what it lacks has its initial value.

    enabled: whether the reader may send it. chosen: the suite, None when there is none of this name.
    elsewhere: what is wrong and at no field that is seen: name → texts.
    """

    use_required_attribute = False
    key = Typed(widget=forms.HiddenInput)
    #: The suite that the options belong to: those of another one are not taken over when the suite is changed.
    options_of = Typed(widget=forms.HiddenInput)
    suite = Typed(label=lazy("Suite"), widget=forms.Select(_named(lazy("Suite"), required=True)))

    def __init__(self, data: QueryDict, enabled: bool) -> None:
        data = data.copy()
        super().__init__(data, auto_id="f-%s", label_suffix="")
        #: What the fields show.
        self.filled = data
        self.chosen = find(str(data.get("suite", "")))
        self.elsewhere: dict[str, list[str]] = {}
        self._typed: dict[str, Any] = {}
        if not data.get("key"):
            data["key"] = secrets.token_urlsafe(18)
        choices = sorted(((suite.id, _(suite.title)) for suite in registry().values()), key=lambda one: one[1].lower())
        offer(self.fields["suite"], [("", _("Choose a suite")), *choices])
        self._add_options(data, self.chosen, enabled)

    def _add_options(self, data: QueryDict, suite: Suite | None, enabled: bool) -> None:
        foreign = data.get("options_of", "") not in ("", suite.id if suite else "")
        data["options_of"] = suite.id if suite else ""
        for option in suite.options if suite else ():
            name = f"{OPTION}{option.name}"
            self.fields[name] = OptionField(option, enabled)
            if foreign or not data.get(name, "").strip():
                data[name] = str(option.default)

    @property
    def proof(self) -> str:
        """What a pass of the chosen suite with these options says; "" where none is chosen."""
        if self.chosen is None:
            return ""
        return words.proof(self.chosen, self.chosen.level if self.errors else self.chosen.grade(self.given()).level)

    @property
    def options(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(OPTION)]

    @property
    def options_open(self) -> bool:
        """Whether the options must be seen: one is wrong, or has no default and is wanted."""
        fields = [(field, field.field) for field in self.options]
        return any(bound.errors or (isinstance(one, OptionField) and one.option.required) for bound, one in fields)

    def given(self) -> dict[str, Any]:
        """The options that were given. One that shows its default was not: runs of today and tomorrow stay comparable."""
        fields = {name: self.fields[name].initial for name in self.fields if name.startswith(OPTION)}
        return {name.removeprefix(OPTION): self.typed(name) for name in fields if self.typed(name) != fields[name]}

    def typed(self, name: str) -> Any:
        """The clean value of a field; None where it has none. It stays when something else is wrong with it."""
        return self._typed.get(name)

    def clean(self) -> dict[str, Any]:
        self._typed = dict(self.cleaned_data)
        if self.typed("suite") and self.chosen is None:
            self.add_error("suite", _("No suite %(name)s.") % {"name": self.typed("suite")[:64]})
        if self.chosen is not None:
            try:
                self.chosen.settle(self.given())
            except OptionError as error:
                self.refuse({f"{_LAUNCHED}{name}": [text] for name, text in error.problems.items()})
        return self.cleaned_data

    def refuse(self, problems: Mapping[str, Sequence[str]]) -> None:
        """Put what `validations` says is wrong (its names → texts) at the fields."""
        for name, said in problems.items():
            texts = [worded(text) for text in said]
            field = OPTION + name.removeprefix(_LAUNCHED) if name.startswith(_LAUNCHED) else name
            if field in self.fields and not self.fields[field].widget.is_hidden:
                known = set(self.errors.get(field) or ())
                for text in texts:
                    if text not in known:
                        self.add_error(field, text)
            else:
                self.elsewhere.setdefault(name, []).extend(texts)

    def problems(self, at_fields: bool) -> list[tuple[str, str]]:
        """What is wrong, name and text. at_fields: without what is said at the fields."""
        found = (
            {}
            if at_fields
            else {name.removeprefix(OPTION): [str(text) for text in texts] for name, texts in self.errors.items()}
        )
        return [(name, " ".join(texts)) for name, texts in (found | self.elsewhere).items()]


def offer(field: forms.Field, choices: Sequence[tuple[str, Any]]) -> None:
    """What a select shows. It refuses nothing: what was asked for and is not there is said in the words of the plan."""
    assert isinstance(field.widget, forms.Select)
    field.widget.choices = list(choices)


class LaunchForm(SuiteForm):
    """A run: what and where. offered: names of nodes, while typing."""

    cluster = Typed(label=lazy("Cluster"), widget=forms.Select(_named(lazy("Cluster"))))
    node = Typed(
        label=lazy("Node"),
        widget=forms.TextInput(
            _named(
                lazy("Node"),
                list="nodes",
                autocomplete="off",
                spellcheck="false",
                maxlength=253,
                required=True,
                placeholder=lazy("Node name"),
            )
        ),
    )
    card = Typed(label=lazy("Card"), widget=forms.Select(_named(lazy("Card"))))
    #: Of a suite for several nodes, instead of node and card.
    nodes = Typed(
        label=lazy("Nodes, one per line"),
        most=20_000,
        widget=forms.Textarea(_named(lazy("Nodes, one per line"), rows=4, cols=False, spellcheck="false")),
    )
    pool = Typed(
        label=lazy("Or idle nodes of the pool"),
        widget=forms.TextInput(
            _named(
                lazy("Or idle nodes of the pool"), list="pools", autocomplete="off", spellcheck="false", maxlength=255
            )
        ),
    )
    node_count = Whole(
        label=lazy("Number of nodes"),
        required=False,
        widget=forms.TextInput(_named(lazy("Number of nodes"), inputmode="numeric", maxlength=3)),
    )
    queue_if_full = forms.BooleanField(
        label=lazy("Queue the run if the node is full or not ready"),
        required=False,
        widget=forms.CheckboxInput({"value": "1"}),
    )

    def __init__(self, data: QueryDict, enabled: bool) -> None:
        super().__init__(data, enabled)
        names = list(Cluster.objects.values_list("name", flat=True)[:200])
        if len(names) == 1 and not self.filled.get("cluster"):
            self.filled["cluster"] = names[0]
        if len(names) > 1:
            offer(self.fields["cluster"], [("", _("Choose a cluster")), *((name, name) for name in names)])
        else:
            self.fields["cluster"].widget = forms.HiddenInput()
        if not enabled:
            self.fields["queue_if_full"].widget.attrs["disabled"] = True
        cluster, node = (str(self.filled.get(name, "")).replace("\0", "")[:LONGEST] for name in ("cluster", "node"))
        found = Node.objects.filter(cluster__name=cluster, has_gpu=True).order_by("name")
        self.offered = list(found.values_list("name", flat=True)[:NODES_OFFERED])
        if self.of_group:
            self.pools = [name for name, _words in choices.pools()]
            del self.fields["node"], self.fields["card"]
            return
        del self.fields["nodes"], self.fields["pool"], self.fields["node_count"]
        if node:
            self._offer_cards(cluster, node)
        else:
            del self.fields["card"]

    @property
    def of_group(self) -> bool:
        """Whether the suite takes several nodes."""
        return self.chosen is not None and self.chosen.nodes > 1

    @property
    def has_place(self) -> bool:
        return any(self.typed(name) for name in ("node", "nodes", "pool"))

    def _offer_cards(self, cluster: str, node: str) -> None:
        """The cards that may be chosen; the one that was asked for by key or UUID, else by index, as the plan takes it."""
        wanted = str(self.filled.get("card", ""))
        cards = list(
            Card.objects.filter(cluster__name=cluster, node_name=node, removed_at=None).order_by("index", "id")[:128]
        )
        named = [card for card in cards if wanted and wanted in (card.key, card.uuid)]
        chosen = (named or [card for card in cards if wanted and str(card.index) == wanted])[:1]
        lost = [(wanted, _("%(card)s (not on this node)") % {"card": wanted})] if wanted and not chosen else []
        any_card = ("", _("any card of this node"))
        offer(self.fields["card"], [any_card, *lost, *((card.key, _card_title(card)) for card in cards)])
        if chosen:
            self.filled["card"] = chosen[0].key

    def draft(self) -> RunDraft:
        return RunDraft(
            suite=self.typed("suite"),
            cluster=self.typed("cluster"),
            node=self.typed("node") or "",
            card=self.typed("card") or "",
            nodes=(self.typed("nodes") or "").split(),
            pool=self.typed("pool") or "",
            node_count=self.typed("node_count") or 0,
            options=self.given(),
            queue_if_full=self.typed("queue_if_full"),
        )


def _card_title(card: Card) -> str:
    index = _("card %(index)d") % {"index": card.index} if card.index is not None else card.key
    return f"{index} · {card.model}" if card.model else index


class CampaignForm(SuiteForm):
    """A campaign: one suite on many places. spots: the places, [] where they make no sense."""

    name = Typed(
        label=lazy("Name"),
        most=200,
        widget=forms.TextInput({"maxlength": 200, "placeholder": lazy("After the driver update")}),
    )
    #: Adds targets; itself it says nothing of the campaign.
    model = Typed(
        label=lazy("Card models"),
        widget=forms.TextInput(
            {"list": "models", "autocomplete": "off", "spellcheck": "false", "placeholder": lazy("A100, H100")}
        ),
    )
    targets = Typed(
        label=lazy("Targets, one per line"),
        most=None,
        widget=forms.Textarea(_named(lazy("Targets, one per line"), rows=8, cols=False, spellcheck="false")),
    )
    per = Typed(
        label=lazy("Runs"),
        widget=forms.RadioSelect(choices=[("node", lazy("one per node")), ("card", lazy("one per card"))]),
    )
    max_parallel = Whole(label=lazy("Parallel runs"), widget=forms.TextInput({"inputmode": "numeric", "maxlength": 4}))
    stop_after_failures = Whole(
        label=lazy("Stop after failures"),
        required=False,
        widget=forms.TextInput({"inputmode": "numeric", "maxlength": 6, "placeholder": lazy("no limit")}),
    )
    #: The filter of the node list that the places came from.
    nodes = Typed(most=2000, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict, enabled: bool) -> None:
        super().__init__(data, enabled)
        self.spots: list[Spot] = []
        self.clusters = list(Cluster.objects.values_list("name", flat=True)[:1])
        if self.clusters:
            self.fields["targets"].widget.attrs["placeholder"] = f"{self.clusters[0]}/{_('node')}"
        self.filled.setdefault("max_parallel", "4")
        self.filled["per"] = "card" if self.filled.get("per") == "card" else "node"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        try:
            found = places.read_lines(self.typed("targets"))
            self.spots = places.each_card(found) if self.typed("per") == "card" else found
        except places.BadPlaces as error:
            self.refuse({"targets": [error.args[0]]})
        return cleaned

    @property
    def selector(self) -> dict[str, Any]:
        return dict(QueryDict(self.typed("nodes")).lists())
