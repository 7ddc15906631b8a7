"""A silence covers what it names, for as long as it says, and ends with what it was for."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from audit.models import Entry
from inventory.models import Cluster, Finding
from notifications import silences
from notifications.matching import silenced
from notifications.models import Silence
from notifications.silences import SilenceDraft
from runtime.clock import database_now
from runtime.scope import Scope, seeing
from tests.factories import make_cluster, make_finding
from validations.planning import Refused

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def at() -> datetime:
    return database_now()


def quiet(at: datetime) -> set[str]:
    return {row.node_name for row in Finding.objects.filter(silenced(at))}


@pytest.mark.parametrize(
    ("what", "covers"),
    [
        ({"node": "gpu-1"}, {"gpu-1"}),
        ({"code": "card-hot"}, {"gpu-2", "gpu-3"}),
        ({"code": "card-hot", "cluster": "other"}, {"gpu-3"}),
        ({"code": "card-hot", "cluster": "prod", "node": "gpu-1"}, set()),
    ],
)
def test_it_covers_what_matches_all_that_it_names(
    cluster: Cluster, at: datetime, what: dict[str, str], covers: set[str]
) -> None:
    other = make_cluster("other")
    make_finding(cluster, node_name="gpu-1")
    make_finding(cluster, "card-hot", "warning", "gpu-2")
    make_finding(other, "card-hot", "warning", "gpu-3")
    silences.silence(SilenceDraft(reason="known", until=at + HOUR, **what))
    assert quiet(at) == covers
    assert quiet(at + HOUR) == set()


def test_an_acknowledgement_ends_with_its_finding(cluster: Cluster, at: datetime) -> None:
    finding, other = (make_finding(cluster, node_name=name) for name in ("gpu-1", "gpu-2"))
    row = silences.acknowledge(finding, "a repair is ordered", at + HOUR, User.objects.create(username="anna"))
    assert quiet(at) == {"gpu-1"}
    assert silences.end_with_findings(at) == 0
    Finding.objects.filter(pk=finding.pk).update(ended_at=at)
    assert silences.end_with_findings(at) == 1
    row.refresh_from_db()
    assert (row.ended_at, row.created_by_name, other.pk != finding.pk) == (at, "anna", True)


def test_it_is_ended_by_hand_once(cluster: Cluster, at: datetime) -> None:
    finding = make_finding(cluster, node_name="gpu-1")
    row = silences.acknowledge(finding, "known", at + HOUR)
    silences.end(row)
    silences.end(row)
    assert quiet(at) == set()
    assert [entry.action for entry in Entry.objects.order_by("pk")] == ["silence-create", "silence-end"]
    assert "known" in str(Entry.objects.order_by("pk")[0].detail)


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        ({"node": "gpu-1", "reason": " "}, "reason"),
        ({"node": "gpu-1", "until": timedelta(seconds=-1)}, "until"),
        ({"node": "gpu-1", "until": timedelta(days=400)}, "until"),
        ({}, "code"),
        ({"cluster": "nowhere", "node": "gpu-1"}, "cluster"),
        ({"node": "n" * 254}, "node"),
    ],
)
def test_what_is_wrong_is_named(cluster: Cluster, at: datetime, draft: dict[str, Any], field: str) -> None:
    until = at + draft.pop("until", HOUR)
    with pytest.raises(Refused) as refused:
        silences.silence(SilenceDraft(**{"reason": "known", "until": until, **draft}))
    assert list(refused.value.problems) == [field]
    assert not Silence.objects.exists()


def test_its_reason_is_seen_by_who_sees_what_it_is_of(cluster: Cluster, at: datetime) -> None:
    other = make_cluster("other")
    for name in ("prod", "other"):
        silences.silence(SilenceDraft(cluster=name, node="gpu-1", reason=name, until=at + HOUR))
    silences.silence(SilenceDraft(cluster="prod", pod="team-b/pod", reason="b", until=at + HOUR))
    with seeing(Scope(frozenset({other.pk}))):
        assert {row.reason for row in Silence.objects.all()} == {"other"}
    with seeing(Scope(namespaces=frozenset({(cluster.pk, "team-a")}))):
        assert {row.reason for row in Silence.objects.all()} == set()
    with seeing(Scope(namespaces=frozenset({(cluster.pk, "team-b")}))):
        assert {row.reason for row in Silence.objects.all()} == {"b"}
