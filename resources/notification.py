"""Channels, rules, and deliveries: who is told what, and what receivers answered. For administrators."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.utils.translation import gettext_lazy as _

from inventory.models.choices import Severity
from notifications import reading
from notifications.models import Channel, Delivery, DeliveryState, Digest, Rule
from resources.declared import WORDING, Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains
from resources.moments import Columns


class ChannelShape(Shape):
    """One channel. Its secrets are never returned."""

    id: Annotated[str, fact("ID of the channel.")]
    name: Annotated[str, fact(order=True, title=_("Channel"))]
    kind: Annotated[str, fact(order=True, title=_("Type"))]
    settings: Annotated[dict[str, Any], fact("Settings without secrets.")]
    secrets: Annotated[list[str], fact("Names of the secrets that are set.")]
    language: Annotated[str, fact("Language of its messages.")]
    state: Annotated[
        str,
        fact(
            "ok, failing, paused, `gone` (the receiver refuses all further messages), or new (nothing delivered yet).",
            title=_("State"),
        ),
    ]
    paused: bool
    failing_since: Annotated[datetime | None, fact("null: the last message was delivered, or there was none.")]
    answer: Annotated[str | None, fact("Last answer of the receiver.", title=_("Answer"))]
    delivered_at: Annotated[
        datetime | None, fact("Last delivery; null: none yet.", order=True, title=_("Last delivered"))
    ]
    created_by: Annotated[str | None, fact(of="created_by_name", title=_("Created by"))]
    created_at: Annotated[datetime, fact(title=_("Created"))]
    changed_at: datetime


class ChannelFilter(StrictFilterSet):
    kind = WordsFilter("kind", label="type of channel")
    name = WordsFilter("name", label="name")
    paused = YesNoFilter("paused", method="on_paused", label="paused channels")
    q = SearchFilter(method=contains("name", "kind"), label="free search: name, type")

    orders: ClassVar[dict[str, str]] = orders_of(ChannelShape)
    default_order = ("name",)

    class Meta(StrictFilterSet.Meta):
        model = Channel
        fields: ClassVar[list[str]] = []

    def on_paused(self, rows: Any, column: str, value: str) -> Any:
        return rows if value == "any" else rows.filter(**{column: value == "true"})


CHANNELS = Resource(
    "channels",
    ChannelShape,
    ChannelFilter,
    reading.channels,
    csv=("id", "name", "kind", "language", "state", "failing_since", "answer", "delivered_at", "created_by"),
    table=("name", "kind", "state", "delivered_at"),
    join=reading.with_state,
)


class RuleShape(Shape):
    """One rule: what is sent to a channel."""

    id: Annotated[str, fact("ID of the rule.")]
    name: Annotated[str, fact(order=True, title=_("Rule"))]
    channel: Annotated[str, fact("Name of the channel.", of="channel.name", order="channel__name", title=_("Channel"))]
    about: Annotated[list[str], fact("Kinds of topics.", title=_("About"))]
    codes: Annotated[list[str], fact("Codes of findings. Empty: all.")]
    least_severity: Annotated[
        str, fact("Findings of lower severity are left out.", title=_("Severity"), term="severity")
    ]
    scope: Annotated[list[str], fact("As in users. Empty: everything.", title=_("Scope"))]
    digest: Annotated[str | None, fact("null: at once; hourly or daily.", title=_("When"))]
    digest_hour: Annotated[int, fact("Local hour of a daily digest.")]
    time_zone: Annotated[str, fact("Time zone of a daily digest.")]
    paused: Annotated[bool, fact("Whether it is paused.", title=_("Paused"))]
    told_at: Annotated[datetime | None, fact("Last message.", order=True, title=_("Last message"))]
    created_by: Annotated[str | None, fact(of="created_by_name", title=_("Created by"))]
    created_at: Annotated[datetime, fact(title=_("Created"))]
    changed_at: datetime


class RuleFilter(StrictFilterSet):
    channel = WordsFilter("channel__name", label="name of the channel")
    name = WordsFilter("name", label="name")
    least_severity = ChoiceFilter(Severity.values, "least_severity", label="least severity")
    digest = ChoiceFilter(tuple(filter(None, Digest.values)), "digest", label="digest")
    paused = YesNoFilter("paused", method="on_paused", label="paused rules")
    q = SearchFilter(method=contains("name", "channel__name"), label="free search: name, channel")

    orders: ClassVar[dict[str, str]] = orders_of(RuleShape)
    default_order = ("name",)

    class Meta(StrictFilterSet.Meta):
        model = Rule
        fields: ClassVar[list[str]] = []

    def on_paused(self, rows: Any, column: str, value: str) -> Any:
        return rows if value == "any" else rows.filter(**{column: value == "true"})


RULES = Resource(
    "notification-rules",
    RuleShape,
    RuleFilter,
    reading.rules,
    csv=(
        *("id", "name", "channel", "about", "codes", "least_severity", "scope", "digest", "digest_hour", "time_zone"),
        *("paused", "told_at", "created_by"),
    ),
    table=("name", "about", "scope", "least_severity", "channel", "digest", "told_at"),
    join=reading.with_places,
)


class DeliveryTry(Shape):
    """One try."""

    at: datetime
    outcome: Annotated[str, fact("delivered, refused, later (tried again) or `gone`.")]
    text: Annotated[str, fact("Answer of the receiver.")]


class DeliveryShape(Shape):
    """One message to one channel."""

    id: Annotated[str, fact("ID of the delivery.")]
    channel: Annotated[str, fact("Name of the channel.", of="channel.name", title=_("Channel"))]
    rule: Annotated[
        str | None, fact("Name of the rule; null: a test, or the rule was deleted.", of="rule_name", title=_("Rule"))
    ]
    title: Annotated[str, fact(title=_("Message"))]
    topics: Annotated[int, fact("Topics in it.", title=_("Topics"), number=True)]
    test: Annotated[bool, fact("Whether it is a test.", title=_("Test"))]
    state: Annotated[
        str,
        fact(
            "waiting, sending, delivered, failed (not delivered) or uncertain (may have been sent).", title=_("State")
        ),
    ]
    answer: Annotated[str | None, fact("Last answer of the receiver.", title=_("Answer"))]
    tries: Annotated[int, fact("Tries so far.", title=_("Tries"), number=True)]
    answers: Annotated[list[DeliveryTry], fact("The last tries, oldest first.")]
    created_at: Annotated[datetime, fact(order=("created_at", "id"), title=_("Time"))]
    next_at: Annotated[datetime | None, fact("Next try; null: none.", of="tried_at", title=_("Next try"))]
    ended_at: Annotated[datetime | None, fact(title=_("Ended"))]


class DeliveryFilter(StrictFilterSet):
    channel = WordsFilter("channel__name", label="name of the channel")
    rule = WordsFilter("rule__name", label="name of the rule")
    state = ChoiceFilter(DeliveryState.values, "state", label="state")
    test = YesNoFilter("test", method="on_test", label="tests")
    q = SearchFilter(method=contains("title", "answer"), label="free search: message, answer")

    orders: ClassVar[dict[str, str]] = orders_of(DeliveryShape)
    default_order = ("-created_at",)
    period = Columns("created_at", "ended_at")

    class Meta(StrictFilterSet.Meta):
        model = Delivery
        fields: ClassVar[list[str]] = []

    def on_test(self, rows: Any, column: str, value: str) -> Any:
        return rows if value == "any" else rows.filter(**{column: value == "true"})


DELIVERIES = Resource(
    "deliveries",
    DeliveryShape,
    DeliveryFilter,
    reading.deliveries,
    csv=("id", "channel", "rule", "title", "topics", "test", "state", "answer", "tries", "created_at", "ended_at"),
    table=("created_at", "channel", "title", "state", "answer", "tries"),
    join=reading.with_names,
)


class TopicShape(Shape):
    """One topic that a rule would report."""

    about: str
    code: str
    severity: str
    text: str
    wording: Annotated[dict[str, Any] | None, fact(WORDING)]
    count: Annotated[int, fact("Findings, cards or nodes that are not silenced.", of="loud")]
    since: Annotated[str | None, fact("null: unknown.")]
    cluster: Annotated[str | None, fact("null: none, or several.", by=lambda name: name or None)]
    link: Annotated[str | None, fact("Path of its page.")]


class RulePreview(Shape):
    """What a rule would report now."""

    topics: Annotated[int, fact("Topics.")]
    things: Annotated[int, fact("Findings, cards and nodes of all topics.")]
    listed: Annotated[list[TopicShape], fact("The first 100, errors first.")]
