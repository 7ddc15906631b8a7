"""The audit log as a page: for administrators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts.required import needs
from accounts.roles import Role
from audit.actions import Action, Kind, Outcome
from audit.models import Entry
from pages.frame.labels import label_of
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import answered
from pages.words.audit import details
from resources.audit import AUDIT
from resources.filter_sets import StrictFilterSet


@dataclass(frozen=True)
class AuditLine:
    """What a template prints of an entry. level: its sign."""

    row: Entry
    action: str
    kind: str
    outcome: str
    level: str
    details: list[tuple[str, SafeString]]


def audit_lines(rows: Iterable[Entry]) -> list[AuditLine]:
    return [
        AuditLine(
            row=row,
            action=label_of(Action, row.action),
            kind=label_of(Kind, row.kind),
            outcome=label_of(Outcome, row.outcome),
            level="warning" if row.outcome == Outcome.REFUSED else "good",
            details=details(row),
        )
        for row in rows
    ]


SPEC = ListSpec(
    resource=AUDIT,
    fields=(
        Field("q", _("Search"), placeholder=_("actor, object, address"), wide=True),
        Field("action", _("Action"), Action.choices),
        Field("outcome", _("Result"), Outcome.choices),
        Field("kind", _("Method"), Kind.choices),
    ),
    shape=audit_lines,
    part="audit/part.html",
    caption=_("Audit log"),
    cells="audit/cells",
    key=lambda line: f"audit-{line.row.number}",
)


def _context(found: StrictFilterSet) -> dict[str, Any]:
    return {}


@needs(Role.ADMIN)
@require_safe
@answered
def audit(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, SPEC, _context)
