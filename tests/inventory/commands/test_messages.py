"""One message per thing to do: none is doubled, none is carried out when it is out of date, and a lost one is sent again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from runtime import messages
from runtime.messages import LOST, OVERDUE, headers_for, take
from runtime.models import Message

pytestmark = pytest.mark.django_db


def number(headers: dict[str, Any] | None) -> int:
    assert headers is not None
    return int(headers[messages.HEADER][1])


def old() -> None:
    Message.objects.update(sent_at=F("sent_at") - OVERDUE - timedelta(seconds=1))


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """The length of the queue, as the broker says."""
    said: list[int | None] = [1]
    monkeypatch.setattr(messages, "queue_length", lambda queue: said[0])
    return said


def test_no_second_one_is_sent_while_the_first_was_not_taken(waiting: list[int | None]) -> None:
    first = number(headers_for("look", "default"))
    assert headers_for("look", "default") is None
    assert take("look", first)
    assert number(headers_for("look", "default")) == first + 1


def test_things_do_not_wait_for_each_other() -> None:
    assert headers_for("look:1", "default")
    assert headers_for("look:2", "default")


def test_one_that_waits_in_its_queue_is_not_sent_again(waiting: list[int | None]) -> None:
    assert headers_for("look", "default")
    old()
    assert headers_for("look", "default") is None


def test_one_that_the_broker_has_lost_is_sent_again(waiting: list[int | None]) -> None:
    assert headers_for("look", "default")
    waiting[0] = 0
    assert headers_for("look", "default") is None
    old()
    assert number(headers_for("look", "default")) == 2


def test_one_that_was_lost_is_sent_again_though_the_queue_is_never_empty(waiting: list[int | None]) -> None:
    assert headers_for("look", "default")
    Message.objects.update(sent_at=F("sent_at") - LOST)
    waiting[0] = messages.MANY
    assert headers_for("look", "default") is None  # nobody takes any
    waiting[0] = 3
    assert number(headers_for("look", "default")) == 2


def test_nothing_is_sent_to_a_broker_that_does_not_answer(waiting: list[int | None]) -> None:
    assert headers_for("look", "default")
    waiting[0] = None
    old()
    assert headers_for("look", "default") is None


def test_one_that_is_out_of_date_is_not_carried_out(waiting: list[int | None]) -> None:
    waiting[0] = 0
    first = number(headers_for("look", "default"))
    old()
    second = number(headers_for("look", "default"))
    assert not take("look", first)
    assert take("look", second)
    assert not take("look", second)


def test_a_queue_where_nothing_lies_has_length_nought() -> None:
    assert messages.queue_length("nobody-sends-here") == 0
