"""Launch: choose a suite and a place, see whether it fits and what will run, then launch it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from pages.frame.freshness import notices
from pages.frame.links import node_url
from pages.frame.refusals import answered
from pages.frame.worded import worded
from pages.launch_forms import LaunchForm
from pages.permission import launchers_only, may_launch
from pages.run import manifest_text
from validations.planning import Plan, Refused, cautions, plan
from validations.requests import Busy, KeyReused, holder_of, request_run
from validations.suites.engine.reasons import PASSING


@dataclass(frozen=True)
class Preview:
    """What would happen. waits: all that hinders passes by itself.

    exact: the run is sure to take the card. holder: the active run that has the place.
    """

    plan: Plan
    manifest: str
    waits: bool
    exact: bool
    target: str
    holder: Any

    @property
    def ready(self) -> bool:
        return self.plan is not None and self.holder is None and not self.plan.reasons


@require_http_methods(["GET", "HEAD", "POST"])
@answered
def validation_new(request: HttpRequest) -> HttpResponseBase:
    if request.method == "POST" and "preview" not in request.POST:
        return _launch(request)
    return _show(request, LaunchForm(request.POST if request.method == "POST" else request.GET, may_launch(request)))


def preview_of(form: LaunchForm) -> Preview | None:
    """Plan it without writing anything. None where there is no plan; the form has what is wrong then."""
    try:
        made = plan(form.draft())
    except Refused as error:
        form.refuse(error.problems)
        return None
    return Preview(
        plan=made,
        manifest=manifest_text(made.manifest).replace(made.run_id, "‹run id›"),
        waits=bool(made.manifest) and bool(made.reasons) and all(one.code in PASSING for one in made.reasons),
        exact=made.card is not None,
        target=_target(made),
        holder=holder_of(made),
    )


def _target(made: Plan) -> str:
    node, asked = made.place.node.name, made.place.card
    if made.group:
        return ", ".join(place.node.name for place in made.group)
    if made.card is not None:
        return _("Card %(card)s of node %(node)s. The tested card is read from the pod.") % {
            "card": made.card.key,
            "node": node,
        }
    if asked is not None:
        return _(
            "Any card of node %(node)s: the stack chooses the card, so card %(card)s cannot be requested. The "
            "result belongs to the node unless the card is identified."
        ) % {"node": node, "card": asked.key}
    return _("Any card of node %(node)s. The result belongs to the node unless the card is identified.") % {
        "node": node
    }


@launchers_only
def _launch(request: HttpRequest) -> HttpResponse:
    form = LaunchForm(request.POST, may_launch(request))
    if not form.is_valid():
        return _show(request, form, 400)
    try:
        run, _new = request_run(form.draft(), request.user, form.typed("key"))
    except Refused as error:
        form.refuse(error.problems)
        return _show(request, form, 400)
    except Busy as error:
        return _show(request, form, 409, error)
    except KeyReused as error:
        fresh = request.POST.copy()
        fresh["key"] = ""
        form = LaunchForm(fresh, may_launch(request))
        told = _("This form was already sent. Send it again to launch another run. %(text)s") % {"text": error}
        form.refuse({"key": [told]})
        return _show(request, form, 409)
    for one in cautions(run):
        messages.warning(request, worded(one.text))
    return HttpResponseRedirect(reverse("run", args=[run.pk]))


def _show(request: HttpRequest, form: LaunchForm, status: int = 200, busy: Busy | None = None) -> HttpResponse:
    form.is_valid()
    node = form.typed("node")
    preview = preview_of(form) if form.chosen is not None and form.has_place else None
    # While somebody types only the preview is swapped: what is wrong is said there then.
    part = request.htmx.target == "preview"  # type: ignore[attr-defined]
    context = {
        "form": form,
        "suite": form.chosen,
        "preview": preview,
        "problems": form.problems(at_fields=not part),
        "busy": busy.run if busy is not None else preview.holder if preview is not None else None,
        "may_launch": may_launch(request),
        "notices": notices(request),
        "node_name": node,
        "node_url": node_url(form.typed("cluster"), node) if node else "",
    }
    return render(request, "validations/new.html", context, status=status)
