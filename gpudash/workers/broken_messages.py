"""Redis as a broker of workers, where a message that is not one of ours is dropped with one line in the log.

Who can write to Redis, or a release that sends other messages, must not end a worker. kombu and Celery read a message in parts, in
several places, and raise what each part happens to raise. An error in the middle ends the worker, or leaves the message counted as
one that is worked on. So a message is looked at once, whole, before they have it. Its text is not logged: it may hold anything.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Container
from datetime import datetime
from queue import Empty
from typing import Any

from celery import current_app
from kombu.transport import redis
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

#: Years in which a message may run out. Python cannot bring the first and the last ones of its calendar to UTC.
YEARS = range(2000, 9000)


class Broken(Exception):
    """A message that is not one of ours. The text says what is wrong with it, and repeats nothing of it."""


def check(message: Any, tasks: Container[str]) -> None:
    """Look at a message as Celery writes it to Redis, without its first layer of JSON. tasks: the names of the tasks that are known.

    Raises Broken.
    """
    properties, headers = _part(message, "properties"), _part(message, "headers")
    if message.get("content-type") != "application/json" or message.get("content-encoding") != "utf-8":
        raise Broken("the content is not JSON in UTF-8")
    task = headers.get("task")
    # Celery's own tasks (`celery.map`) call others, and nothing here sends them.
    if not isinstance(task, str) or task not in tasks or task.startswith("celery."):
        raise Broken("the task is unknown")
    if headers.get("compression") is not None:
        raise Broken("the message is compressed")
    delivery = _part(properties, "delivery_info")
    for part, names in (
        (headers, ("id",)),
        (properties, ("delivery_tag", "correlation_id")),
        (delivery, ("exchange", "routing_key")),
    ):
        for name in names:
            _expect(isinstance(part.get(name), str), name)
    for name in ("root_id", "parent_id", "group", "expires", "shadow", "origin", "argsrepr", "kwargsrepr"):
        _expect(headers.get(name) is None or isinstance(headers[name], str), name)
    for name in ("retries", "group_index", "replaced_task_nesting"):
        _expect(headers.get(name) is None or type(headers[name]) is int, name)
    limits = headers.get("timelimit") or [None, None]
    _expect(isinstance(limits, list) and len(limits) == 2, "timelimit")
    _expect(all(limit is None or type(limit) in (int, float) for limit in limits), "timelimit")
    # Parts that nothing here sends.
    for name in ("eta", "stamps", "stamped_headers"):
        _expect(not headers.get(name), name)
    _check_expires(headers.get("expires"))
    _check_body(message.get("body"), properties.get("body_encoding"))


def _part(whole: Any, name: str) -> dict[str, Any]:
    part = whole.get(name) if isinstance(whole, dict) else None
    if not isinstance(part, dict):
        raise Broken(f"{name} is missing")
    return part


def _expect(right: bool, name: str) -> None:
    if not right:
        raise Broken(f"{name} has the wrong type")


def _check_expires(text: str | None) -> None:
    if text is None:
        return
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Broken("expires is not a time") from None
    if moment.year not in YEARS:
        raise Broken("expires is not a time")


def _check_body(body: Any, encoding: Any) -> None:
    if not isinstance(body, str) or encoding != "base64":
        raise Broken("the body is not base64")
    try:
        decoded = json.loads(base64.b64decode(body, validate=True).decode())
    except (ValueError, RecursionError):
        raise Broken("the body is not JSON in base64") from None
    if not isinstance(decoded, list) or [type(one) for one in decoded] != [list, dict, dict]:
        raise Broken("the body is not a task")
    if any(decoded[2].values()):
        raise Broken("the message contains follow-up tasks")


class Channel(redis.Channel):
    """Takes what is not even JSON out of the queue."""

    connection: Transport

    def _brpop_read(self, **options: Any) -> Any:
        self.connection.delivered = False
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]
        except (Empty, RedisError, OSError):
            raise
        except Exception:  # (whatever reading such a text raises)
            if self.connection.delivered:
                raise
            _dropped("the message is not JSON", "of this worker")
        raise Empty


class Transport(redis.Transport):
    """Gives to Celery what is one of ours."""

    Channel = Channel
    #: Whether the message that is read now could be read.
    delivered = False

    def _deliver(self, message: Any, queue: str | None) -> None:
        self.delivered = True
        try:
            check(message, current_app.tasks)
        except Broken as broken:
            _dropped(str(broken), queue)
        else:
            super()._deliver(message, queue)


def _dropped(why: str, queue: str | None) -> None:
    logger.error("dropped a message from the queue %s: %s", queue, why)
