"""Findings: what is wrong and what to do about it, by cause; or each finding in a list."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from inventory.catalogue import CATALOGUE
from inventory.models.choices import Severity
from inventory.queries.causes import causes
from notifications.matching import silenced_now
from pages.frame import choices, grouped
from pages.frame.grouped import Grouping
from pages.frame.links import state_url
from pages.frame.listing import Field, ListSpec, filters_of, list_page
from pages.frame.refusals import answered
from pages.permission import SILENCE, may
from pages.rows.findings import cause_lines, cause_words, finding_lines
from resources.filter_sets import StrictFilterSet
from resources.finding import FINDINGS
from runtime.cached import shareable

CAUSE = "cause"
#: Causes that one page shows; the list has all findings.
MOST_CAUSES = 100


def _codes() -> list[tuple[str, str]]:
    return [(code, gettext(entry.title)) for code, entry in sorted(CATALOGUE.items(), key=lambda item: item[1].title)]


SPEC = ListSpec(
    resource=FINDINGS,
    fields=(
        Field("q", _("Search"), placeholder=_("node, pod, text"), wide=True),
        Field("cluster", _("Cluster"), choices.clusters),
        Field("severity", _("Severity"), Severity.choices),
        Field("code", _("Type"), _codes),
        Field("silenced", _("Silenced"), (("true", _("Silenced")), ("false", _("Not silenced")))),
        Field("ended", _("Time"), (("true", _("Ended")), ("any", _("All"))), rest=_("Active")),
    ),
    shape=finding_lines,
    page="findings/page.html",
    part="findings/part.html",
    caption=_("Findings"),
    cells="findings/cells",
    key=lambda line: f"finding-{line.row.id}",
    gone=lambda line: line.row.ended_at is not None,
    words={CAUSE: cause_words},
    groups={CAUSE: Grouping(_("By cause"), part="findings/causes.html")},
    group=CAUSE,
)


@shareable
@require_safe
@answered
def findings(request: HttpRequest) -> HttpResponseBase:
    by_cause = grouped.asked(request, SPEC.groups, SPEC.group) == CAUSE

    def context(found: StrictFilterSet) -> dict[str, Any]:
        quiet = silenced_now()
        told = _severities(request, found) | _silenced(request, found, quiet)
        return told | (_causes(request, found, quiet) if by_cause and found.is_valid() else {})

    return list_page(request, SPEC, context)


def _severities(request: HttpRequest, found: StrictFilterSet) -> dict[str, Any]:
    """(severity, number, address) of the findings that the filter keeps; an address takes the others away."""
    counts = dict(found.qs.order_by().values_list("severity").annotate(Count("id")))
    told = [(one, counts[one], state_url(request, severity=one)) for one in Severity.values if counts.get(one)]
    return {"severities": told, "found": sum(counts.values())}


def _silenced(request: HttpRequest, found: StrictFilterSet, quiet: Q | None) -> dict[str, Any]:
    """How many of the findings are silenced, and the address of these alone."""
    return {
        "silenced": found.qs.filter(quiet).count() if quiet is not None else 0,
        "silenced_url": state_url(request, silenced="true"),
        "may_silence": may(request, SILENCE),
    }


def _causes(request: HttpRequest, found: StrictFilterSet, quiet: Q | None) -> dict[str, Any]:
    rows, number = causes(found.qs, MOST_CAUSES, quiet)
    return {
        "causes": cause_lines(rows, _kept(request)),
        "causes_number": number,
        "causes_hidden": number - len(rows),
        "list_url": state_url(request, group=grouped.NONE),
    }


def _kept(request: HttpRequest) -> QueryDict:
    """The filters in force, for the lists behind causes."""
    query = filters_of(request.GET)
    for name in ("ordering", "cursor", "page_size", "format"):
        query.pop(name, None)
    return query
