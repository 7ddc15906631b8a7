"""The chain is read through by the schedule, in parts; what it found stands on the page of the administration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from accounts.tasks import read_audit
from audit import chain
from audit.actions import Action
from audit.acts import act
from audit.chain import Broken, verify
from audit.models import Entry, Reading
from audit.reading import read_on
from tests.pages.reading import get

pytestmark = pytest.mark.django_db
TABLE = Entry._meta.db_table


def put(count: int) -> None:
    for number in range(count):
        with act(Action.RUN_LAUNCH, f"prod/gpu-{number}", run=str(number)):
            pass


def behind(statement: str, *values: Any) -> None:
    """As somebody with the database's password would."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_parts_come_to_the_end_and_begin_anew() -> None:
    put(5)
    at: list[tuple[int, int]] = []
    for _ in range(4):
        row = read_on(2)
        at.append((row.number, row.whole_number))
    assert at == [(2, 0), (4, 0), (0, 5), (2, 5)]
    assert Reading.objects.get().broken is None


def test_nothing_to_read_is_whole_too() -> None:
    row = read_on()
    assert (row.whole_number, row.broken, row.whole_at is None) == (0, None, False)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_change_is_found_before_and_behind_where_it_reads(number: int) -> None:
    put(5)
    read_on(2)
    behind(f"UPDATE {TABLE} SET target = 'x' WHERE number = %s", number)
    found = {read_on(2).broken for _ in range(5)}
    assert number in found


def test_who_makes_what_was_read_anew_is_found_by_the_hash_that_was_kept() -> None:
    put(4)
    read_on(3)
    for entry in Entry.objects.order_by("number")[2:]:
        entry.target = "elsewhere"
        entry.previous = Entry.objects.get(number=entry.number - 1).hash
        behind(
            f"UPDATE {TABLE} SET target = %s, previous = %s, hash = %s WHERE number = %s",
            entry.target, entry.previous, chain.hash_of(entry), entry.number,
        )  # fmt: skip
    assert read_on(3).broken == 3


def test_what_was_mended_is_whole_again_after_a_reading_to_the_end() -> None:
    put(3)
    behind(f"UPDATE {TABLE} SET target = 'x' WHERE number = 2")
    assert read_on().broken == 2
    behind(f"UPDATE {TABLE} SET target = 'prod/gpu-1' WHERE number = 2")
    row = read_on()
    assert (row.broken, row.why, row.whole_number) == (None, "", 3)


def test_an_entry_that_is_written_meanwhile_is_none_that_is_missing() -> None:
    put(2)
    reading: Iterator[Any] = verify()
    assert next(reading)[0] == 1
    put(1)
    assert all(not isinstance(one, Broken) for one in reading)


def test_the_page_says_what_the_task_found(admin: Client) -> None:
    assert "Not verified yet" in get(admin, "/administration").text
    put(2)
    read_audit()
    assert f"Verified: {Entry.objects.count()} entries intact." in get(admin, "/administration").text
    behind(f"UPDATE {TABLE} SET target = 'x' WHERE number = 2")
    read_audit()
    assert "The chain breaks at entry 2" in get(admin, "/administration").text
