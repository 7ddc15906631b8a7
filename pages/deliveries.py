"""The delivery log: what was sent, and what was answered; one delivery with what it told and each try. For administrators."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.http import require_POST, require_safe

from accounts.required import needs
from accounts.roles import Role
from kube.decoders import converted
from notifications import manage, reading
from notifications.channels.engine import Message
from notifications.models import UNDER_WAY, Channel, Delivery, DeliveryState
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.live import live_page
from pages.frame.refusals import NotThere, answered
from pages.words import notifications as words
from pages.words.runs import Shown
from resources.filter_sets import StrictFilterSet
from resources.notification import DELIVERIES
from validations.planning import Refused


@dataclass(frozen=True)
class DeliveryLine:
    """row: with its channel and rule, as `reading.with_names` gives it."""

    row: Any
    url: str
    state: Shown


@dataclass(frozen=True)
class Try:
    at: datetime
    outcome: str
    text: str


def delivery_lines(rows: list[Any]) -> list[DeliveryLine]:
    return [DeliveryLine(row, reverse("delivery", args=[row.pk]), words.delivery_state(row)) for row in rows]


def channel_choices() -> list[tuple[str, str]]:
    return [(name, name) for name in Channel.objects.order_by("name").values_list("name", flat=True)[:200]]


SPEC = ListSpec(
    resource=DELIVERIES,
    fields=(
        Field("q", lazy("Search"), placeholder=lazy("message, answer"), wide=True),
        Field("channel", lazy("Channel"), channel_choices),
        Field("state", lazy("State"), DeliveryState.choices),
    ),
    shape=delivery_lines,
    page="deliveries/page.html",
    part="deliveries/part.html",
    caption=lazy("Deliveries"),
    cells="deliveries/cells",
    key=lambda line: f"delivery-{line.row.pk}",
)


@needs(Role.ADMIN)
@require_safe
@answered
def deliveries(request: HttpRequest) -> HttpResponseBase:
    def context(_found: StrictFilterSet) -> dict[str, Any]:
        return {}

    return list_page(request, SPEC, context)


def found_delivery(delivery_id: str) -> Delivery:
    row = reading.deliveries().select_related("channel", "rule").of_id(delivery_id)
    if row is None:
        close = [(_("all deliveries"), reverse("deliveries"))]
        raise NotThere(_("No delivery %(id)s.") % {"id": delivery_id[:64]}, "", close)
    return row


def _told(row: Delivery) -> Message | None:
    """None: written by an older version."""
    try:
        return converted(row.message, Message)
    except msgspec.ValidationError:
        return None


def _tries(row: Delivery) -> list[Try]:
    return [
        Try(datetime.fromisoformat(one["at"]), words.outcome(one["outcome"]), one["text"])
        for one in reversed(row.answers)
    ]


@needs(Role.ADMIN)
@require_safe
@answered
def delivery(request: HttpRequest, delivery_id: str) -> HttpResponseBase:
    row = found_delivery(delivery_id)
    [row] = reading.with_names([row])
    message = _told(row)
    context = {
        "delivery": row,
        "state": words.delivery_state(row),
        "waits": row.state == DeliveryState.WAITING,
        "uncertain": row.state == DeliveryState.UNCERTAIN,
        "may_send": row.state not in UNDER_WAY,
        "told": [(line, words.change(line.change)) for line in message.lines] if message else [],
        "hidden": message.hidden if message else 0,
        "tries": _tries(row),
    }
    return live_page(request, "deliveries/delivery.html", "deliveries/delivery_part.html", context)


@needs(Role.ADMIN)
@require_POST
@answered
def delivery_again(request: HttpRequest, delivery_id: str) -> HttpResponseBase:
    row = found_delivery(delivery_id)
    try:
        row = manage.send_again(row)
    except Refused as error:
        messages.error(request, str(error.words))
    return HttpResponseRedirect(reverse("delivery", args=[row.pk]))
