"""One case: its history, what stood there before, and the three acts, each with what it would do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from inventory.marks import OURS
from inventory.models import Node
from pages.frame.freshness import notices
from pages.frame.live import live_page
from pages.frame.refusals import BadParameter, NotThere, answered
from pages.frame.worded import quoted
from pages.permission import may_case, refused
from pages.sections.case_lines import blocked_words, case_lines
from pages.words import out_of_service as words
from quarantine import manage, reading
from quarantine.automatic import room_for
from quarantine.models import OPEN, Case, CaseState
from quarantine.planned import Plan
from validations.planning import Refused


@dataclass(frozen=True)
class Moment:
    """A step of the case. level, sign: its look. note: what a person said."""

    title: str
    level: str
    sign: str
    at: datetime | None = None
    by: str = ""
    note: str = ""
    run: str = ""


def found_case(case_id: str) -> Case:
    row = reading.cases().of_id(case_id)
    if row is None:
        raise NotThere(
            _("No case %(id)s.") % {"id": case_id[:64]}, "", [(_("Out of service"), reverse("out-of-service"))]
        )
    return row


@require_safe
@answered
def case(request: HttpRequest, case_id: str) -> HttpResponseBase:
    row = found_case(case_id)
    [line] = case_lines(request, [row])
    node = Node.objects.filter(cluster_id=row.cluster_id, name=row.node_name).only("marks").first()
    marks = [words.mark_line(one) for one in (node.found_marks if node else ())]
    context = {
        "line": line,
        "case": row,
        "moments": moments(row),
        "blocked": blocked_words(row),
        "facts": facts(row),
        "before": before(row),
        "marks": [one for one in marks if not (one.mark.tool == OURS and one.mark.case == row.pk)],
        "there": any(one.mark.tool == OURS and one.mark.case == row.pk for one in marks),
        "notices": notices(request, {row.cluster_id}),
    }
    return live_page(request, "out_of_service/case.html", "out_of_service/case_part.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def case_accept(request: HttpRequest, case_id: str) -> HttpResponseBase:
    """GET says what would be done, and changes nothing."""
    row = _writable(request, case_id)
    how = request.POST.get("how", "") or request.GET.get("how", "")
    if request.method == "POST" and (
        done := _acted(request, row, lambda: manage.accept(row, request.user, note=_note(request), how=how))
    ):
        return done
    plan = _planned(row, lambda: manage.plan_accept(row, how))
    hows, cap = manage.hows(row), manage.switch().cap_percent
    context = {
        "hows": [(one, title, one == (how or hows[0])) for one, title in words.how_choices(hows)],
        "how": how or hows[0],
        "room": room_for(row, cap),
        "cap": cap,
    }
    return _confirm(request, row, "accept", plan, context)


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def case_decline(request: HttpRequest, case_id: str) -> HttpResponseBase:
    row = _writable(request, case_id)
    if request.method == "POST" and (
        done := _acted(request, row, lambda: manage.decline(row, request.user, note=_note(request)))
    ):
        return done
    return _confirm(request, row, "decline", None, {})


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def case_return(request: HttpRequest, case_id: str) -> HttpResponseBase:
    row = _writable(request, case_id)
    if request.method == "POST" and (
        done := _acted(request, row, lambda: manage.give_back(row, request.user, note=_note(request)))
    ):
        return done
    return _confirm(request, row, "return", _planned(row, lambda: manage.plan_return(row)), {})


def _writable(request: HttpRequest, case_id: str) -> Case:
    row = found_case(case_id)
    if not may_case(request, row.cluster_id):
        refused(request)
    return row


def _planned(row: Case, make: Any) -> Plan:
    try:
        found: Plan = make()
    except Refused as error:
        raise _wrong(row, error) from None
    return found


def _acted(request: HttpRequest, row: Case, do: Any) -> HttpResponse | None:
    """Back to the case, with a message where another user was first. None: the form lacks the reason."""
    try:
        if not do():
            messages.warning(request, str(manage.state_words(row)))
    except Refused as error:
        if "note" in error.problems:
            return None
        if list(error.problems) != [""]:
            raise _wrong(row, error) from None
        messages.warning(request, " ".join(str(text) for text in error.problems[""]))
    return HttpResponseRedirect(reverse("case", args=[row.pk]))


def _wrong(row: Case, error: Refused) -> BadParameter:
    problems = {name or "case": [str(text) for text in texts] for name, texts in error.problems.items()}
    return BadParameter(problems, (_("Back to the case"), reverse("case", args=[row.pk])))


def _confirm(request: HttpRequest, row: Case, act: str, plan: Plan | None, more: dict[str, Any]) -> HttpResponse:
    [line] = case_lines(request, [row])
    titles = {"accept": _("Take out of service"), "decline": _("Keep in service"), "return": _("Return to service")}
    lacking = request.method == "POST"
    context = {"line": line, "case": row, "act": act, "title": titles[act], "plan": plan, "lacking": lacking}
    context |= {"max_note": manage.LONGEST_NOTE} | more
    return render(request, "out_of_service/act.html", context, status=400 if lacking else 200)


def _note(request: HttpRequest) -> str:
    return request.POST.get("note", "")


def moments(row: Case) -> list[Moment]:
    """In their order; what is still to come last, without a time."""
    by = words.taken_by(row)
    told = [
        Moment(
            _("Recommended"), "good", "✓", row.created_at, row.policy.name if row.policy else "", run=row.run_id or ""
        )
    ]
    if row.declined_at:
        return [
            *told,
            Moment(_("Kept in service"), "none", "–", row.declined_at, row.declined_by_name, row.declined_note),
        ]
    if row.state == CaseState.WITHDRAWN:
        return [*told, Moment(_("Withdrawn"), "none", "–", row.state_since)]
    if row.accepted_at:
        told.append(Moment(_("Accepted"), "good", "✓", row.accepted_at, by, row.accepted_note))
    if row.marked_at:
        told.append(Moment(_("Marked"), "good", "✓", row.marked_at, "gpudash"))
    if row.passed_run_id:
        told.append(Moment(_("Pass"), "good", "✓", row.return_requested_at, run=row.passed_run_id))
    elif row.return_requested_at:
        why = words.return_words(row.return_reason)
        told.append(
            Moment(
                _("Return: %(why)s") % {"why": why},
                "good",
                "✓",
                row.return_requested_at,
                row.returned_by_name,
                row.returned_note,
            )
        )
    if row.returned_at:
        told.append(Moment(_("Returned"), "good", "✓", row.returned_at))
    return [*told, *_ahead(row)]


def _ahead(row: Case) -> list[Moment]:
    """What comes next, while the case is open."""
    next_ = {
        CaseState.RECOMMENDED.value: (_("Decision"), "warning", "!"),
        CaseState.ACCEPTED.value: (_("Mark"), "busy", "▶"),
        CaseState.OUT.value: (_("Pass"), "busy", "▶"),
        CaseState.RETURNING.value: (_("Return"), "busy", "▶"),
    }
    return [Moment(*next_[row.state])] if row.state in OPEN else []


def facts(row: Case) -> list[tuple[str, str]]:
    """(title, text)."""
    device = " / ".join(str(row.device[name]) for name in ("driver", "pool", "device") if row.device.get(name))
    found = [
        (_("Mark"), words.how_words(row.how) if row.state != CaseState.RECOMMENDED else ""),
        (_("Device"), device),
        (_("Returned by"), _("a pass: %(level)s, or better") % {"level": row.get_level_display()}),
        (_("Answer to the dry run"), quoted(row.dry_run) if row.dry_run else ""),
    ]
    return [(title, text) for title, text in found if text]


def before(row: Case) -> list[str]:
    """What stood on the node before the mark, as kubectl names it; [] where it was not marked, or nothing stood there."""
    if not row.was:
        return []
    taints = [one for one in row.was.get("taints") or () if isinstance(one, dict)]
    told = [_("cordoned")] if row.was.get("unschedulable") else []
    for one in taints:
        value = f"={one['value']}" if one.get("value") else ""
        told.append(f"{one.get('key', '')}{value}:{one.get('effect', '')}")
    return told
