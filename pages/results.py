"""Results of other tools: the list, and one with all that it states."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from pages.frame import choices
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import NotThere, answered
from pages.sections import reported
from resources.imported import RESULTS
from runtime.scope import current
from validations import imported
from validations.imports import FORMATS
from validations.models import ImportedResult

#: Statements and measurements of one page; REST tells all.
MOST = 200


SPEC = ListSpec(
    resource=RESULTS,
    fields=(
        Field("q", gettext_lazy("Search"), placeholder=gettext_lazy("Search results"), wide=True),
        Field("cluster", gettext_lazy("Cluster"), choices.clusters),
        Field("result_format", gettext_lazy("Format"), tuple((one.name, one.name) for one in FORMATS)),
        Field("verdict", gettext_lazy("Reported"), reported.VERDICTS),
        Field("node", gettext_lazy("Node")),
        Field(
            "unmatched",
            gettext_lazy("Unmatched"),
            (("true", gettext_lazy("With unmatched")), ("false", gettext_lazy("All matched"))),
        ),
    ),
    shape=lambda rows: [reported.result_line(row) for row in rows],
    page="results/page.html",
    part="results/part.html",
    caption=gettext_lazy("Results from other tools"),
    cells="results/cells",
    key=lambda line: f"result-{line.row.id}",
)


@require_safe
@answered
def results(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, SPEC, lambda _found: {"tab": "results"})


@require_safe
@answered
def result(request: HttpRequest, result_id: str) -> HttpResponseBase:
    row = ImportedResult.objects.get_queryset().of_id(result_id)
    if row is None:
        close = [(str(_("all results")), reverse("results"))]
        raise NotThere(_("No result %(id)s.") % {"id": result_id[:64]}, "", close)
    whole = current().sees_whole(row.cluster_id)
    nodes, cards = (imported.statements(row, MOST + 1, of_card=one) for one in (False, True))
    context: dict[str, Any] = {
        "result": row,
        "line": reported.result_line(row),
        "nodes": reported.statement_lines(nodes[:MOST], row.cluster.name),
        "cards": reported.statement_lines(cards[:MOST], row.cluster.name),
        "measurements": row.measurements[:MOST],
        "most": MOST,
        "more_nodes": len(nodes) > MOST,
        "more_cards": len(cards) > MOST,
        "more_measurements": row.figures > MOST,
        "facts": json.dumps(row.facts, ensure_ascii=False, indent=2) if row.facts else "",
        "files": imported.file_names(row) if whole else [],
        "rest_url": reverse("api-result", args=[row.pk]),
        "original_url": reverse("api-result-original", args=[row.pk]),
    }
    return render(request, "results/result.html", context)
