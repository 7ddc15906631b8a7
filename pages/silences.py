"""Silences: the list, and the forms that silence findings or acknowledge one. For operators, within their scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.http import require_http_methods, require_POST

from inventory.queries import rows as querysets
from notifications import silences as acts
from notifications.matching import covered
from notifications.models import Silence
from notifications.silences import SilenceDraft
from pages.draft_form import DraftForm
from pages.frame import choices
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import NotThere, answered
from pages.launch_forms import Typed
from pages.permission import SILENCE, UNSILENCE, check_silence, may, may_silence, refused
from pages.rows.findings import FindingLine, cause_words, finding_lines
from pages.words import notifications as words
from resources.filter_sets import StrictFilterSet
from resources.silence import SILENCES
from resources.silence import silences as all_silences
from runtime.clock import database_now
from validations.planning import Refused

OWN = "own"
_SPANS = {"1h": timedelta(hours=1), "1d": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30)}
_PLACES = ("cluster", "code", "cause", "node", "card", "pod")


def _text(label: Any, most: int, **attributes: Any) -> Typed:
    given = {"maxlength": most, "autocomplete": "off", "spellcheck": "false"} | attributes
    return Typed(label=label, most=most, widget=forms.TextInput(given))


class EndForm(DraftForm):
    """Why, and until when."""

    names: ClassVar[Mapping[str, str]] = {"until": "own"}
    reason = _text(lazy("Reason"), 500, placeholder=lazy("Spare part ordered, ticket 4711"))
    span = forms.ChoiceField(
        label=lazy("Ends after"),
        required=False,
        choices=[
            ("1h", lazy("1 hour")),
            ("1d", lazy("1 day")),
            ("7d", lazy("7 days")),
            ("30d", lazy("30 days")),
            (OWN, lazy("own time")),
        ],
    )
    own = Typed(
        label=lazy("Own time"), most=32, widget=forms.DateTimeInput({"type": "datetime-local", "autocomplete": "off"})
    )

    def __init__(self, data: Any, **options: Any) -> None:
        data = data.copy()
        data.setdefault("span", "7d")
        super().__init__(data, **options)

    def until(self, at: datetime) -> datetime | None:
        """In the reader's zone. None where it is none, which the form then says."""
        span = self.typed("span")
        if span in _SPANS:
            return at + _SPANS[span]
        try:
            found = datetime.fromisoformat(self.typed("own"))
            return found if found.tzinfo else timezone.make_aware(found)
        except (ValueError, OverflowError):
            self.refuse({"own": [_("Enter a date and time.")]})
            return None


class SilenceForm(EndForm):
    """Of which findings."""

    field_order = ("cluster", "code", "node", "card", "pod", "cause", "reason", "span", "own")
    cluster = Typed(label=lazy("Cluster"), most=253, widget=forms.Select())
    code = Typed(label=lazy("Type"), most=64, widget=forms.Select())
    node = _text(lazy("Node"), 253, placeholder=lazy("all"))
    card = _text(lazy("Card, by its key"), 128, placeholder=lazy("all"))
    pod = _text(lazy("Pod"), 512, placeholder=lazy("all"))
    cause = Typed(most=200, widget=forms.HiddenInput())

    def __init__(self, data: Any, everywhere: bool, **options: Any) -> None:
        """everywhere: whether all clusters may be chosen."""
        super().__init__(data, **options)
        every = [("", _("All clusters"))] if everywhere else []
        self._offer("cluster", [*every, *choices.clusters()])
        self._offer("code", [("", _("All")), *words.code_choices()])

    def _offer(self, name: str, offered: list[tuple[str, str]]) -> None:
        """What is asked for and is not there is still shown."""
        asked = str(self.data.get(name, ""))[:253]
        known = asked in dict(offered) or not asked
        self.fields[name].widget.choices = offered if known else [*offered, (asked, asked)]

    def draft(self, until: datetime) -> SilenceDraft:
        places = {name: self.typed(name).strip() for name in _PLACES}
        return SilenceDraft(**places, reason=self.typed("reason"), until=until)


@dataclass(frozen=True)
class SilenceLine:
    """A silence in a list. what: what it silences, in words; title: with its cause."""

    row: Silence
    what: str
    title: str
    place: str
    in_force: bool
    may_end: bool


def silence_lines(request: HttpRequest, rows: list[Silence]) -> list[SilenceLine]:
    at, may_end = database_now(), may(request, UNSILENCE)
    return [
        SilenceLine(
            row=row,
            what=words.code(row.code) if row.code else _("All findings"),
            title=row.cause or row.code,
            place=words.place(row),
            in_force=words.in_force(row, at),
            may_end=may_end and acts.may_silence(row.cluster_id),
        )
        for row in rows
    ]


SPEC = ListSpec(
    resource=SILENCES,
    fields=(
        Field("q", lazy("Search"), placeholder=lazy("reason, node, user"), wide=True),
        Field("cluster", lazy("Cluster"), choices.clusters),
        Field("code", lazy("Type"), words.code_choices),
        Field("ended", lazy("Time"), (("true", lazy("Ended")), ("any", lazy("All"))), rest=lazy("In force")),
    ),
    shape=list,
    page="silences/page.html",
    part="silences/part.html",
    caption=lazy("Silences"),
    cells="silences/cells",
    key=lambda line: f"silence-{line.row.pk}",
    gone=lambda line: not line.in_force,
)


@require_http_methods(["GET", "HEAD"])
@answered
def silences(request: HttpRequest) -> HttpResponseBase:
    def context(_found: StrictFilterSet) -> dict[str, Any]:
        return {"may_silence": may(request, SILENCE)}

    return list_page(request, replace(SPEC, shape=lambda rows: silence_lines(request, rows)), context)


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def silence_new(request: HttpRequest) -> HttpResponseBase:
    sent = request.method == "POST"
    form = SilenceForm(request.POST if sent else request.GET, acts.may_silence(None))
    form.is_valid()
    if not sent:
        form.errors.clear()
        return _show(request, form)
    if "preview" in request.POST:
        return _show(request, form)
    if not may(request, SILENCE):
        refused(request)
    if not acts.may_silence_in(form.typed("cluster")):
        form.refuse({"cluster": [_("Must be a cluster of your scope.")]})
        return _show(request, form, 400)
    until = form.until(database_now())
    try:
        if until is None:
            return _show(request, form, 400)
        acts.silence(form.draft(until), request.user)
    except Refused as error:
        form.refuse(error.problems)
        return _show(request, form, 400)
    messages.info(request, _("Silenced. The findings are still counted."))
    return HttpResponseRedirect(reverse("silences"))


def _show(request: HttpRequest, form: SilenceForm, status: int = 200) -> HttpResponse:
    cause = form.typed("cause")
    context = {
        "form": form,
        "may": may(request, SILENCE),
        "problems": form.problems(),
        "cause": cause_words(cause) or cause if cause else "",
        "count": _count(form),
    }
    return render(request, "silences/form.html", context, status=status)


def _count(form: SilenceForm) -> int | None:
    """Active findings that it would silence; None where nothing is chosen. Two queries."""
    draft = form.draft(database_now())
    if not (draft.code or draft.node or draft.card or draft.pod):
        return None
    row = Silence(code=draft.code, cause=draft.cause, node_name=draft.node, card_key=draft.card, pod=draft.pod)
    found = querysets.findings_now().filter(covered(row))
    return int((found.filter(cluster__name=draft.cluster) if draft.cluster else found).count())


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def finding_acknowledge(request: HttpRequest, finding_id: int) -> HttpResponseBase:
    row = querysets.findings_now().filter(pk=finding_id).first() if finding_id < 2**63 else None
    if row is None:
        text = _("No active finding %(id)s.") % {"id": str(finding_id)[:20]}
        raise NotThere(text, _("It has ended."), [(_("all findings"), reverse("findings"))])
    [line] = finding_lines([row])
    form = EndForm(request.POST if request.method == "POST" else request.GET)
    form.is_valid()
    if request.method != "POST":
        form.errors.clear()
        return _show_one(request, form, line)
    check_silence(request, SILENCE, row.cluster_id)
    until = form.until(database_now())
    try:
        if until is None:
            return _show_one(request, form, line, 400)
        acts.acknowledge(row, form.typed("reason"), until, request.user)
    except Refused as error:
        form.refuse(error.problems)
        return _show_one(request, form, line, 400)
    messages.info(request, _("Acknowledged. The finding is still counted."))
    return HttpResponseRedirect(line.url or reverse("findings"))


def _show_one(request: HttpRequest, form: EndForm, line: FindingLine, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "line": line,
        "may": may_silence(request, SILENCE, line.row.cluster_id),
        "problems": form.problems(),
        "back_url": line.url or reverse("findings"),
    }
    return render(request, "silences/acknowledge.html", context, status=status)


@require_POST
@answered
def silence_end(request: HttpRequest, silence_id: int) -> HttpResponseBase:
    row = all_silences().filter(pk=silence_id).first() if silence_id < 2**63 else None
    if row is None:
        text = _("No silence %(id)s.") % {"id": str(silence_id)[:20]}
        raise NotThere(text, "", [(_("all silences"), reverse("silences"))])
    check_silence(request, UNSILENCE, row.cluster_id)
    acts.end(row, request.user)
    messages.info(request, _("Silence ended."))
    return HttpResponseRedirect(reverse("silences"))
