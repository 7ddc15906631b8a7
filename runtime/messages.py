"""One message per thing to do: no second one is sent while the first has not been taken, and none is carried out out of date.

Brokers keep messages while no worker is there, and the moments in a Celery message (`eta`, `expires`) compare the clocks of two
hosts. So what is under way is written down in the database: each message carries a number, and only the last number is carried out.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from amqp.exceptions import ChannelError
from celery import Task, current_app
from django.db.models import BooleanField, ExpressionWrapper, F, Q
from django.db.models.functions import Now

from runtime.models import Message

logger = logging.getLogger(__name__)

#: A message that nobody has taken after this is looked for in its queue: a broker that starts anew may have lost it.
OVERDUE = timedelta(seconds=10)
#: After this it counts as lost though others wait in the queue, unless those are so many that nobody takes any.
LOST = timedelta(seconds=60)
MANY = 1000
#: Seconds for each step of a question to the broker.
BROKER_S = 2.0
#: The header that carries [key, number].
HEADER = "gpudash_message"


def queue_of(task: str) -> str:
    """The queue that a task is sent to, by CELERY_TASK_ROUTES."""
    return str(current_app.amqp.router.route({}, task)["queue"].name)


class OnceTask(Task):  # type: ignore[type-arg]
    """Base of tasks that `send_once` sends. Called without such a message, it is an ordinary task."""

    abstract = True

    def __call__(self, *args: Any, **options: Any) -> Any:
        ticket = getattr(self.request, HEADER, None)
        if ticket and not take(*ticket):
            return None
        return super().__call__(*args, **options)


def send_once(task: str, args: Sequence[Any] = ()) -> bool:
    """Send a task to its queue unless its last message is still under way. Returns whether it was sent."""
    queue = queue_of(task)
    key = ":".join((task, *map(str, args)))
    headers = headers_for(key, queue)
    if headers is None:
        return False
    with sending(headers):
        current_app.send_task(task, args, queue=queue, headers=headers)
    return True


@contextmanager
def sending(headers: dict[str, Any]) -> Iterator[None]:
    """What could not be sent is not under way."""
    try:
        yield
    except Exception:
        take(*headers[HEADER])
        raise


def headers_for(key: str, queue: str) -> dict[str, Any] | None:
    """Headers of a new message of this thing, None while the last one is under way."""
    known = Message.objects.filter(key=key).values_list("number", "taken", _is_late(OVERDUE), _is_late(LOST)).first()
    if known is None:
        row, made = Message.objects.get_or_create(key=key, defaults={"sent_at": Now()})
        return {HEADER: [key, row.number]} if made else None
    number, taken, late, lost = known
    if not taken and not (late and _is_gone(queue_length(queue), lost)):
        return None
    last = Message.objects.filter(key=key, number=number)
    if last.update(number=F("number") + 1, taken=False, sent_at=Now()) != 1:
        return None  # another process was first
    return {HEADER: [key, number + 1]}


def _is_late(after: timedelta) -> Any:
    return ExpressionWrapper(Q(sent_at__lte=Now() - after), output_field=BooleanField())


def _is_gone(waiting: int | None, lost: bool) -> bool:
    """waiting: how many messages are in the queue; None when the broker does not say."""
    return waiting is not None and (waiting == 0 or (lost and waiting < MANY))


def take(key: str, number: int) -> bool:
    """Whether this message is the last one of its thing and nobody has taken it; it is taken then."""
    return Message.objects.filter(key=key, number=number, taken=False).update(taken=True) == 1


def queue_length(queue: str) -> int | None:
    """Messages that wait in a queue of the broker; None when the broker does not say within some seconds."""
    timeouts = {"socket_connect_timeout": BROKER_S, "socket_timeout": BROKER_S, "max_retries": 0}
    try:
        with current_app.connection_for_write(connect_timeout=BROKER_S, transport_options=timeouts) as connection:
            channel: Any = connection.default_channel
            return int(channel.queue_declare(queue, passive=True).message_count)
    except ChannelError:
        return 0  # nothing lies there
    except Exception as error:  # noqa: BLE001 (each broker has errors of its own)
        logger.debug("queue %s: %s", queue, error)
        return None
