"""The same thing is told once, and its end once; what belongs together is one message."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db.models.functions import Now

from inventory.models import Cluster, Finding
from notifications import manage, silences
from notifications.models import Delivery, Told
from runtime.clock import database_now
from tests.factories import make_cluster, make_finding
from tests.notifications.beds import HOUR, LEDGER, MINUTE, PAGER, SECOND, channel, done, rule, step

pytestmark = pytest.mark.django_db


@pytest.fixture
def at() -> datetime:
    return database_now()


def end(*rows: Finding) -> None:
    Finding.objects.filter(pk__in=[row.pk for row in rows]).update(ended_at=Now())


def test_of_many_findings_with_one_cause_one_message_is_made(cluster: Cluster, at: datetime) -> None:
    one = rule(channel())
    for number in range(500):
        make_finding(cluster, "card-over-committed", node_name=f"gpu-{number}")
    assert step(one, at) == []
    assert step(one, at + 20 * SECOND) == []  # it may be over in a moment
    assert step(one, at + 30 * SECOND) == ["Card overcommitted (500)"]
    assert step(one, at + 10 * MINUTE) == []
    done(one)
    assert step(one, at + 20 * MINUTE) == []
    message = Delivery.objects.get().message
    assert [(line["count"], line["change"], line["severity"]) for line in message["lines"]] == [(500, "began", "error")]


def test_the_end_is_told_once_and_only_after_a_while(cluster: Cluster, at: datetime) -> None:
    one, finding = rule(channel()), make_finding(cluster, node_name="gpu-1")
    step(one, at)
    step(one, at + 30 * SECOND)
    done(one)
    end(finding)
    assert step(one, at + 60 * SECOND) == []
    assert step(one, at + 179 * SECOND) == []
    assert [title[:6] for title in step(one, at + 180 * SECOND)] == ["Ended:"]
    done(one)
    assert step(one, at + 20 * MINUTE) == []
    assert step(one, at + 2 * HOUR) == []
    assert not Told.objects.exists()


def test_what_flaps_is_told_only_when_it_stays(cluster: Cluster, at: datetime) -> None:
    one, told, now = rule(channel()), 0, at
    for _ in range(20):
        finding = make_finding(cluster, node_name="gpu-1")
        for _ in range(6):
            told += len(step(one, now))
            now += 30 * SECOND
        end(finding)
        for _ in range(8):
            told += len(step(one, now))
            now += 30 * SECOND
        done(one)
    assert told == 2  # once that it began, once that it ended
    make_finding(cluster, node_name="gpu-1")
    step(one, now)
    assert len(step(one, now + 10 * MINUTE)) == 1


def test_what_comes_back_at_once_has_not_ended(cluster: Cluster, at: datetime) -> None:
    one, finding = rule(channel()), make_finding(cluster, node_name="gpu-1")
    step(one, at)
    assert len(step(one, at + 30 * SECOND)) == 1
    done(one)
    end(finding)
    step(one, at + 60 * SECOND)
    make_finding(cluster, node_name="gpu-1")
    step(one, at + 90 * SECOND)
    assert step(one, at + 5 * MINUTE) == []  # a later row is more of the same, and told after ten minutes
    assert [
        line["change"] for line in Delivery.objects.get(pk=_only(step(one, at + 11 * MINUTE), one)).message["lines"]
    ] == ["more"]


def _only(titles: list[str], one: object) -> str:
    assert len(titles) == 1
    return str(Delivery.objects.order_by("-id").values_list("pk", flat=True)[0])


def test_what_ends_before_it_was_told_is_not_told(cluster: Cluster, at: datetime) -> None:
    one, finding = rule(channel()), make_finding(cluster, node_name="gpu-1")
    step(one, at)
    end(finding)
    assert step(one, at + 30 * SECOND) == []
    assert not Told.objects.exists()


def test_more_of_the_same_is_told_after_ten_minutes_with_what_is_new(cluster: Cluster, at: datetime) -> None:
    one = rule(channel())
    make_finding(cluster, node_name="gpu-1")
    step(one, at)
    step(one, at + 30 * SECOND)
    done(one)
    for number in range(2, 13):
        make_finding(cluster, node_name=f"gpu-{number}")
    assert step(one, at + MINUTE) == []
    assert step(one, at + 10 * MINUTE) == []
    assert step(one, at + 10 * MINUTE + 30 * SECOND) == ["Card overcommitted (12)"]
    line = Delivery.objects.order_by("-id")[0].message["lines"][0]
    assert (line["change"], line["count"], line["new"]) == ("more", 12, 11)


def test_while_a_message_is_on_its_way_the_rest_gathers(cluster: Cluster, at: datetime) -> None:
    one = rule(channel())
    make_finding(cluster, "card-over-committed", node_name="gpu-1")
    step(one, at)
    assert len(step(one, at + 30 * SECOND)) == 1
    for code in ("node-not-ready-with-pods", "card-hot", "plugin-missing"):
        make_finding(cluster, code, "warning", "gpu-2")
    for minutes in range(1, 60, 5):
        assert step(one, at + minutes * MINUTE) == []  # the channel does not answer
    done(one)
    assert step(one, at + 60 * MINUTE) == ["3 problems"]


def test_what_began_or_ended_a_moment_ago_waits_for_the_next_message(cluster: Cluster, at: datetime) -> None:
    one, ending = rule(channel()), make_finding(cluster, "card-hot", "warning", "gpu-1")
    step(one, at)
    step(one, at + 30 * SECOND)
    done(one)
    make_finding(cluster, "plugin-missing", "error", "gpu-2")
    step(one, at + 10 * MINUTE)
    end(ending)
    make_finding(cluster, "card-over-committed", "error", "gpu-3")
    step(one, at + 10 * MINUTE + 20 * SECOND)
    assert [title[:14] for title in step(one, at + 10 * MINUTE + 30 * SECOND)] == ["plugin-missing"]


def test_severity_codes_and_places_choose(cluster: Cluster, at: datetime) -> None:
    other = make_cluster("other")
    make_finding(cluster, "card-over-committed", "error", "gpu-1")
    make_finding(other, "card-over-committed", "error", "gpu-2")
    make_finding(cluster, "card-hot", "warning", "gpu-3")
    to = channel()
    rules = {
        "errors": rule(to, "errors", least_severity="error"),
        "hot": rule(to, "hot", codes=["card-hot"]),
        "other": rule(to, "other", places="other"),
    }
    told = {}
    for name, one in rules.items():
        step(one, at)
        told[name] = [line["cluster"] + " " + line["code"] for key in _keys(one, at) for line in _lines(key)]
    assert told == {
        "errors": ["other card-over-committed", "prod card-over-committed"],
        "hot": ["prod card-hot"],
        "other": ["other card-over-committed"],
    }


def _keys(one: object, at: datetime) -> list[str]:
    step(one, at + 30 * SECOND)  # type: ignore[arg-type]
    return list(Delivery.objects.filter(rule=one).values_list("pk", flat=True))  # type: ignore[misc]


def _lines(key: str) -> list[dict[str, str]]:
    return sorted(Delivery.objects.get(pk=key).message["lines"], key=lambda line: line["cluster"])


def test_a_silenced_finding_is_counted_and_not_told(cluster: Cluster, at: datetime) -> None:
    one = rule(channel())
    quiet, loud = (make_finding(cluster, node_name=name) for name in ("gpu-1", "gpu-2"))
    silences.acknowledge(quiet, "a repair is ordered", at + timedelta(hours=1))
    step(one, at)
    step(one, at + 30 * SECOND)
    line = Delivery.objects.get().message["lines"][0]
    assert line["count"] == 1
    done(one)
    end(loud)
    # What is left is silenced: the topic holds, and its end is not told.
    assert step(one, at + 10 * MINUTE) == []
    end(quiet)
    step(one, at + 11 * MINUTE)
    assert len(step(one, at + 14 * MINUTE)) == 1


def test_when_a_silence_ends_what_holds_is_told(cluster: Cluster, at: datetime) -> None:
    one, finding = rule(channel()), make_finding(cluster, node_name="gpu-1")
    silences.acknowledge(finding, "known", at + timedelta(minutes=30))
    for minutes in (0, 1, 29):
        assert step(one, at + minutes * MINUTE) == []
    step(one, at + 31 * MINUTE)
    assert len(step(one, at + 32 * MINUTE)) == 1


def test_a_receiver_of_topics_gets_one_message_for_each(cluster: Cluster, at: datetime) -> None:
    one = rule(channel(kind=PAGER))
    for code in ("card-over-committed", "plugin-missing"):
        make_finding(cluster, code, "error", "gpu-1")
    step(one, at)
    assert len(step(one, at + 30 * SECOND)) == 2
    assert sorted(row.topics for row in Delivery.objects.all()) == [1, 1]


def test_a_receiver_that_forgets_is_told_what_holds(cluster: Cluster, at: datetime) -> None:
    from notifications.deliver import with_work

    to = channel(kind=LEDGER)
    one = rule(to)
    make_finding(cluster, node_name="gpu-1")
    step(one, at)
    assert with_work(at) == []
    step(one, at + 30 * SECOND)
    done(one)
    assert with_work(at + 31 * SECOND) == [to.pk]


def test_a_paused_rule_tells_nothing_and_goes_on_with_what_holds(cluster: Cluster, at: datetime) -> None:
    one = rule(channel())
    make_finding(cluster, node_name="gpu-1")
    manage.pause_rule(one, True)
    assert step(one, at) == step(one, at + MINUTE) == []
    manage.pause_rule(one, False)
    step(one, at + 2 * MINUTE)
    assert len(step(one, at + 3 * MINUTE)) == 1


def test_a_daily_digest_tells_once_a_day_what_began_and_what_ended(cluster: Cluster) -> None:
    one = rule(channel(), digest="daily", digest_hour=8, time_zone="Asia/Shanghai")
    before = datetime.fromisoformat("2026-11-26T23:00:00+00:00")
    type(one).objects.filter(pk=one.pk).update(created_at=before - timedelta(hours=1))
    short, long = make_finding(cluster, "card-hot", "warning", "gpu-1"), make_finding(cluster, node_name="gpu-2")
    assert step(one, before) == []
    end(short)
    assert step(one, before + 10 * MINUTE) == []
    morning = datetime.fromisoformat("2026-11-27T00:00:05+00:00")
    assert step(one, morning) == ["1 problem · 1 ended"]
    done(one)
    assert step(one, morning + timedelta(hours=1)) == []
    assert step(one, morning + timedelta(days=1)) == []  # nothing has changed
    assert long.pk


def test_a_change_of_a_rule_forgets_what_it_is_not_about_any_more(cluster: Cluster, at: datetime) -> None:
    to = channel()
    one = rule(to)
    make_finding(cluster, "card-hot", "warning", "gpu-1")
    make_finding(cluster, node_name="gpu-2")
    step(one, at)
    step(one, at + 30 * SECOND)
    done(one)
    draft = manage.RuleDraft(name="all", channel=to.name, about=["finding"], least_severity="error")
    manage.change_rule(type(one).objects.get(pk=one.pk), draft)
    assert step(one, at + 10 * MINUTE) == step(one, at + 20 * MINUTE) == []
    assert Told.objects.count() == 1
