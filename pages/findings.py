"""Findings: what is wrong, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from inventory.catalogue import CATALOGUE
from inventory.models import Card, Finding
from inventory.models.choices import Severity
from inventory.queries import rows as querysets
from pages.frame import choices
from pages.frame.links import card_url, node_url, pod_url
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import answered
from pages.rows.cards import card_name
from resources.finding import FINDINGS
from runtime.cached import shareable
from wording.said import restored


@dataclass(frozen=True)
class FindingLine:
    """What a template prints of a finding. text: in the reader's language.

    title, meaning, action: of its code; a code without an entry is its own title.
    """

    row: Finding
    text: str
    title: str
    meaning: str
    action: str
    node_url: str
    card: str
    card_url: str
    pod_url: str


def finding_lines(rows: Iterable[Finding]) -> list[FindingLine]:
    """Findings with the names of their cards: one query more, whatever their number."""
    found = list(rows)
    keyed = [row for row in found if row.card_key]
    cards = {
        (card.cluster_id, card.node_name, card.key): card
        for card in Card.objects.filter(
            cluster_id__in={row.cluster_id for row in keyed},
            node_name__in={row.node_name for row in keyed},
            key__in={row.card_key for row in keyed},
        ).only("cluster_id", "node_name", "key", "index", "uuid", "profile")
    }
    return [_line(row, cards.get((row.cluster_id, row.node_name, row.card_key))) for row in found]


def _line(row: Finding, card: Card | None) -> FindingLine:
    entry = CATALOGUE.get(row.code)
    namespace, _slash, name = row.pod.partition("/")
    return FindingLine(
        row=row,
        text=restored(row.text, row.wording),
        title=gettext(entry.title) if entry else row.code,
        meaning=gettext(entry.meaning) if entry else "",
        action=gettext(entry.action) if entry else "",
        node_url=node_url(row.cluster.name, row.node_name) if row.node_name else "",
        card=card_name(card) if card else row.card_key,
        card_url=card_url(card.pk) if card else "",
        pod_url=pod_url(row.cluster.name, namespace, name),
    )


def _codes() -> list[tuple[str, str]]:
    return [(code, gettext(entry.title)) for code, entry in sorted(CATALOGUE.items(), key=lambda item: item[1].title)]


SPEC = ListSpec(
    resource=FINDINGS,
    fields=(
        Field("q", _("Search"), placeholder=_("node, pod, text"), wide=True),
        Field("cluster", _("Cluster"), choices.clusters),
        Field("severity", _("Severity"), Severity.choices),
        Field("code", _("Type"), _codes),
        Field("ended", _("Time"), (("true", _("Ended")), ("any", _("All"))), rest=_("Active")),
    ),
    shape=finding_lines,
    page="findings/page.html",
    part="findings/part.html",
    caption=_("Findings"),
    cells="findings/cells",
    key=lambda line: f"finding-{line.row.id}",
    gone=lambda line: line.row.ended_at is not None,
)


def _context() -> dict[str, Any]:
    counts = dict(querysets.findings_now().order_by().values_list("severity").annotate(Count("id")))
    return {"severities": {severity: counts.get(severity, 0) for severity in Severity.values}}


@shareable
@require_safe
@answered
def findings(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, SPEC, _context)
