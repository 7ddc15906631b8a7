"""Send what waits for a channel, in order, and write down what it answered.

A delivery is claimed by one UPDATE before it is sent, so two processes never send it twice. Who is killed between the sending and the
writing leaves it as "sending": after a while it is sent again where the receiver drops what it has already, and else it is told as
"may have been sent".
"""

from __future__ import annotations

import json
import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q

from kube.decoders import converted
from notifications.channels import BY_NAME
from notifications.channels.engine import Answer, Change, Kind, Message, Outcome
from notifications.compose import compose
from notifications.models import Channel, Delivery, DeliveryState, Told
from notifications.sending.send import MayHaveBeenSent, send
from notifications.tell import standing, topic_of
from runtime.clock import database_now
from runtime.sealed import WrongKey, unseal
from validations.ids import new_id

logger = logging.getLogger(__name__)

PURPOSE = "notifications.channel"
#: After so many tries without success; then it is given up.
RETRY_AFTER = tuple(timedelta(seconds=one) for one in (5, 60, 300, 1800, 2 * 3600, 5 * 3600, 10 * 3600))
LONGEST_WAIT = timedelta(hours=10)
#: A try ends long before: who began it was killed.
LOST = timedelta(minutes=3)
#: Tries after which the channel counts as failing.
FAILING = 3
#: How often what holds is sent to a receiver that forgets.
REPEAT = timedelta(seconds=60)
#: Deliveries of one step, so that no channel holds a thread for long.
MOST = 10
MOST_ANSWERS = 10
_MINUTE = timedelta(minutes=1)
_SENDING, _WAITING = DeliveryState.SENDING, DeliveryState.WAITING


def with_work(at: datetime) -> list[str]:
    """Ids of channels that something is to be sent to now. One query."""
    mine = Delivery.objects.filter(channel=OuterRef("pk"))
    due = Exists(mine.filter(state=_WAITING, next_at__lte=at))
    lost = Exists(mine.filter(state=_SENDING, started_at__lt=at - LOST))
    forgets = [one.name for one in BY_NAME.values() if one.standing]
    told = Exists(Told.objects.filter(rule__channel=OuterRef("pk"), gone_at=None).exclude(told_at=None))
    late = Q(repeated_at=None) | Q(repeated_at__lte=at - REPEAT)
    rows = Channel.objects.filter(paused=False, gone=False).filter(due | lost | (Q(kind__in=forgets) & late & told))
    return list(rows.order_by("pk").values_list("pk", flat=True))


def deliver(channel_id: str) -> int:
    """Returns how many tries were made. Raises errors of the connection."""
    channel = Channel.objects.filter(pk=channel_id, paused=False, gone=False).first()
    kind = BY_NAME.get(channel.kind) if channel else None
    if channel is None or kind is None:
        return 0
    settle(channel, kind, database_now())
    tries = 0
    while tries < MOST and (row := _claimed(channel, kind, database_now())) is not None:
        tries += 1
        if not record(row, channel, kind, _try(row, channel, kind), database_now()):
            break
    if kind.standing:
        _repeat(channel, kind, database_now())
    return tries


def settle(channel: Channel, kind: Kind, at: datetime) -> None:
    """Tries whose process was killed."""
    lost = Delivery.objects.filter(channel=channel, state=_SENDING, started_at__lt=at - LOST)
    if kind.repeatable:
        lost.update(state=_WAITING, next_at=at)
    else:
        lost.update(state=DeliveryState.UNCERTAIN, ended_at=at, answer="")


def _claimed(channel: Channel, kind: Kind, at: datetime) -> Delivery | None:
    """The next one, now ours. None: nothing is due, another process sends, or the receiver has had enough for this minute."""
    mine = Delivery.objects.filter(channel=channel)
    if mine.filter(state=_SENDING).exists() or mine.filter(started_at__gt=at - _MINUTE).count() >= kind.per_minute:
        return None
    row = mine.filter(state=_WAITING).order_by("id").first()
    if row is None or row.next_at > at:
        return None
    claimed = Delivery.objects.filter(pk=row.pk, state=_WAITING).update(
        state=_SENDING, started_at=at, tries=F("tries") + 1
    )
    if claimed != 1:
        return None
    row.state, row.started_at, row.tries = _SENDING, at, row.tries + 1
    return row


def _try(row: Delivery, channel: Channel, kind: Kind) -> Answer | None:
    """None: it may have been sent."""
    try:
        message = converted(row.message, Message)
        return _send(kind, message, channel)
    except MayHaveBeenSent:
        return None
    except Exception:
        logger.exception("delivery %s: cannot be sent", row.pk)
        return Answer(Outcome.REFUSED, "internal error: the log of the tasks worker has it")


def _send(kind: Kind, message: Message, channel: Channel) -> Answer:
    """Raises MayHaveBeenSent."""
    try:
        values = settings_of(channel)
    except WrongKey:
        return Answer(Outcome.REFUSED, "the secrets of the channel cannot be decrypted: enter them again")
    return send(kind, message, values, database_now(), settings.NOTIFY_ALLOW)


def settings_of(channel: Channel) -> dict[str, str]:
    """With its secrets. Raises WrongKey."""
    secrets = json.loads(unseal(PURPOSE, channel.sealed)) if channel.sealed else {}
    return {**channel.settings, **secrets}


def record(row: Delivery, channel: Channel, kind: Kind, answer: Answer | None, at: datetime) -> bool:
    """Write down what came of a try. Returns whether the next delivery may follow at once."""
    if answer is None:
        answer = Answer(Outcome.LATER, "no answer: the message may have been sent")
        if not kind.repeatable:
            return _end(row, channel, DeliveryState.UNCERTAIN, answer, at)
    if answer.outcome is Outcome.DELIVERED:
        return _end(row, channel, DeliveryState.DELIVERED, answer, at)
    if answer.outcome is not Outcome.LATER or row.tries > len(RETRY_AFTER) or row.test:
        return _end(row, channel, DeliveryState.FAILED, answer, at)
    wait = max(RETRY_AFTER[row.tries - 1], min(timedelta(seconds=answer.after_s or 0), LONGEST_WAIT))
    _write(row, answer, at, state=_WAITING, next_at=at + wait)
    _of_channel(channel, answer, at, failing=row.tries >= FAILING)
    return False


def _end(row: Delivery, channel: Channel, state: DeliveryState, answer: Answer, at: datetime) -> bool:
    _write(row, answer, at, state=state, ended_at=at)
    delivered = state == DeliveryState.DELIVERED
    _of_channel(channel, answer, at, failing=not delivered)
    return delivered


def _write(row: Delivery, answer: Answer, at: datetime, **columns: object) -> None:
    """Only while it is ours: who was slower than LOST has lost it."""
    tried = {"at": at.isoformat(), "outcome": answer.outcome.value, "text": answer.text[:300]}
    answers = [*row.answers, tried][-MOST_ANSWERS:]
    Delivery.objects.filter(pk=row.pk, state=_SENDING, tries=row.tries).update(
        answer=answer.text[:300], answers=answers, **columns
    )


def _of_channel(channel: Channel, answer: Answer, at: datetime, *, failing: bool) -> None:
    mine = Channel.objects.filter(pk=channel.pk)
    if answer.outcome is Outcome.DELIVERED:
        mine.update(delivered_at=at, failing_since=None, answer=answer.text[:300])
        return
    mine.update(answer=answer.text[:300], gone=answer.outcome is Outcome.GONE)
    if failing:
        mine.filter(failing_since=None).update(failing_since=at)


def _repeat(channel: Channel, kind: Kind, at: datetime) -> None:
    """Tell a receiver that forgets what holds now. It is no delivery: only that it fails is noted."""
    late = Channel.objects.filter(pk=channel.pk).filter(Q(repeated_at=None) | Q(repeated_at__lte=at - REPEAT))
    if not late.update(repeated_at=at):
        return
    rows = standing(channel)
    if not rows:
        return
    told = [(topic_of(row), Change.BEGAN, 0, None) for row in rows]
    try:
        answer = _send(kind, compose(new_id(at), channel, told, kind, at), channel)
    except MayHaveBeenSent:
        return
    if answer.outcome is not Outcome.DELIVERED:
        logger.warning("channel %s: what holds could not be repeated", channel.name)
    _of_channel(channel, answer, at, failing=answer.outcome is not Outcome.LATER)
