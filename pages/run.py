"""One run: its verdict, what to do, its log, what differs from the last pass, and what it ran on."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import yaml
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from inventory.models.choices import Evidence
from pages.frame.freshness import notices
from pages.frame.labels import label_of
from pages.frame.links import card_url, node_url, pod_url, with_query
from pages.frame.live import live_page
from pages.frame.refusals import NotThere, answered
from pages.frame.worded import middle, told, worded
from pages.permission import launchers_only, may_launch
from pages.rows.runs import card_words, reasons_of
from pages.runlog import log_panel
from pages.sections.compared import compared_lines
from pages.sections.measured import measured
from pages.sections.pool_chart import pool_chart
from pages.sections.steps import steps
from pages.sections.suspect import form_url, remedy
from pages.words import runs as words
from pages.words.names import plain_html, value_html
from validations import querysets
from validations.attribution import ONLY_CARD
from validations.models import Run
from validations.models.run import said_of
from validations.planning import Refused
from validations.reparse import NotEnded, request_reparse
from validations.requests import Busy, request_again, request_cancel
from validations.suites import find

#: Parts of the node's snapshot that are not listed: the page says them in another place, or they are for comparing.
_TOLD_ELSEWHERE = ("node_uid", "driver_version", "labels", "plugins", "software")


def found_run(run_id: str) -> Run:
    """The run with steps and measurements. Raises NotThere."""
    run = querysets.run_whole(run_id)
    if run is None:
        raise NotThere(_("No run %(id)s.") % {"id": run_id[:64]}, "", [(_("all runs"), reverse("validations"))])
    return run


@require_safe
@answered
def run(request: HttpRequest, run_id: str) -> HttpResponseBase:
    row = found_run(run_id)
    context = _context(request, row)
    if not request.htmx:  # type: ignore[attr-defined]
        context["log"] = log_panel(request, row)
    return live_page(request, "validations/run.html", "validations/run_part.html", context)


def _context(request: HttpRequest, row: Run) -> dict[str, Any]:
    suite = find(row.suite)
    reasons = reasons_of(row.reasons)
    compared = compared_lines(row) if row.node_name else None
    group = [(one, node_url(row.cluster.name, one.node_name)) for one in row.nodes.all()]
    return {
        "run": row,
        "pod_url": pod_url(row.cluster.name, row.namespace, row.pod_name),
        "shown": words.shown_run(row),
        "title": _title(row, reasons),
        "suite": suite,
        "suite_title": words.suite_title(row.suite),
        "suite_url": with_query(reverse("validations"), suite=row.suite),
        "reason": reasons[0] if reasons else None,
        "reasons": [one for one in reasons[1:] if one["code"] != "exit-code"],
        "exit": _exit(row, reasons),
        "took": words.duration((row.ended_at - row.created_at).total_seconds()) if row.ended_at else "",
        "proof": words.proof(suite, row.level) if suite is not None and row.verdict == "passed" else "",
        "level": words.level(row.level or row.level_possible),
        "steps": steps(row),
        "remedy": remedy(row),
        "measured": measured(row),
        "pool_chart": pool_chart(row),
        "compared": compared,
        "facts": _facts(row),
        "node_facts": _pairs(row.node_snapshot, _TOLD_ELSEWHERE),
        "image": _image(row),
        "manifest": manifest_text(row.manifest),
        "group": group,
        "card": card_words(row),
        "evidence": words.ONLY_CARD if row.card_evidence == ONLY_CARD else label_of(Evidence, row.card_evidence),
        "card_url": card_url(row.card_id) if row.card_id else "",
        "history_url": reverse("card-runs", args=[row.card_id]) if row.card_id else "",
        "node_url": node_url(row.cluster.name, row.node_name),
        "reparses": [
            (one, words.shown(one.old_verdict), _first(one.old_reasons)) for one in row.reparses.order_by("-id")[:10]
        ],
        "newer_parser": suite is not None
        and row.parser_version is not None
        and suite.parser_version > row.parser_version
        and row.log_pruned_at is None
        and row.reparse_requested_at is None,
        "may_cancel": row.active and row.cancel_requested_at is None,
        "left_behind": told(row.last_error, said_of(row, "last_error"))
        if not row.active and not row.job_removed
        else "",
        "may_launch": may_launch(request),
        "notices": notices(request, {row.cluster_id}),
    }


def _title(row: Run, reasons: list[dict[str, Any]]) -> str:
    """ "Failed: wrong result on gpu-1 card 2"."""
    what = capfirst(words.shown_run(row).words)
    reason = words.headline(reasons[0]["code"]) if reasons and row.verdict != "passed" else ""
    if reason or row.active:
        what = _("%(verdict)s: %(reason)s") % {"verdict": what, "reason": reason or words.suite_title(row.suite)}
    place = f"{row.node_name} {card_words(row)}" if row.card_key else row.node_name or ", ".join(row.group)
    return _("%(what)s on %(place)s") % {"what": what, "place": place}


def _exit(row: Run, reasons: list[dict[str, Any]]) -> str:
    """How the container ended, where that says more than the verdict."""
    at = next((place for place, one in enumerate(reasons) if one["code"] == "exit-code"), None)
    if at is not None:
        return worded(reasons[at]["text"]).rstrip(".。") if at else ""
    if row.exit_code is None or (row.verdict == "passed" and row.exit_code == 0):
        return ""
    end = row.end_reason if row.end_reason not in ("Completed", "Error") else ""
    parts = [_("Exit code %(code)s") % {"code": row.exit_code}, end]
    return ", ".join(filter(None, [*parts, _("signal %(n)s") % {"n": row.signal} if row.signal else ""]))


def _image(row: Run) -> str:
    """The image's own name and the first digits of its digest: "cuda-sample@fd62deec…"; its tag where no digest is known."""
    name = row.image.rpartition("/")[2]
    digest = row.image_digest.rpartition("sha256:")[2]
    return f"{name.partition('@')[0].partition(':')[0]}@{digest[:8]}…" if len(digest) > 8 else middle(name)


def _facts(row: Run) -> list[tuple[SafeString, SafeString]]:
    """What the log says of the workload and the card."""
    return _pairs(row.facts)


def _pairs(stored: Any, but: Collection[str] = ()) -> list[tuple[SafeString, SafeString]]:
    """Any JSON object as names and texts, each at most 300 characters, 40 of them."""
    rows = stored.items() if isinstance(stored, dict) else ()
    told = [(str(name)[:100], _text(value)[:300]) for name, value in list(rows)[:40] if name not in but]
    return [(plain_html(name), value_html(name, text)) for name, text in told]


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_text(one)}" for name, one in value.items())
    if isinstance(value, list):
        return "; ".join(_text(one) for one in value)
    return str(value)


def manifest_text(manifest: Any) -> str:
    """A manifest as YAML; "" for none."""
    if not manifest:
        return ""
    return yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=120)


@require_safe
@answered
def run_manifest(_request: HttpRequest, run_id: str) -> HttpResponseBase:
    """The Job as it was created, to be saved."""
    row = found_run(run_id)
    response = HttpResponse(manifest_text(row.manifest), content_type="application/yaml; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="gpudash-run-{row.pk}.yaml"'
    return response


def _back(row: Run) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("run", args=[row.pk]))


@require_POST
@launchers_only
@answered
def run_cancel(request: HttpRequest, run_id: str) -> HttpResponseBase:
    row = found_run(run_id)
    if request_cancel(row, request.user):
        messages.info(request, _("Cancelling: the Job is deleted and the run ends as errored."))
    else:
        messages.info(request, _("The run has already ended."))
    return _back(row)


@require_POST
@launchers_only
@answered
def run_rerun(request: HttpRequest, run_id: str) -> HttpResponseBase:
    """The same suite on the same place. When it cannot be, the launch form says why."""
    row = found_run(run_id)
    try:
        again, _new = request_again(row, request.user)
    except Busy as error:
        messages.info(request, _("Run %(id)s already occupies this target. Showing it.") % {"id": error.run.pk})
        return _back(error.run)
    except Refused:
        options = row.options if isinstance(row.options, dict) else {}
        return HttpResponseRedirect(form_url(row.suite, row.cluster.name, row.node_name, row.card_requested, options))
    return _back(again)


@require_POST
@launchers_only
@answered
def run_reparse(request: HttpRequest, run_id: str) -> HttpResponseBase:
    row = found_run(run_id)
    try:
        request_reparse(row, request.user)
    except NotEnded as error:
        messages.info(request, worded(error.args[0]))
    else:
        messages.info(request, _("Parsing the log again. If the result changes, the earlier result is kept below."))
    return _back(row)


def _first(reasons: object) -> str:
    """The text of the reason that decided."""
    return next((worded(one["text"]) for one in reasons_of(reasons)), "")
