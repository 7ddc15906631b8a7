"""What waits is sent once, in order; what was answered is written down; a kill at any point loses nothing and doubles nothing."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from unittest import mock

import pytest
from django.test import override_settings

from inventory.models import Cluster
from notifications import deliver as delivering
from notifications import manage
from notifications.channels import BY_NAME
from notifications.channels.engine import Answer, Outcome
from notifications.deliver import FAILING, LOST, RETRY_AFTER, deliver, settings_of, settle, with_work
from notifications.models import Channel, Delivery
from notifications.sending.send import MayHaveBeenSent
from notifications.topics import topics_of
from runtime.clock import database_now
from runtime.sealed import WrongKey
from tests.factories import make_finding
from tests.notifications.beds import DELIVERED, LEDGER, MINUTE, PAGER, SECOND, channel, receiving, rule, step

pytestmark = pytest.mark.django_db

LATER, REFUSED = Answer(Outcome.LATER, "429 too many"), Answer(Outcome.REFUSED, "310000 keywords not in content")


class Clock:
    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock(database_now())


def waiting(to: Channel, number: int = 1, **more: Any) -> list[str]:
    rows = [manage.test_channel(to) for _ in range(number)]
    Delivery.objects.filter(pk__in=[row.pk for row in rows]).update(
        test=False, next_at=database_now() - timedelta(days=1), **more
    )
    return [row.pk for row in rows]


def states() -> list[str]:
    return list(Delivery.objects.order_by("id").values_list("state", flat=True))


def test_in_order_each_once(clock: Clock) -> None:
    to = channel()
    keys = waiting(to, 3)
    with receiving(at=clock) as receiver:
        assert (deliver(to.pk), deliver(to.pk)) == (3, 0)
    assert [message.id for message in receiver.got] == sorted(keys)
    assert states() == ["delivered"] * 3
    to.refresh_from_db()
    assert (to.failing_since, to.answer, to.delivered_at) == (None, "ok", clock.at)


def test_what_is_answered_with_later_comes_again_ever_later_and_holds_the_order(clock: Clock) -> None:
    to = channel()
    waiting(to, 2)
    tries = []
    with receiving(*[LATER] * 20, at=clock) as receiver:
        for wanted in (0 * SECOND, *RETRY_AFTER, 0 * SECOND):
            # Looked at forty times until it is due.
            for _ in range(41):
                if with_work(clock.at) and deliver(to.pk):
                    tries.append(clock.at)
                    break
                clock.at += wanted / 40
            if Delivery.objects.order_by("id")[0].state == "failed":
                break
    assert len(tries) == len(RETRY_AFTER) + 1
    waits = [later - earlier for earlier, later in pairwise(tries)]
    assert all(wanted <= wait <= wanted * 41 / 40 for wait, wanted in zip(waits, RETRY_AFTER, strict=True))
    assert len({message.id for message in receiver.got}) == 1
    assert states() == ["failed", "waiting"]
    assert Delivery.objects.order_by("id")[0].answers[-1]["text"] == "429 too many"


def test_retry_after_is_obeyed(clock: Clock) -> None:
    to = channel()
    waiting(to)
    with receiving(Answer(Outcome.LATER, "429", 1200.0), at=clock):
        deliver(to.pk)
        clock.at += timedelta(seconds=1199)
        assert (with_work(clock.at), deliver(to.pk)) == ([], 0)
        clock.at += 2 * SECOND
        assert deliver(to.pk) == 1
    assert states() == ["delivered"]


def test_a_refusal_is_final_and_said(clock: Clock) -> None:
    to = channel()
    waiting(to)
    with receiving(REFUSED, at=clock):
        deliver(to.pk)
    to.refresh_from_db()
    assert (states(), to.failing_since, to.answer) == (["failed"], clock.at, REFUSED.text)


def test_a_receiver_that_is_gone_is_sent_nothing_until_somebody_changes_it(clock: Clock) -> None:
    to = channel()
    waiting(to, 2)
    with receiving(Answer(Outcome.GONE, "410 gone"), at=clock) as receiver:
        deliver(to.pk)
        assert with_work(clock.at + timedelta(days=1)) == []
        deliver(to.pk)
        assert len(receiver.got) == 1
        to.refresh_from_db()
        assert to.gone
        manage.change_channel(
            to, manage.ChannelDraft(name=to.name, kind=to.kind, settings={"url": "https://chat.example/new"})
        )
        assert deliver(to.pk) == 1
    assert states() == ["failed", "delivered"]


def test_no_answer_is_told_as_may_have_been_sent(clock: Clock) -> None:
    to = channel()
    waiting(to)
    with receiving(MayHaveBeenSent(), at=clock) as receiver:
        deliver(to.pk)
        clock.at += timedelta(days=1)
        deliver(to.pk)
    assert (states(), len(receiver.got)) == (["uncertain"], 1)


def test_who_drops_what_it_has_is_sent_it_again(clock: Clock) -> None:
    to = channel(kind=PAGER)
    waiting(to)
    with receiving(MayHaveBeenSent(), at=clock) as receiver:
        deliver(to.pk)
        clock.at += 6 * SECOND
        deliver(to.pk)
    assert states() == ["delivered"]
    assert len({message.id for message in receiver.got}) == 1


class Killed(BaseException):
    """As SIGKILL does: nothing after it runs."""


@pytest.mark.parametrize(("kind", "ends"), [("kept", "uncertain"), (PAGER, "delivered")])
def test_killed_between_the_sending_and_the_writing(clock: Clock, kind: str, ends: str) -> None:
    to = channel(kind=kind)
    waiting(to)

    with receiving(at=clock):
        with mock.patch.object(delivering, "send", side_effect=Killed()), pytest.raises(Killed):
            deliver(to.pk)
        assert states() == ["sending"]
        assert deliver(to.pk) == 0  # it may still be at it
        clock.at += LOST + SECOND
        assert with_work(clock.at) == [to.pk]
        deliver(to.pk)
    assert states() == [ends]


def test_two_processes_do_not_send_the_same(clock: Clock) -> None:
    to = channel()
    waiting(to)
    inner: list[int] = []

    with receiving(at=clock) as receiver:

        def slow(*arguments: Any) -> Answer:
            inner.append(deliver(to.pk))
            return receiver(*arguments)

        with mock.patch.object(delivering, "send", slow):
            deliver(to.pk)
    assert (inner, len(receiver.got)) == ([0], 1)


def test_the_slower_one_writes_nothing_over_the_faster_one(clock: Clock) -> None:
    to = channel()
    waiting(to)

    def slow(*_: Any) -> Answer:
        clock.at += LOST + SECOND
        settle(to, BY_NAME[to.kind], clock.at)
        return DELIVERED

    with mock.patch.object(delivering, "send", slow), mock.patch.object(delivering, "database_now", clock):
        deliver(to.pk)
    assert states() == ["uncertain"]


def test_no_more_a_minute_than_the_receiver_takes(clock: Clock) -> None:
    to = channel()
    waiting(to, 50)
    with receiving(at=clock) as receiver:
        for _ in range(6):
            deliver(to.pk)
        assert len(receiver.got) == 20
        clock.at += 61 * SECOND
        for _ in range(6):
            deliver(to.pk)
    assert len(receiver.got) == 40


def test_a_channel_that_fails_is_told_by_another_one(clock: Clock) -> None:
    bad, good = channel("bad"), channel("good")
    by_itself, by_other = (rule(to, f"own of {to.name}", ("installation",)) for to in (bad, good))
    waiting(bad)
    with receiving(*[LATER] * 5, at=clock):
        for number in range(FAILING):
            deliver(bad.pk)
            clock.at += RETRY_AFTER[number] + SECOND
    codes = {
        one.name: [topic.code for topic in topics_of(one, clock.at) if topic.code == "channel-failing"]
        for one in (by_itself, by_other)
    }
    assert codes == {"own of bad": [], "own of good": ["channel-failing"]}


def test_a_receiver_that_forgets_is_told_each_minute_until_it_ends(cluster: Cluster, clock: Clock) -> None:
    to = channel(kind=LEDGER)
    one, finding = rule(to), make_finding(cluster, node_name="gpu-1")
    step(one, clock.at)
    clock.at += 31 * SECOND
    step(one, clock.at)
    with receiving(at=clock) as receiver:
        for _ in range(10):
            deliver(to.pk)
            clock.at += 30 * SECOND
        assert len(receiver.got) == 1 + 5  # the news, and at once and then each minute what holds
        finding.ended_at = clock.at
        finding.save()
        step(one, clock.at)
        clock.at += 3 * MINUTE
        step(one, clock.at)
        receiver.got.clear()
        for _ in range(10):
            deliver(to.pk)
            clock.at += 30 * SECOND
    assert [line.change for message in receiver.got for line in message.lines] == ["ended"]


def test_secrets_are_encrypted_and_nowhere_else(clock: Clock) -> None:
    to = channel()
    row = Channel.objects.get(pk=to.pk)
    assert "chat.example" not in json.dumps(Channel.objects.values().get(pk=to.pk), default=str)
    assert "chat.example" not in repr(row) + str(row)
    assert settings_of(row)["url"] == "https://chat.example/secret"
    with override_settings(SECRET_KEY="another", SECRET_KEY_FALLBACKS=[]):
        with pytest.raises(WrongKey):
            settings_of(row)
        waiting(to)
        with receiving(at=clock) as receiver:
            deliver(to.pk)
    assert (states(), receiver.got) == (["failed"], [])
    to.refresh_from_db()
    assert "enter them again" in to.answer


def test_a_mistake_of_ours_is_no_loop(clock: Clock) -> None:
    to = channel()
    waiting(to)
    with receiving(RuntimeError("a mistake"), at=clock):
        deliver(to.pk)
    assert states() == ["failed"]
