"""One policy: what it wants, what it does in the next 24 hours, and its cards; its form; pause, resume, delete."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from pages.frame import amounts
from pages.frame.labels import label_of, pool_words
from pages.frame.listing import list_page
from pages.frame.refusals import NotThere, answered
from pages.frame.table import columns_of
from pages.frame.worded import worded
from pages.permission import (
    CHANGE_POLICY,
    DELETE_POLICY,
    check_policy,
    may,
    may_make_policies,
    may_policy,
    may_quarantine,
    refused,
)
from pages.policies import CARDS, bar, policy_line
from pages.policy_form import PolicyForm
from pages.rows.runs import RunLine, run_line
from pages.words import policies as words
from pages.words import runs as run_words
from resources.certificate import as_file
from resources.policy import POLICY_CARDS
from runtime.clock import database_now
from runtime.spans import span
from validations import querysets
from validations.certificate import issue
from validations.ids import new_id
from validations.lifecycle.endings import GAVE_WAY
from validations.models import LevelChoice, Policy, PolicySwitch, VerdictChoice
from validations.planning import Refused
from validations.policies import manage, plan, reading, rules
from validations.policies.manage import PolicyDraft
from validations.policies.plan import Planned, Preview

#: A run that gave way is told for so long.
GAVE_WAY_FOR = timedelta(days=7)


@dataclass(frozen=True)
class Window:
    """A window of the plan in words."""

    when: str
    cards: int
    took: str
    fits: bool


@dataclass(frozen=True)
class Previewed:
    """What a policy that is not saved would do. when: of the due cards. causes: of the excluded ones."""

    found: Preview
    when: str
    causes: str
    windows: list[Window]
    excluded: int


def found_policy(policy_id: str) -> Policy:
    row = reading.policies().select_related("cluster").of_id(policy_id)
    if row is None:
        close = [(_("all policies"), reverse("policies"))]
        raise NotThere(_("No policy %(id)s.") % {"id": policy_id[:64]}, "", close)
    return row


@require_safe
@answered
def policy(request: HttpRequest, policy_id: str) -> HttpResponseBase:
    row, at = found_policy(policy_id), database_now()
    names = [name for name in POLICY_CARDS.table if name != "policy"]
    spec = replace(
        CARDS,
        rows=lambda: reading.cards(row.pk),
        columns=columns_of(POLICY_CARDS, names),
        page="policies/policy.html",
        part="policies/policy_part.html",
    )

    def context(_found: Any) -> dict[str, Any]:
        [shown], counts = reading.with_now([row]), reading.states_of(row.pk)
        line = policy_line(shown, counts, at, PolicySwitch.all_paused())
        return {
            "policy": row,
            "line": line,
            "fleet": counts,
            "bar": bar(counts),
            "causes": words.causes(counts.reasons),
            "main_causes": words.causes(counts.reasons, words.MAIN_CAUSES),
            "facts": facts(row),
            "windows": [_window(row, one, at) for one in plan.plan(row, at)],
            "opens": words.moment_in(row, shown.opens_at, at) if shown.opens_at else "",
            "gave_way": _gave_way(row, at),
            # Where nothing runs, it is what the policy does now.
            "blocked": row.said_held if counts.running else "",
            "may_sign": settings.SIGNING_KEY_FILE is not None and may(request, CHANGE_POLICY),
            "may_change": may_policy(request, CHANGE_POLICY, row.cluster_id),
            "may_delete": may_policy(request, DELETE_POLICY, row.cluster_id),
        }

    return list_page(request, spec, context)


@require_POST
@answered
def policy_certificate(request: HttpRequest, policy_id: str) -> HttpResponseBase:
    row = found_policy(policy_id)
    if not may(request, CHANGE_POLICY):
        refused(request)
    try:
        return as_file(issue.of_a_policy(row), f"policy-{row.pk}")
    except issue.NotIssued as error:
        messages.error(request, worded(error.args[0]))
        return HttpResponseRedirect(reverse("policy", args=[row.pk]))


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def policy_new(request: HttpRequest) -> HttpResponseBase:
    return _form(request, None, PolicyDraft(name="", suite=""))


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def policy_edit(request: HttpRequest, policy_id: str) -> HttpResponseBase:
    row = found_policy(policy_id)
    return _form(request, row, manage.draft_of(row))


@require_POST
@answered
def policy_pause(request: HttpRequest, policy_id: str, verb: str) -> HttpResponseBase:
    row = found_policy(policy_id)
    check_policy(request, CHANGE_POLICY, row.cluster_id)
    manage.pause(row, verb == "pause")
    return HttpResponseRedirect(reverse("policy", args=[row.pk]))


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def policy_remove(request: HttpRequest, policy_id: str) -> HttpResponseBase:
    """GET says what would be deleted."""
    row = found_policy(policy_id)
    check_policy(request, DELETE_POLICY, row.cluster_id)
    if request.method == "POST":
        manage.remove(row)
        messages.info(request, _("Deleted policy %(name)s.") % {"name": row.name})
        return HttpResponseRedirect(reverse("policies"))
    return render(request, "policies/remove.html", {"policy": row, "cards": reading.cards(row.pk).count()})


def _form(request: HttpRequest, row: Policy | None, before: PolicyDraft) -> HttpResponse:
    may = may_make_policies(request) if row is None else may_policy(request, CHANGE_POLICY, row.cluster_id)
    sent = request.method == "POST"
    takes_out = row is not None and row.takes_out
    form = PolicyForm(request.POST if sent else request.GET, may, before, takes_out, may and may_quarantine(request))
    if not sent or "draw" in request.POST:
        form.is_valid()
        return _show(request, form, row, may)
    if "preview" in request.POST:
        return _show(request, form, row, may, preview=_preview(form))
    if not may:
        refused(request)
    saved = _save(request, form, row)
    return HttpResponseRedirect(reverse("policy", args=[saved.pk])) if saved else _show(request, form, row, may, 400)


def _save(request: HttpRequest, form: PolicyForm, row: Policy | None) -> Policy | None:
    """None where it cannot be, which the form then says."""
    if not form.is_valid():
        return None
    draft = form.draft()
    if not reading.may_write_in(draft.cluster):
        form.refuse({"cluster": [_("Must be a cluster of your scope.")]})
        return None
    try:
        saved = manage.create(draft, request.user) if row is None else manage.change(row, draft, request.user)
        if may_quarantine(request) and saved.takes_out != form.typed("takes_out"):
            manage.take_out(saved, form.typed("takes_out"))
        return saved
    except Refused as error:
        form.refuse(error.problems)
        return None


def _preview(form: PolicyForm) -> Previewed | None:
    """Nothing is written. None where there is none; the form has what is wrong then."""
    if not form.is_valid():
        return None
    draft, at = form.draft(), database_now()
    try:
        row = manage.row_of(msgspec.structs.replace(draft, name=draft.name or "-"))
        found = plan.preview(row, at)
    except Refused as error:
        form.refuse(error.problems)
        return None
    except rules.NoRule:
        return None
    excluded = {reason: number for (state, reason), number in found.reasons.items() if state == "excluded"}
    return Previewed(
        found=found,
        when=words.tested_when(found, row, at),
        causes=words.causes(excluded),
        windows=[_window(row, one, at) for one in found.windows],
        excluded=found.states["excluded"],
    )


def _show(
    request: HttpRequest,
    form: PolicyForm,
    row: Policy | None,
    may: bool,
    status: int = 200,
    preview: Previewed | None = None,
) -> HttpResponse:
    context = {
        "form": form,
        "suite": form.chosen,
        "policy": row,
        "title": _("Edit policy") if row is not None else _("New policy"),
        "may": may,
        "preview": preview,
        "problems": form.problems(at_fields=True),
        "here": request.path,
        "back_url": reverse("policy", args=[row.pk]) if row is not None else reverse("policies"),
    }
    return render(request, "policies/form.html", context, status=status)


def _gave_way(row: Policy, at: datetime) -> tuple[RunLine, str] | None:
    """The newest of its runs of the last days that was skipped since a pod came first, and why in words."""
    recent = querysets.runs().filter(policy=row, verdict=VerdictChoice.SKIPPED, pk__gte=new_id(at - GAVE_WAY_FOR))
    found = recent.order_by("-pk").first()
    if found is None or found.reason_code not in GAVE_WAY:
        return None
    return run_line(found), run_words.headline(found.reason_code)


def _window(row: Policy, one: Planned, at: datetime) -> Window:
    begin, end = words.moment_in(row, one.start, at), words.moment_in(row, one.end, at)
    when = f"{begin} – {end}" if row.window_cron else words.runs_when(row)
    took = _("about %(span)s") % {"span": span(one.seconds)} if one.seconds and one.cards else ""
    return Window(when, one.cards, took, one.fits)


def facts(row: Policy) -> list[tuple[str, str]]:
    """(title, text) of what the policy wants; its name and suite stand above."""
    labels = ", ".join(f"{label}={value}" for label, value in row.node_labels.items())
    where = [row.cluster.name if row.cluster else _("all clusters"), pool_words(row.pool), row.model, row.stack, labels]
    options = ", ".join(f"{name}={value}" for name, value in row.options.items())
    told = [
        (_("Covers"), " · ".join(part for part in where if part)),
        (_("Test level"), label_of(LevelChoice, row.level)),
        (_("Options"), options),
        (_("Valid for"), words.age(row.max_age_s)),
        (_("Voided by"), words.voided_by(row)),
        (_("Results from other tools"), _("count") if row.counts_imported else ""),
        (_("Runs"), words.runs_when(row)),
        (_("Limits"), " · ".join(_limits(row))),
        (_("Failed cards"), _("taken out of service automatically") if row.takes_out else ""),
        (_("Created by"), row.requested_by_name),
    ]
    return [(title, text) for title, text in told if text]


def _limits(row: Policy) -> list[str]:
    def of(number: int | None, text: str) -> list[str]:
        return [text % {"n": amounts.count(number)}] if number else []

    nodes, free = row.keep_free_nodes, row.keep_free_cards
    return [
        *of(row.max_per_cluster, _("max %(n)s parallel per cluster")),
        *of(row.max_per_pool, _("max %(n)s parallel per pool")),
        *of(row.card_minutes_per_day, _("%(n)s min per card in 24 h")),
        *of(nodes, ngettext("keeps %(n)s node free per pool", "keeps %(n)s nodes free per pool", nodes)),
        *of(free, ngettext("keeps %(n)s card free per pool", "keeps %(n)s cards free per pool", free)),
    ]
