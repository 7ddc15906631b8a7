"""A broken message in a queue is dropped with one line, and the worker goes on: a real Redis, a real worker, each queue."""

from __future__ import annotations

import base64
import copy
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
import redis

from gpudash.celery import app
from gpudash.workers.broken_messages import Broken, check
from gpudash.workers.queues import QUEUES
from tests import services
from tests.processes import Processes
from tests.services import Missing, wait_until

pytestmark = pytest.mark.timeout(240)

#: It needs nothing but its message.
TASK = "inventory.tasks.heartbeat"
TASKS = frozenset({TASK, "celery.map"})
DROPPED = "dropped a message from the queue"

Change = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def broker() -> Iterator[redis.Redis]:
    with ExitStack() as stack:
        try:
            url = stack.enter_context(services.redis())
        except Missing as missing:
            services.or_skip(missing)
        yield stack.enter_context(redis.Redis.from_url(url))


@pytest.fixture(scope="module")
def sent(broker: redis.Redis) -> dict[str, Any]:
    """A message as Celery writes it to Redis."""
    port = broker.connection_pool.connection_kwargs["port"]
    with app.connection_for_write(f"redis://127.0.0.1:{port}/0") as connection:
        app.send_task(TASK, (), {}, queue="made", expires=3600, connection=connection)
    made: dict[str, Any] = json.loads(broker.lpop("made"))  # type: ignore[arg-type]
    return made


def body(content: Any) -> str:
    return base64.b64encode(json.dumps(content).encode()).decode()


def put(*path: str, value: Any) -> Change:
    def change(message: dict[str, Any]) -> dict[str, Any]:
        whole = message
        for name in path[:-1]:
            whole = whole[name]
        whole[path[-1]] = value
        return message

    return change


def without(*path: str) -> Change:
    def change(message: dict[str, Any]) -> dict[str, Any]:
        whole = message
        for name in path[:-1]:
            whole = whole[name]
        del whole[path[-1]]
        return message

    return change


EMBED = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
#: What is JSON, and no message of ours.
STRANGE: dict[str, Change] = {
    "a number": lambda _: 7,
    "a list": lambda message: [message],
    "nothing": lambda _: None,
    "an empty object": lambda _: {},
    "no properties": without("properties"),
    "properties are a text": put("properties", value="x"),
    "no tag": without("properties", "delivery_tag"),
    "the tag is a list": put("properties", "delivery_tag", value=[]),
    "no delivery": without("properties", "delivery_info"),
    "no routing key": without("properties", "delivery_info", "routing_key"),
    "no headers": without("headers"),
    "headers are a list": put("headers", value=[1]),
    "no id": without("headers", "id"),
    "the id is an object": put("headers", "id", value={}),
    "no task": without("headers", "task"),
    "the task is a list": put("headers", "task", value=["x"]),
    "an unknown task": put("headers", "task", value="os.system"),
    "a task of Celery": put("headers", "task", value="celery.map"),
    "an eta": put("headers", "eta", value={"x": 1}),
    "expires is a list": put("headers", "expires", value=[1]),
    "expires is no time": put("headers", "expires", value="soon"),
    "expires is beyond the calendar": put("headers", "expires", value="9999-12-31T23:59:59-14:00"),
    "retries are a text": put("headers", "retries", value="x"),
    "the limit is a number": put("headers", "timelimit", value=3),
    "one limit": put("headers", "timelimit", value=[1]),
    "limits are texts": put("headers", "timelimit", value=["a", "b"]),
    "stamps": put("headers", "stamps", value=["a"]),
    "compressed by what is unknown": put("headers", "compression", value="x"),
    "compressed": put("headers", "compression", value="application/x-gzip"),
    "pickle": put("content-type", value="application/x-python-serialize"),
    "another content type": put("content-type", value="text/plain"),
    "the content type is a list": put("content-type", value=[]),
    "another encoding": put("content-encoding", value="binary"),
    "an unknown encoding": put("content-encoding", value="klingon"),
    "no body": without("body"),
    "the body is a number": put("body", value=5),
    "the body is not base64": put("body", value="\u00e9\u00e9\u00e9"),
    "the body is an unknown encoding": put("properties", "body_encoding", value="rot13"),
    "the body is not JSON": put("body", value=base64.b64encode(b"\x80\x04N.").decode()),
    "the body is too deep": put("body", value=base64.b64encode(b"[" * 100_000).decode()),
    "the body is a number in JSON": put("body", value=body(3)),
    "the body has two parts": put("body", value=body([[], {}])),
    "arguments are a text": put("body", value=body(["x", {}, EMBED])),
    "named arguments are a list": put("body", value=body([[], [], EMBED])),
    "what is embedded is a text": put("body", value=body([[], {}, "x"])),
    "tasks that follow": put("body", value=body([[], {}, {**EMBED, "chain": [{"task": TASK}]}])),
}
#: What is not even JSON.
UNREADABLE = {
    "empty": b"",
    "a word": b"hello",
    "not UTF-8": b"\xff\xfe\x00",
    "half": b'{"body": "',
    "too deep": b"[" * 100_000,
    "a value of a type that is unknown": b'{"__type__": "x", "__value__": 1}',
    "a value of another type": b'{"__type__": "datetime", "__value__": {}}',
}


def test_what_celery_sends_is_taken(sent: dict[str, Any]) -> None:
    check(sent, TASKS)


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_not_ours_is_broken(name: str, sent: dict[str, Any]) -> None:
    with pytest.raises(Broken) as raised:
        check(STRANGE[name](copy.deepcopy(sent)), TASKS)
    assert "os.system" not in str(raised.value)


@pytest.mark.sweep  # a worker of its own for each queue
def test_a_worker_goes_on_and_says_one_line_for_each(broker: redis.Redis, sent: dict[str, Any], tmp_path: Path) -> None:
    port = broker.connection_pool.connection_kwargs["port"]
    processes = Processes(tmp_path, f"sqlite:///{tmp_path / 'gpudash.sqlite3'}", f"redis://127.0.0.1:{port}/0")
    processes.call("migrate", "--noinput")

    def messages(condition: str) -> int:
        with closing(sqlite3.connect(tmp_path / "gpudash.sqlite3")) as database:
            count: int = database.execute(f"SELECT count(*) FROM runtime_message WHERE {condition}").fetchone()[0]
            return count

    with closing(sqlite3.connect(tmp_path / "gpudash.sqlite3")) as database, database:
        rows = [(f"well-{queue}", 1, "2026-01-01 00:00:00", False) for queue in QUEUES]
        database.executemany("INSERT INTO runtime_message (key, number, sent_at, taken) VALUES (?, ?, ?, ?)", rows)
    assert (messages("taken"), messages("NOT taken")) == (0, len(QUEUES))
    words = ("-P", "threads", "--without-gossip", "--without-mingle", "--loglevel", "INFO")
    with processes.ended():
        worker = processes.celery("worker", "worker", "-Q", ",".join(QUEUES), *words)
        broken = [json.dumps(change(copy.deepcopy(sent))).encode() for change in STRANGE.values()]
        broken += UNREADABLE.values()
        for number, queue in enumerate(QUEUES):
            # One at first, which ends a worker that cannot bear it, then all.
            broker.lpush(queue, broken[number], *broken)
            well = copy.deepcopy(sent)
            well["properties"]["delivery_tag"] = f"well-{queue}"
            well["headers"]["gpudash_message"] = [f"well-{queue}", 1]
            broker.lpush(queue, json.dumps(well))

        def all_done() -> bool:
            assert worker.poll() is None, f"the worker ended\n{processes.log('worker').read_text()[-3000:]}"
            return messages("taken") == len(QUEUES) and not broker.exists(*QUEUES, "unacked")

        wait_until(all_done, "what is well was done in each queue", 90)
        said = [line for line in processes.log("worker").read_text().splitlines() if DROPPED in line]
        assert len(said) == len(QUEUES) * (len(broken) + 1)
        assert not [line for line in processes.log("worker").read_text().splitlines() if "Traceback" in line]
