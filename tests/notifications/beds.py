"""A kind of channel that keeps what it is given, and rows to tell of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from unittest import mock

from notifications import deliver as delivering
from notifications import manage
from notifications.channels import BY_NAME
from notifications.channels.engine import Answer, Kind, Message, Outcome, Setting
from notifications.manage import ChannelDraft, RuleDraft
from notifications.models import Channel, Delivery, Rule
from notifications.tell import tell

KEPT, PAGER, LEDGER = "kept", "pager", "ledger"
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
DELIVERED = Answer(Outcome.DELIVERED, "ok")


def _kind(name: str, **more: Any) -> Kind:
    return Kind(
        name=name,
        title=name,
        settings=(
            Setting(name="url", title="Address", secret=True),
            Setting(name="room", title="Room", required=False),
        ),
        requests=lambda message, values, now: [],
        judge=lambda status, headers, body: DELIVERED,
        **more,
    )


@contextmanager
def kinds() -> Iterator[None]:
    made = {
        KEPT: _kind(KEPT),
        PAGER: _kind(PAGER, per_topic=True, repeatable=True),
        LEDGER: _kind(LEDGER, standing=True, repeatable=True),
    }
    with mock.patch.dict(BY_NAME, made):
        yield


def channel(name: str = "ops", kind: str = KEPT, **more: Any) -> Channel:
    return manage.create_channel(
        ChannelDraft(name=name, kind=kind, settings={"url": "https://chat.example/secret"}, **more)
    )


def rule(to: Channel, name: str = "all", about: tuple[str, ...] = ("finding",), **more: Any) -> Rule:
    return manage.create_rule(RuleDraft(name=name, channel=to.name, about=list(about), **more))


def step(one: Rule, at: datetime) -> list[str]:
    """The titles of what one step of the rule writes."""
    made = tell(Rule.objects.select_related("channel").get(pk=one.pk), at)
    return [Delivery.objects.get(pk=key).title for key in made]


class Receiver:
    """Answers what it is told to, and keeps the messages."""

    def __init__(self, *answers: Answer | Exception) -> None:
        self.answers, self.got = list(answers), list[Message]()

    def __call__(self, kind: Kind, message: Message, settings: Any, now: datetime, allowed: Any) -> Answer:
        self.got.append(message)
        answer = self.answers.pop(0) if self.answers else DELIVERED
        if isinstance(answer, Exception):
            raise answer
        return answer


@contextmanager
def receiving(*answers: Answer | Exception, at: Callable[[], datetime] | None = None) -> Iterator[Receiver]:
    """Instead of the network. at: the database's clock."""
    receiver = Receiver(*answers)
    with mock.patch.object(delivering, "send", receiver):
        if at is None:
            yield receiver
        else:
            with mock.patch.object(delivering, "database_now", at):
                yield receiver


def done(*rows: Rule) -> None:
    """All messages of these rules have arrived."""
    Delivery.objects.filter(rule__in=rows).update(state="delivered")
