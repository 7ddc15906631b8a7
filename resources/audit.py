"""The audit log: actor, action, object, time, address and result."""

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
    """One audit log entry. `previous` and `hash` form the chain."""

    number: Annotated[
        int, fact("Entry number: 1, 2, 3 …, none is missing.", order=True, title=_("Number"), number=True)
    ]
    at: Annotated[datetime, fact(order=True, title=_("Time"))]
    actor: Annotated[
        str | None, fact("Account, or operating system user of the command; null: not signed in.", title=_("Actor"))
    ]
    kind: Annotated[
        str,
        fact(
            "Method: session, token, command, anonymous (not signed in) or process (gpudash itself).", title=_("Method")
        ),
    ]
    token: Annotated[str | None, fact("Token of the request: gpd_ and its ID.", title=_("Token"))]
    address: Annotated[str | None, fact("Client address.", title=_("Address"))]
    request: Annotated[str | None, fact("X-Request-ID, as in the service log.", title=_("Request ID"))]
    action: Annotated[str, fact(title=_("Action"))]
    target: Annotated[str | None, fact(title=_("Object"))]
    outcome: Annotated[str, fact("done or refused.", title=_("Result"))]
    detail: Annotated[dict[str, Any], fact("Details of the action.")]
    previous: str
    hash: Annotated[
        str,
        fact("HMAC-SHA256 of the entry and the previous hash, with the secret key.", title=_("Hash")),
    ]


class AuditFilter(StrictFilterSet):
    actor = WordsFilter("actor", label="actor name")
    action = ChoiceFilter(Action.values, "action", label="action")
    outcome = ChoiceFilter(Outcome.values, "outcome", label="result")
    kind = ChoiceFilter(Kind.values, "kind", label="method")
    token = WordsFilter("token", label="token: gpd_ and its ID")
    address = WordsFilter("address", label="client address")
    q = SearchFilter(method=contains("actor", "target", "address"), label="free search: actor, object, address")

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
