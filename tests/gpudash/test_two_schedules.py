"""Two schedules at once send each task once: real processes, PostgreSQL and Redis. The test takes the messages, as a worker would."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from gpudash.celery import app
from tests import services
from tests.processes import Processes, kill
from tests.services import Missing, end, wait_until

pytestmark = [pytest.mark.sweep, pytest.mark.timeout(240)]

TASK = "validations.tasks.dispatch_reconcilers"
EVERY_S = float(app.conf.beat_schedule["dispatch-reconcilers"]["schedule"])
LEASE_S = 5
WAITS = "another schedule is active; this one is on standby"


class Bed:
    """A database, a broker, and what was sent so far, by task."""

    def __init__(self, processes: Processes, url: str, broker: str) -> None:
        self.processes, self.sent = processes, Counter[str]()
        self._database = psycopg.connect(url, autocommit=True)
        self._broker = redis.Redis.from_url(broker)

    def schedule(self, name: str) -> Any:
        return self.processes.celery(name, "beat", "--pidfile", "", "--max-interval", "1", "--loglevel", "INFO")

    def take(self) -> int:
        """Take what waits; how often TASK was among it, in all."""
        while (found := self._broker.lpop("default")) is not None:
            self.sent[json.loads(str(found, "utf-8"))["headers"]["task"]] += 1
        self._database.execute("UPDATE runtime_message SET taken = true")
        return self.sent[TASK]

    def count(self, seconds: float) -> int:
        """How often TASK is sent in this time."""
        before, until = self.take(), time.monotonic() + seconds
        while time.monotonic() < until:
            self.take()
            time.sleep(0.05)
        return self.take() - before

    def close(self) -> None:
        self._database.close()
        self._broker.close()


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    with ExitStack() as stack:
        try:
            server, broker = stack.enter_context(services.postgres()), stack.enter_context(services.redis())
        except Missing as missing:
            services.or_skip(missing)
        url = server.create("gpudash")
        processes = Processes(tmp_path, url, broker, GPUDASH_LEASE_S=str(LEASE_S))
        processes.call("migrate", "--noinput")
        stack.callback(processes.stop)
        made = Bed(processes, url, broker)
        stack.callback(made.close)
        yield made


def test_two_schedules_send_each_task_once_and_the_other_goes_on(bed: Bed) -> None:
    first = bed.schedule("first")
    wait_until(lambda: bed.take() > 0, "the first sends", 60)
    second = bed.schedule("second")
    wait_until(lambda: WAITS in bed.processes.log("second").read_text(), "the second waits", 60)
    span = 12.0
    sent = bed.count(span)
    assert span / EVERY_S - 2 <= sent <= span / EVERY_S + 1, f"{sent} messages in {span} s, one every {EVERY_S} s"

    before = bed.take()
    killed = kill(first)
    wait_until(lambda: bed.take() > before, "the second goes on", 30)
    assert time.monotonic() - killed < LEASE_S + 5

    third = bed.schedule("third")
    wait_until(lambda: WAITS in bed.processes.log("third").read_text(), "the third waits", 60)
    end(second)
    before, ended = bed.take(), time.monotonic()
    wait_until(lambda: bed.take() > before, "the third goes on", 30)
    assert time.monotonic() - ended < LEASE_S, "a schedule that ends gives its lease back"
    end(third)
