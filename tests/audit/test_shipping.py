"""An entry is a log line after its commit: what is undone never is one, and what was left the schedule ships, in order."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from django.db import transaction

from accounts.tasks import ship_audit
from audit import shipping
from audit.actions import Action
from audit.acts import act, together
from audit.models import Entry, Shipped

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("committed_database")]


def put(target: str) -> None:
    with act(Action.RUN_LAUNCH, target):
        pass


def undo() -> None:
    """An act in a transaction that fails after it."""
    with suppress(RuntimeError), transaction.atomic():
        put("undone")
        raise RuntimeError


@pytest.fixture
def lines(caplog: Any) -> Any:
    """The targets of the lines, in their order."""
    caplog.set_level("INFO", logger="gpudash.audit")
    return lambda: [one.audit_target for one in caplog.records if hasattr(one, "audit_hash")]


def test_a_line_comes_after_the_commit_with_the_hash(lines: Any, caplog: Any) -> None:
    with transaction.atomic():
        put("first")
        assert lines() == []
    assert lines() == ["first"]
    (line,) = caplog.records
    assert (line.audit_number, line.audit_hash) == (1, Entry.objects.get().hash)
    assert line.audit_action == "run-launch"


def test_what_is_undone_is_no_line(lines: Any) -> None:
    undo()
    put("done")
    ship_audit()
    assert lines() == ["done"]
    assert list(Entry.objects.values_list("number", "target")) == [(1, "done")]


def test_what_a_savepoint_undoes_within_a_larger_act_has_no_entry(lines: Any) -> None:
    with together():
        put("first")
        undo()
        put("second")
    assert lines() == ["first", "second"]
    assert list(Entry.objects.order_by("number").values_list("number", "target")) == [(1, "first"), (2, "second")]


def test_the_end_of_the_chain_is_taken_last() -> None:
    """Else two who act would each wait for what the other has locked."""
    with together():
        put("first")
        assert not Entry.objects.exists()
        put("second")
    assert Entry.objects.count() == 2


def test_what_was_left_comes_with_the_schedule_and_before_what_is_new(
    lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr("audit.acts.ship_now", lambda: None)
        put("first")
        put("second")
    assert lines() == []
    put("third")
    assert lines() == ["first", "second", "third"]
    ship_audit()
    assert len(lines()) == 3, "once, where nobody is killed"


def test_many_that_are_left_come_in_parts(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipping, "AT_ONCE", 2)
    with together():
        for number in range(5):
            put(str(number))
    assert lines() == ["0", "1", "2", "3", "4"]


def test_a_mark_that_was_taken_away_ships_all_again(lines: Any) -> None:
    put("first")
    Shipped.objects.all().delete()
    ship_audit()
    assert lines() == ["first", "first"]
