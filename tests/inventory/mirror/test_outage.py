"""Findings of clusters that are not kept in sync, and what a row is worth by the clock."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from inventory import tasks
from inventory.condition import State, condition_of, watches
from inventory.mirror.outage import find_outages
from inventory.models import Cluster, Finding, Watch
from tests.factories import make_cluster

pytestmark = pytest.mark.django_db


def codes() -> list[str]:
    return sorted(Finding.objects.filter(ended_at=None).values_list("code", flat=True))


def ago(**span: float) -> object:
    return timezone.now() - timedelta(**span)


def test_a_cluster_in_step_has_none(cluster: Cluster) -> None:
    find_outages()
    assert codes() == []


def test_a_cluster_that_was_never_reached(db: None) -> None:
    make_cluster("new", synced=False)
    Watch.objects.exclude(kind="cards").update(state="backing-off", reason="refused", trouble_since=ago(minutes=2))
    find_outages()
    assert codes() == ["never-reached"]
    assert "nodes: unreachable since " in Finding.objects.get().text
    assert "(refused)" in Finding.objects.get().text


def test_a_cluster_that_is_slow_to_begin_is_none(db: None) -> None:
    make_cluster("new", synced=False)
    Watch.objects.update(state="backing-off", reason="refused", trouble_since=ago(seconds=5))
    find_outages()
    assert codes() == []


@pytest.mark.parametrize("state", ["watching", "backing-off", "refused"])
def test_a_cluster_that_fell_silent(cluster: Cluster, state: str) -> None:
    silent = {"state": state, "last_event_at": ago(minutes=9), "trouble_since": ago(minutes=9)}
    Watch.objects.exclude(kind="cards").update(**silent)
    find_outages()
    assert codes() == ["cluster-not-reporting"]
    Watch.objects.update(state="watching", last_event_at=timezone.now(), trouble_since=None)
    find_outages()
    assert codes() == []
    assert Finding.objects.get().ended_at is not None


def test_a_cluster_that_nobody_watches_is_found_by_the_schedule(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.watch, "apply_async", lambda *args, **options: None)
    Watch.objects.update(expires_at=ago(minutes=1))
    tasks.dispatch_watchers()
    tasks.dispatch_watchers()
    assert codes() == ["cluster-not-watched"]


def test_the_text_does_not_change_with_each_look(cluster: Cluster) -> None:
    Watch.objects.update(expires_at=ago(minutes=1))
    find_outages()
    before = Finding.objects.get().text
    find_outages()
    assert Finding.objects.get().text == before


def test_since_when_survives_retries_with_other_reasons_and_watchers(cluster: Cluster) -> None:
    began = timezone.now() - timedelta(minutes=20)
    row = Watch.objects.filter(kind="pods")
    row.update(state="backing-off", reason="one", state_since=ago(seconds=1), trouble_since=began)
    assert condition_of(watches().get(kind="pods")).since == began


def test_the_clock_is_the_databases(cluster: Cluster) -> None:
    """A web process whose clock is an hour late must not call a dead watcher alive."""
    Watch.objects.update(expires_at=ago(minutes=1))
    row = watches().get(kind="pods")
    assert abs((row.asked_at - timezone.now()).total_seconds()) < 5  # type: ignore[attr-defined]
    assert condition_of(row).state == State.UNWATCHED


def test_a_takeover_is_no_outage(cluster: Cluster) -> None:
    Watch.objects.update(expires_at=ago(seconds=5))
    find_outages()
    assert codes() == []
    assert condition_of(watches().get(kind="pods")).state == State.WAITING


def test_an_audit_that_found_differences_is_said_until_one_finds_none(cluster: Cluster) -> None:
    pods = Watch.objects.filter(kind="pods")
    pods.update(audited_at=ago(minutes=1), audit_differences=3, audit_note="3 changed in the synced data")
    find_outages()
    assert codes() == ["synced-data-differed"]
    assert Finding.objects.get().text.startswith("pods: 3 differences corrected at ")
    pods.update(audit_differences=0, audit_note="", audit_differences_total=3)
    find_outages()
    assert codes() == []
