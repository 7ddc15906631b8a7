"""Entries hold each other: whatever is done to the rows is seen, and what is undone was not done."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from audit import chain, who
from audit.actions import Action, Kind
from audit.acts import act, refuse
from audit.chain import Broken, verify
from audit.keys import keys
from audit.models import GENESIS, Entry, Head, Unchangeable
from audit.who import Who

pytestmark = pytest.mark.django_db
TABLE, HEAD = Entry._meta.db_table, Head._meta.db_table


def put(count: int) -> None:
    for number in range(count):
        with act(Action.RUN_LAUNCH, f"prod/gpu-{number}", run=str(number), card=number):
            pass


def behind(statement: str, *values: Any) -> None:
    """As somebody with the database's password would."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def broken() -> Broken | None:
    return next((one for one in verify() if isinstance(one, Broken)), None)


def test_an_entry_says_who_did_what_on_what_and_from_where() -> None:
    olga = Who("olga", Kind.TOKEN.value, "gpd_7", "10.0.0.1", "abc")
    with who.acting(olga), act(Action.RUN_CANCEL, "prod/gpu-1", run="r1", nothing=None, empty=""):
        pass
    entry = Entry.objects.get()
    assert (entry.number, entry.actor, entry.kind, entry.token) == (1, "olga", "token", "gpd_7")
    assert (entry.address, entry.request, entry.action) == ("10.0.0.1", "abc", "run-cancel")
    assert (entry.target, entry.outcome, entry.detail) == ("prod/gpu-1", "done", {"run": "r1"})
    assert entry.previous == GENESIS


def test_a_chain_that_nobody_touched_holds() -> None:
    put(5)
    assert [one[0] for one in verify()] == [1, 2, 3, 4, 5]
    assert [one[0] for one in verify(after=3)] == [4, 5]


@pytest.mark.parametrize(
    "column", ["at", "actor", "kind", "token", "address", "request", "action", "target", "outcome", "detail"]
)
def test_a_column_that_is_changed_is_found(column: str) -> None:
    put(3)
    value = "2020-01-01 00:00:00+00" if column == "at" else '{"run": "x"}' if column == "detail" else "x"
    behind(f"UPDATE {TABLE} SET {column} = %s WHERE number = 2", value)
    assert broken() == Broken(
        2, "the entry was changed, or written with another secret key (GPUDASH_SECRET_KEY_FALLBACKS)"
    )


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        (f"DELETE FROM {TABLE} WHERE number = 1", 1),
        (f"DELETE FROM {TABLE} WHERE number = 2", 2),
        (f"DELETE FROM {TABLE} WHERE number = 3", 3),
        (f"DELETE FROM {TABLE}", 1),
        (f"UPDATE {TABLE} SET number = number + 10 WHERE number > 1", 2),
        (f"UPDATE {TABLE} SET previous = hash WHERE number = 2", 2),
    ],
)
def test_what_is_taken_out_or_moved_is_found(statement: str, number: int) -> None:
    put(3)
    behind(statement)
    found = broken()
    assert found is not None
    assert found.number == number


def test_an_entry_made_anew_with_its_hash_breaks_the_next() -> None:
    put(3)
    entry = Entry.objects.get(number=2)
    entry.target = "another"
    behind(f"UPDATE {TABLE} SET target = 'another', hash = %s WHERE number = 2", chain.hash_of(entry))
    assert broken() == Broken(3, "the entry does not follow the previous entry")


def test_a_chain_made_anew_with_the_secret_key_is_told_by_a_hash_that_was_noted(capsys: Any) -> None:
    put(2)
    noted = Head.objects.get().hash
    call_command("audit", "verify", "--hash", noted)
    behind(f"DELETE FROM {TABLE}")
    sealed = chain.seal_of(Head(number=0, hash=GENESIS), keys()[-1])
    behind(f"UPDATE {HEAD} SET number = 0, hash = %s, seal = %s", GENESIS, sealed)
    put(2)
    call_command("audit", "verify")
    with pytest.raises(CommandError, match="recreated"):
        call_command("audit", "verify", "--hash", noted)


def test_before_the_first_entry_nothing_is_wrong() -> None:
    assert list(verify()) == []


@pytest.mark.parametrize(
    "statements",
    [
        (f"DELETE FROM {HEAD}",),
        (f"DELETE FROM {HEAD}", f"DELETE FROM {TABLE} WHERE number > 2"),
        (f"DELETE FROM {HEAD}", f"DELETE FROM {TABLE}"),
        # As the head would be after two entries, but for its seal.
        (
            f"UPDATE {HEAD} SET number = 2, hash = (SELECT hash FROM {TABLE} WHERE number = 2)",
            f"DELETE FROM {TABLE} WHERE number > 2",
        ),
        (f"UPDATE {HEAD} SET number = 0, hash = '{GENESIS}'", f"DELETE FROM {TABLE}"),
        (f"UPDATE {HEAD} SET number = 0, hash = '{GENESIS}', seal = ''", f"DELETE FROM {TABLE}"),
    ],
)  # fmt: skip
def test_who_takes_the_head_and_the_last_entries_away_is_found_and_stays_found(statements: tuple[str, ...]) -> None:
    put(3)
    for statement in statements:
        behind(statement)
    assert broken() is not None
    put(2)
    assert broken() is not None, "what comes after hides nothing"


def test_an_entry_without_the_secret_key_does_not_hold(settings: Any) -> None:
    put(1)
    own, settings.SECRET_KEY = settings.SECRET_KEY, "of-somebody-else" * 4
    put(1)
    settings.SECRET_KEY = own
    found = broken()
    assert found is not None
    assert found.number == 2


def test_another_secret_key_goes_on_where_the_old_one_is_known(settings: Any) -> None:
    put(2)
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another" * 10
    assert broken() == Broken(
        1, "the entry was changed, or written with another secret key (GPUDASH_SECRET_KEY_FALLBACKS)"
    )
    settings.SECRET_KEY_FALLBACKS = [old]
    put(2)
    assert [one[0] for one in verify()] == [1, 2, 3, 4]
    assert [one[0] for one in verify(after=2)] == [3, 4]


def test_an_old_key_makes_no_entry_behind_one_of_a_later_key(settings: Any) -> None:
    put(1)
    old, new = settings.SECRET_KEY, "another" * 10
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = new, [old]
    put(1)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = old, [new]
    put(1)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = new, [old]
    found = broken()
    assert found is not None
    assert found.number == 3


def test_verify_says_where_it_breaks() -> None:
    put(3)
    behind(f"UPDATE {TABLE} SET target = 'x' WHERE number = 3")
    with pytest.raises(CommandError, match=r"entry 3: the entry was changed, .*\. Intact entries before it: 2"):
        call_command("audit", "verify")


def test_what_is_undone_leaves_no_entry() -> None:
    def undone() -> None:
        with transaction.atomic():
            put(3)
            raise RuntimeError

    put(1)
    with pytest.raises(RuntimeError):
        undone()
    put(1)
    assert [one[0] for one in verify()] == [1, 2]


def test_nothing_of_ours_changes_an_entry() -> None:
    put(1)
    entry = Entry.objects.get()
    for change in (entry.save, entry.delete, Entry.objects.all().delete, lambda: Entry.objects.update(target="x")):
        with pytest.raises(Unchangeable):
            change()


def test_the_same_refusal_is_written_once_a_minute() -> None:
    with who.acting(Who("vera", Kind.SESSION.value, address="10.0.0.1")):
        for _ in range(3):
            refuse(Action.ACCESS, "POST /x")
        refuse(Action.ACCESS, "POST /y")
    with who.acting(Who("olga", Kind.SESSION.value, address="10.0.0.1")):
        refuse(Action.ACCESS, "POST /x")
    assert Entry.objects.count() == 3


@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(name=st.text(max_size=300), target=st.text(max_size=900), value=st.text(max_size=50) | st.integers())
def test_whatever_a_name_holds_the_chain_holds(name: str, target: str, value: str | int) -> None:
    with who.acting(Who(name, Kind.SESSION.value)), act(Action.TOKEN_CREATE, target, name=value):
        pass
    assert broken() is None


def test_export_has_all_of_it(capsys: Any) -> None:
    put(2)
    call_command("audit", "export")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert '"hash"' in lines[0]


@pytest.mark.django_db(transaction=True)
def test_two_at_once_write_one_after_the_other(committed_database: None) -> None:
    def work() -> None:
        for _ in range(10):
            with transaction.atomic():
                put(1)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [one[0] for one in verify()] == list(range(1, 31))
