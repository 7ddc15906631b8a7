"""Tracebacks in logs: found, told apart, counted, and explained."""

from __future__ import annotations

import pytest

from tests.soak.logs import Explained, Traceback, levels, loudest, tracebacks, unexplained

LOG = """\
2026-11-21 10:00:00,001 INFO inventory.mirror listed
2026-11-21 10:00:01,002 ERROR inventory.tasks pods of cluster 7: the database failed
    Traceback (most recent call last):
      File "/x/django/db/backends/utils.py", line 105, in _execute
        return self.cursor.execute(sql, params)
    psycopg.OperationalError: the connection is closed

    The above exception was the direct cause of the following exception:

    Traceback (most recent call last):
      File "/x/inventory/tasks.py", line 90, in watch
        lease.update()
    django.db.utils.OperationalError: the connection is closed
2026-11-21 10:00:02,003 WARNING gpudash.request GET /nodes 12 ms
2026-11-21 10:00:03,004 ERROR inventory.tasks pods of cluster 9: the database failed
    Traceback (most recent call last):
      File "/x/inventory/tasks.py", line 91, in watch
        lease.update()
    django.db.utils.OperationalError: the connection is closed
""".splitlines()
BARE = """\
Traceback (most recent call last):
  File "/x/manage.py", line 22, in main
    run()
KeyError: 'gone'
""".splitlines()


def test_of_a_chain_the_last_error_counts() -> None:
    first, second = tracebacks(LOG)
    assert first.error == "django.db.utils.OperationalError: the connection is closed"
    assert first.where == "tasks.py watch"
    assert first.record.endswith("pods of cluster 7: the database failed")
    assert first.kind == second.kind


def test_one_kind_whatever_the_address_task_or_number() -> None:
    first = Traceback(
        "2026-11-21 10:00:00,1 ERROR django.request Internal Server Error: /nodes/a", "E: port 41", "db connect"
    )
    second = Traceback(
        "2026-11-21 10:00:09,1 ERROR django.request Internal Server Error: /cards", "E: port 42", "db connect"
    )
    assert first.kind == second.kind
    task = "2026-11-21 10:00:00,1 ERROR celery.app.trace Task a.b[{}-77aa-4bcd] raised unexpected"
    kinds = {Traceback(task.format(number), "E: x", "db connect").kind for number in ("0e1f2a3b4c5d", "ffff2a3b4c5d")}
    assert len(kinds) == 1


def test_a_traceback_without_a_record_is_found_too() -> None:
    (found,) = tracebacks(BARE)
    assert (found.error, found.where, found.record) == ("KeyError: 'gone'", "manage.py main", "")


def test_a_log_without_one_has_none() -> None:
    assert list(tracebacks(LOG[:1])) == []


def test_what_nobody_explains_is_counted() -> None:
    assert list(unexplained(tracebacks([*LOG, *BARE]), ()).values()) == [2, 1]


def test_what_is_explained_is_not() -> None:
    known = [Explained(r"the database failed \| .*OperationalError", "the database restarts")]
    assert list(unexplained(tracebacks([*LOG, *BARE]), known)) == [next(tracebacks(BARE)).kind]


def test_levels_and_the_loudest_lines() -> None:
    assert levels(LOG) == {"INFO": 1, "ERROR": 2, "WARNING": 1}
    assert loudest(LOG)[0] == ("ERROR inventory.tasks pods of cluster #: the database failed", 2)


UNACKED = """\
2026-11-21 10:00:00,001 CRITICAL celery.worker.request Couldn't ack '0e1f2a3b-4c5d', reason:{reason}
    Traceback (most recent call last):
      File "/x/kombu/message.py", line 130, in ack_log_error
        self.ack(multiple=multiple)
      File "/x/redis/connection.py", line 380, in check_health
        raise ConnectionError(message)
    {error}
"""


@pytest.mark.parametrize(
    ("error", "explained"),
    [
        ("redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.", True),
        ("redis.exceptions.TimeoutError: Timeout reading from socket", True),
        ("kombu.exceptions.MessageStateError: Message already acknowledged with state: ACK", False),
    ],
)
def test_a_task_that_ended_while_the_broker_was_away_is_explained(error: str, explained: bool) -> None:
    found = list(tracebacks(UNACKED.format(reason=error.partition(":")[0], error=error).splitlines()))
    assert bool(unexplained(found)) is not explained
