"""Messages to a broker that works, is away, or swallows packets: who asks for a run never waits for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
from django.test import Client

from gpudash.celery import app
from tests import services
from tests.lossy import Lossy, Mode
from tests.services import Missing, wait_until
from validations import enqueue
from validations.enqueue import Outbox

#: Far less than the two seconds that a request may wait, with room for a machine that is busy.
AT_ONCE_S = 1.0
#: What a busy machine may add to the two seconds of a probe; without them it would be tens.
BUSY_S = 4.0


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ExitStack() as stack:
        try:
            yield stack.enter_context(services.redis())
        except Missing as missing:
            services.or_skip(missing)


@pytest.fixture
def line(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lossy]:
    """Redis at the end of a line that may be lost; the application sends there."""
    with redis.Redis.from_url(server) as client:
        client.flushall()
    with Lossy(int(urlsplit(server).port or 0)) as line:
        settings: Any = app.conf
        before = settings.broker_url
        settings.broker_url = f"redis://127.0.0.1:{line.port}/0"
        yield line
        settings.broker_url = before


@pytest.fixture
def outbox(line: Lossy) -> Iterator[Outbox]:
    made = Outbox()
    yield made
    line.mode = Mode.CUT  # what it still sends fails now, and not in the next test
    made.flush(30)


def waiting(server: str) -> int:
    """Messages in the queue of short tasks."""
    with redis.Redis.from_url(server) as client:
        length: Any = client.llen("launch")
        return int(length)


def seconds_to_put(outbox: Outbox, count: int) -> float:
    began = time.monotonic()
    for number in range(count):
        outbox.put("validations.tasks.launch", number)
    return time.monotonic() - began


def test_messages_arrive(server: str, outbox: Outbox) -> None:
    seconds_to_put(outbox, 20)
    assert outbox.flush(20)
    assert waiting(server) == 20


@pytest.mark.sweep
@pytest.mark.parametrize("mode", [Mode.DROP, Mode.SILENT, Mode.CUT])
def test_a_broker_that_is_lost_holds_nobody_and_is_said_once(
    server: str, line: Lossy, outbox: Outbox, mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    seconds_to_put(outbox, 1)
    assert outbox.flush(20)
    line.mode = mode
    assert seconds_to_put(outbox, 50) < AT_ONCE_S
    wait_until(lambda: outbox.flush(1), "they are dropped", 40)
    seconds_to_put(outbox, 5)
    wait_until(lambda: outbox.flush(1), "these too", 40)
    assert caplog.text.count("messages are not sent to the broker") == 1
    line.mode = Mode.FORWARD
    before = waiting(server)
    seconds_to_put(outbox, 1)
    assert outbox.flush(20)
    wait_until(lambda: waiting(server) > before, "messages arrive again")
    assert "takes messages again" in caplog.text


@pytest.mark.sweep
def test_what_does_not_fit_is_dropped(line: Lossy, outbox: Outbox) -> None:
    line.mode = Mode.DROP
    outbox._waiting.maxsize = 10
    assert seconds_to_put(outbox, 1000) < AT_ONCE_S


@pytest.mark.sweep
def test_a_process_that_ends_does_not_wait_long(line: Lossy, outbox: Outbox) -> None:
    line.mode = Mode.DROP
    seconds_to_put(outbox, 1)
    began = time.monotonic()
    assert not outbox.flush(0.2)
    assert time.monotonic() - began < BUSY_S


@pytest.mark.sweep
@pytest.mark.django_db(transaction=True)
def test_soon_does_not_wait_for_it_either(line: Lossy, outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    line.mode = Mode.DROP
    monkeypatch.setattr(enqueue, "outbox", outbox)
    began = time.monotonic()
    enqueue.soon("launch", "x")
    assert time.monotonic() - began < AT_ONCE_S


@pytest.mark.sweep
@pytest.mark.django_db
@pytest.mark.parametrize("mode", [Mode.DROP, Mode.SILENT])
def test_readiness_says_so_within_two_seconds(line: Lossy, settings: Any, mode: Mode) -> None:
    settings.CELERY_BROKER_URL = app.conf.broker_url
    line.mode = mode
    for _ in range(2):
        began = time.monotonic()
        part = Client().get("/readyz").json()["parts"]["broker"]
        assert time.monotonic() - began < 2 + BUSY_S
        assert not part["ok"]
    line.mode = Mode.FORWARD
    wait_until(lambda: bool(Client().get("/readyz").json()["parts"]["broker"]["ok"]), "it is ready again")
