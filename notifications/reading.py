"""Channels, rules and deliveries as pages, REST and commands read them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet, prefetch_related_objects

from notifications.channels import BY_NAME
from notifications.manage import secrets_of
from notifications.models import Channel, Delivery, DeliveryState, Rule
from validations.ids import ById

OK, FAILING, PAUSED, GONE, NEW = "ok", "failing", "paused", "gone", "new"
#: The worst first.
STATES = (GONE, FAILING, PAUSED, OK, NEW)


def channels() -> ById[Channel]:
    rows: ById[Channel] = Channel.objects.get_queryset()
    return rows


def rules() -> ById[Rule]:
    rows: ById[Rule] = Rule.objects.get_queryset()
    return rows


def deliveries() -> ById[Delivery]:
    rows: ById[Delivery] = Delivery.objects.get_queryset()
    return rows


def failing() -> QuerySet[Channel]:
    """Channels that no message reaches, the longest first."""
    return Channel.objects.filter(paused=False).exclude(failing_since=None).order_by("failing_since", "pk")


def state_of(row: Channel) -> str:
    """new: nothing was delivered to it yet."""
    if row.paused:
        return PAUSED
    if row.gone:
        return GONE
    if row.failing_since is not None:
        return FAILING
    return OK if row.delivered_at is not None else NEW


def kind_title(kind: str) -> str:
    """In English, marked for translation; of a kind that is no more, its name."""
    return BY_NAME[kind].title if kind in BY_NAME else kind


def with_state(rows: list[Any]) -> list[Any]:
    """The same channels with `state` and `secrets`, the names of those that are set."""
    for row in rows:
        row.state, row.secrets = state_of(row), sorted(secrets_of(row))
    return rows


def with_places(rows: list[Any]) -> list[Any]:
    """The same rules with `scope`, a list, and their channels. One query."""
    prefetch_related_objects(rows, "channel")
    for row in rows:
        row.scope = row.places.splitlines()
    return rows


def with_names(rows: list[Any]) -> list[Any]:
    """The same deliveries with their channels and rules, `rule_name`, and `tried_at`, when they are tried next. Two queries."""
    prefetch_related_objects(rows, "channel", "rule")
    for row in rows:
        row.rule_name = row.rule.name if row.rule else ""
        row.tried_at = row.next_at if row.state == DeliveryState.WAITING else None
    return rows
