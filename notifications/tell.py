"""One step of a rule: what holds now is compared with what was sent, and what is to be sent becomes deliveries. In one transaction.

It may come late, twice, or never, and from two processes at once: nothing is told twice, since what was told is noted in the
transaction that writes the delivery, and the row of the rule is locked for it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from django.db import transaction
from django.db.models import F

from kube.decoders import converted
from notifications.channels import BY_NAME
from notifications.channels.engine import Change, Kind
from notifications.compose import compose
from notifications.digests import boundary
from notifications.models import UNDER_WAY, Channel, Delivery, Rule, Told
from notifications.topics import topics_of
from notifications.topics.topic import Topic

logger = logging.getLogger(__name__)

#: What holds for less is not sent.
BEGIN_WAIT = timedelta(seconds=30)
#: What is gone for less is not sent: many things flap.
END_WAIT = timedelta(minutes=2)
#: That the same holds for more things is sent no sooner after the last message of it.
MORE_WAIT = timedelta(minutes=10)
#: What comes back within this after its end was sent has to hold for MORE_WAIT: what flaps sends no flood.
KEPT_AFTER_END = timedelta(hours=1)
#: Messages of one step to a receiver that takes a message for each topic.
MOST_DELIVERIES = 50


def tell(rule: Rule, at: datetime) -> list[str]:
    """Returns the ids of the deliveries that were written. Raises errors of the connection."""
    kind = BY_NAME.get(rule.channel.kind)
    if kind is None:  # of a later version
        return []
    topics = topics_of(rule, at)
    with transaction.atomic():
        # The lock, of a row on PostgreSQL and of the file on SQLite.
        if not Rule.objects.filter(pk=rule.pk, paused=False).update(told_at=F("told_at")):
            return []
        rule.refresh_from_db(fields=("told_at", "digest", "digest_hour", "time_zone", "created_at"))
        rows = note(rule, topics, at)
        return _tell(rule, rows, kind, at)


def note(rule: Rule, topics: Sequence[Topic], at: datetime) -> list[Told]:
    """Bring the rows of a rule up to date with what holds; returns those that are to be sent, oldest first."""
    rows = {row.topic: row for row in Told.objects.filter(rule=rule)}
    made, changed, removed = [], [], []
    for topic in topics:
        row = rows.pop(topic.key, None)
        if row is None:
            if topic.loud:
                made.append(_new(rule, topic, at))
        elif row.told_at is None and not topic.loud:
            removed.append(row.pk)  # silenced before it was sent
        elif _update(row, topic, at):
            changed.append(row)
    keeps = bool(rule.digest)
    for row in rows.values():
        if row.ended_at is not None:
            if row.due_at is not None:  # it came back for too short a time
                row.ended_at, row.due_at = at, None
                changed.append(row)
            elif at - row.ended_at >= KEPT_AFTER_END:
                removed.append(row.pk)
        elif (row.told_at is None and not keeps) or row.line.get("once"):
            removed.append(row.pk)
        elif row.gone_at is None:
            row.gone_at, row.due_at = at, at + END_WAIT
            changed.append(row)
    Told.objects.filter(pk__in=removed).delete()
    Told.objects.bulk_create(made, batch_size=500)
    Told.objects.bulk_update(changed, ["line", "began_at", "gone_at", "told_at", "due_at", "ended_at"], batch_size=200)
    return list(Told.objects.filter(rule=rule).exclude(due_at=None).order_by("due_at", "pk"))


def _new(rule: Rule, topic: Topic, at: datetime) -> Told:
    return Told(
        rule=rule,
        topic=topic.key,
        line=msgspec.to_builtins(topic),
        began_at=at,
        due_at=at if topic.once else at + BEGIN_WAIT,
    )


def _update(row: Told, topic: Topic, at: datetime) -> bool:
    """Whether something of the row is another. What comes back before its end was sent has not ended."""
    line = msgspec.to_builtins(topic)
    if row.ended_at is not None:
        if not topic.loud or (row.due_at is not None and row.line == line):
            return False
        if row.due_at is None:
            row.began_at, row.due_at, row.gone_at, row.told_at = at, at + MORE_WAIT, None, None
        row.line = line
        return True
    came_back = row.gone_at is not None
    more = row.told_at is not None and topic.loud > 0 and topic.newest > row.newest and not topic.once
    due = row.due_at
    if came_back:
        due = None if row.told_at is not None else row.began_at + BEGIN_WAIT
    if more and (due is None or came_back) and row.told_at is not None:
        due = max(row.told_at + MORE_WAIT, at + BEGIN_WAIT)
    if (line, due, None) == (row.line, row.due_at, row.gone_at):
        return False
    row.line, row.due_at, row.gone_at = line, due, None
    return True


def _tell(rule: Rule, rows: Sequence[Told], kind: Kind, at: datetime) -> list[str]:
    """Write what is due as deliveries, and that it was sent. Nothing while an earlier message of the rule is on its way: what comes
    meanwhile is sent together. What may be over in a moment waits for the next message; a digest has it."""
    last = rule.told_at or rule.created_at
    due = [row for row in rows if row.due_at is None or row.due_at <= at or (rule.digest and row.gone_at is None)]
    ready = boundary(rule, at) > last if rule.digest else bool(due)
    if not ready or Delivery.objects.filter(rule=rule, state__in=UNDER_WAY).exists():
        return []
    if not due:
        Rule.objects.filter(pk=rule.pk).update(told_at=at)
        return []
    taken = due[:MOST_DELIVERIES] if kind.per_topic else due
    groups = [[row] for row in taken] if kind.per_topic else [taken]
    deliveries = [_delivery(rule, group, kind, at) for group in groups if group]
    Delivery.objects.bulk_create(deliveries, batch_size=100)
    _noted(taken, at)
    Rule.objects.filter(pk=rule.pk).update(told_at=at)
    return [one.pk for one in deliveries]


def _delivery(rule: Rule, rows: Sequence[Told], kind: Kind, at: datetime) -> Delivery:
    row = Delivery(channel=rule.channel, rule=rule, topics=len(rows), created_at=at, next_at=at)
    told = [(topic_of(one), change_of(one), one.told_count, one.gone_at) for one in rows]
    message = compose(row.pk, rule.channel, told, kind, at, digest=bool(rule.digest))
    row.title, row.message = message.title[:300], msgspec.to_builtins(message)
    return row


def topic_of(row: Told) -> Topic:
    return converted(row.line, Topic)


def change_of(row: Told) -> Change:
    if row.gone_at is not None:
        return Change.ENDED
    return Change.BEGAN if row.told_at is None else Change.MORE


def _noted(rows: Sequence[Told], at: datetime) -> None:
    """What has ended is done with; the rest was sent as it is now."""
    ended = Told.objects.filter(pk__in=[row.pk for row in rows if row.gone_at is not None])
    ended.update(ended_at=at, due_at=None)
    there = [row for row in rows if row.gone_at is None]
    for row in there:
        row.told_at, row.due_at, row.ended_at = at, None, None
        row.newest, row.told_count = int(row.line.get("newest", 0)), int(row.line.get("loud", 0))
    Told.objects.bulk_update(there, ["told_at", "due_at", "ended_at", "newest", "told_count"], batch_size=200)


def standing(channel: Channel) -> list[Told]:
    """What was sent to a channel and holds now, of all its rules."""
    return list(
        Told.objects.filter(rule__channel=channel, gone_at=None).exclude(told_at=None).order_by("began_at", "pk")
    )
