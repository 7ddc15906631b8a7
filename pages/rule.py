"""One rule: what it tells now; its form with a preview; pause, resume, delete. For administrators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.required import needs
from accounts.roles import Role
from kube.decoders import converted
from notifications import manage, reading
from notifications.manage import RuleDraft
from notifications.models import Channel, Rule, Told
from notifications.topics.topic import Topic
from pages.frame.live import live_page
from pages.frame.refusals import NotThere, answered
from pages.notifications import rule_line
from pages.rule_form import RuleForm
from pages.words import notifications as words
from validations.planning import Refused
from wording.said import restored

#: Topics that a page lists.
LISTED = 50
_FINDING = "finding"


@dataclass(frozen=True)
class TopicLine:
    """A topic in the reader's language."""

    topic: Topic
    text: str
    place: str


@dataclass(frozen=True)
class Previewed:
    """What a rule that is not saved would tell. things: findings, cards and nodes of all topics."""

    topics: int
    things: int
    lines: list[TopicLine]


def found_rule(rule_id: str) -> Rule:
    row = reading.rules().select_related("channel").of_id(rule_id)
    if row is None:
        close = [(_("all rules"), reverse("notifications"))]
        raise NotThere(_("No rule %(id)s.") % {"id": rule_id[:64]}, "", close)
    return row


def topic_line(topic: Topic) -> TopicLine:
    return TopicLine(topic, restored(topic.text, topic.wording), topic.places[0] if topic.places else topic.cluster)


@needs(Role.ADMIN)
@require_safe
@answered
def rule(request: HttpRequest, rule_id: str) -> HttpResponseBase:
    row = found_rule(rule_id)
    told = Told.objects.filter(rule=row, gone_at=None)
    rows = list(told.order_by("-began_at", "-pk")[:LISTED])
    context = {
        "rule": row,
        "line": rule_line(row),
        "codes": words.codes(row.codes),
        "topics": [(topic_line(converted(one.line, Topic)), one) for one in rows],
        "more": told.count() - len(rows) if len(rows) == LISTED else 0,
    }
    return live_page(request, "rules/page.html", "rules/part.html", context)


@needs(Role.ADMIN)
@require_http_methods(["GET", "HEAD", "POST"])
@answered
def rule_new(request: HttpRequest) -> HttpResponseBase:
    only = Channel.objects.values_list("name", flat=True)[:2]
    name = only[0] if len(only) == 1 else ""
    return _form(request, None, RuleDraft(name="", channel=name, about=[_FINDING]))


@needs(Role.ADMIN)
@require_http_methods(["GET", "HEAD", "POST"])
@answered
def rule_edit(request: HttpRequest, rule_id: str) -> HttpResponseBase:
    row = found_rule(rule_id)
    return _form(request, row, manage.rule_draft(row))


def _form(request: HttpRequest, row: Rule | None, before: RuleDraft) -> HttpResponse:
    sent = request.method == "POST"
    form = RuleForm(request.POST if sent else request.GET, before)
    form.is_valid()
    if not sent:
        return _show(request, form, row)
    if "preview" in request.POST or "check" in request.POST:
        return _show(request, form, row, preview=_preview(form))
    saved = _saved(request, form, row)
    return HttpResponseRedirect(reverse("rule", args=[saved.pk])) if saved else _show(request, form, row, status=400)


def _saved(request: HttpRequest, form: RuleForm, row: Rule | None) -> Rule | None:
    """None where it cannot be, which the form then says."""
    if form.scope_refused():
        return None
    try:
        if row is None:
            return manage.create_rule(form.draft(), request.user)
        return manage.change_rule(row, form.draft())
    except Refused as error:
        form.refuse(error.problems)
        return None


def _preview(form: RuleForm) -> Previewed | None:
    """Nothing is sent. None where there is none; the form has what is wrong then."""
    if form.scope_refused():
        return None
    draft = form.draft()
    try:
        topics = manage.preview(msgspec.structs.replace(draft, name=draft.name or "-"))
    except Refused as error:
        form.refuse(error.problems)
        return None
    topics.sort(key=lambda one: (_RANK.get(one.severity, 9), -one.loud))
    return Previewed(len(topics), sum(one.loud for one in topics), [topic_line(one) for one in topics[:LISTED]])


_RANK = {"error": 0, "warning": 1, "info": 2}


def _show(
    request: HttpRequest, form: RuleForm, row: Rule | None, status: int = 200, preview: Previewed | None = None
) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "rule": row,
        "title": _("Edit rule") if row else _("New rule"),
        "preview": preview,
        "problems": form.problems(),
        "any_channel": Channel.objects.exists(),
        "back_url": reverse("rule", args=[row.pk]) if row else reverse("notifications"),
    }
    return render(request, "rules/form.html", context, status=status)


@needs(Role.ADMIN)
@require_POST
@answered
def rule_pause(request: HttpRequest, rule_id: str, verb: str) -> HttpResponseBase:
    row = found_rule(rule_id)
    manage.pause_rule(row, verb == "pause")
    return HttpResponseRedirect(reverse("rule", args=[row.pk]))


@needs(Role.ADMIN)
@require_http_methods(["GET", "HEAD", "POST"])
@answered
def rule_remove(request: HttpRequest, rule_id: str) -> HttpResponseBase:
    """GET says what would be deleted."""
    row = found_rule(rule_id)
    if request.method == "POST":
        manage.remove_rule(row)
        messages.info(request, _("Deleted rule %(name)s.") % {"name": row.name})
        return HttpResponseRedirect(reverse("notifications"))
    return render(request, "rules/remove.html", {"rule": row})
