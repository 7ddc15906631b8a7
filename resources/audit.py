"""The audit log: who did what, on what, when, from where, and with what result."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from audit.actions import Action, Kind, Outcome
from audit.models import Entry
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, SearchFilter, WordsFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains


class AuditEntry(Shape):
    """One act. Nothing changes it; `previous` and `hash` hold the chain."""

    number: Annotated[int, fact("1, 2, 3 …; none is ever missing.", order=True, title=_("Number"), number=True)]
    at: Annotated[datetime, fact(order=True, title=_("When"))]
    actor: Annotated[
        str | None, fact("Name of the account, or of who ran the command; null: nobody was signed in.", title=_("Who"))
    ]
    kind: Annotated[str, fact("How: session, token, command, nobody, or process for gpudash itself.", title=_("How"))]
    token: Annotated[str | None, fact("The token by which it was asked: gpd_ and its id.", title=_("Token"))]
    address: Annotated[str | None, fact("Where it was asked from.", title=_("From"))]
    request: Annotated[
        str | None, fact("The X-Request-ID, which the log lines of that request carry.", title=_("Request"))
    ]
    action: Annotated[str, fact(title=_("What"))]
    target: Annotated[str | None, fact(title=_("On what"))]
    outcome: Annotated[str, fact("done, or refused.", title=_("Result"))]
    detail: Annotated[dict[str, Any], fact("What is particular of this action.")]
    previous: str
    hash: Annotated[
        str,
        fact("HMAC-SHA256, by the secret key, over all of it and the hash of the entry before.", title=_("Hash")),
    ]


class AuditFilter(StrictFilterSet):
    actor = WordsFilter("actor", label="name of who did it")
    action = ChoiceFilter(Action.values, "action", label="what was done")
    outcome = ChoiceFilter(Outcome.values, "outcome", label="with what result")
    kind = ChoiceFilter(Kind.values, "kind", label="how it was asked")
    token = WordsFilter("token", label="by which token: gpd_ and its id")
    address = WordsFilter("address", label="from where")
    q = SearchFilter(method=contains("actor", "target", "address"), label="free search: who, on what, from where")

    orders: ClassVar[dict[str, str]] = orders_of(AuditEntry)
    default_order = ("-number",)

    class Meta(StrictFilterSet.Meta):
        model = Entry
        fields: ClassVar[list[str]] = []


def entries() -> QuerySet[Entry]:
    """All of them."""
    return Entry.objects.all()


AUDIT = Resource(
    "audit",
    AuditEntry,
    AuditFilter,
    entries,
    csv=("number", "at", "actor", "kind", "token", "address", "action", "target", "outcome", "request", "hash"),
    table=("at", "actor", "action", "target", "outcome", "address"),
)
