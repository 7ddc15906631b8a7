"""From the API server to rows, with state and resource version in one transaction, under a lease."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.utils import timezone

from inventory.mirror.follow import Follower, NotListed
from inventory.mirror.lease import acquire, release
from inventory.models import Cluster, Unreadable, Watch
from inventory.models import Pod as PodRow
from kube.messages import Changes
from runtime import bulk
from runtime.leases.lease import Lease, LeaseLost
from tests.inventory.mirror.objects import pod_json
from tests.kube.scripted import Answer, Hang, ScriptedServer, refusal, stream
from tests.kube.words import bookmark, error_line, line, page

TakeLease = Callable[[str], Lease]
Serve = Callable[..., ScriptedServer]
Mirror = Callable[..., Follower]


def names() -> list[str]:
    return sorted(PodRow.objects.values_list("name", flat=True))


def watch() -> Watch:
    return Watch.objects.get(kind="pods", cluster__name="fresh")


def event(kind: str, name: str, version: int, cards: int = 1) -> bytes:
    return line(kind, pod_json(name, cards=cards, version=version))


def synced_from(version: str) -> None:
    """As if a watcher had written everything up to this version."""
    from inventory.mirror.kinds import made_by

    Watch.objects.filter(kind="pods").update(
        resource_version=version, synced_at=timezone.now() - timedelta(hours=1), made_by=made_by()
    )


def test_a_first_list_is_written_with_its_version(lease: TakeLease, serve: Serve, mirror: Mirror) -> None:
    server = serve(page(pod_json("a"), pod_json("web", cards=0), more="m"), page(pod_json("b"), version=50), Hang)
    follower = mirror(lease("pods"), server)
    row = watch()
    assert names() == ["a", "b"]
    assert (row.resource_version, row.objects_seen, row.objects_stored, follower.written) == ("50", 3, 2, 2)
    assert row.synced_at is not None
    assert row.last_event_at is not None


def test_events_are_written_and_the_version_moves_with_them(lease: TakeLease, serve: Serve, mirror: Mirror) -> None:
    chunk = event("ADDED", "b", 51) + event("DELETED", "a", 52)
    server = serve(page(pod_json("a"), version=50), stream(chunk, Hang))
    mirror(lease("pods"), server, lambda: watch().resource_version == "52")
    assert names() == ["b"]
    assert (watch().state, watch().reason) == ("watching", "")


def test_a_bookmark_moves_the_version_and_the_age(lease: TakeLease, serve: Serve, mirror: Mirror) -> None:
    synced_from("10")
    mirror(lease("pods"), serve(stream(bookmark(77), Hang)), lambda: watch().resource_version == "77")
    last = watch().last_event_at
    assert last is not None
    assert timezone.now() - last < timedelta(minutes=1)


def test_a_restart_goes_on_from_the_stored_version_without_a_list(
    lease: TakeLease, serve: Serve, mirror: Mirror
) -> None:
    first = serve(page(pod_json("a"), version=50), Hang)
    taken = lease("pods")
    mirror(taken, first)
    release(taken)
    second = serve(stream(event("ADDED", "b", 51), Hang))
    mirror(lease("pods"), second, lambda: watch().resource_version == "51")
    assert names() == ["a", "b"]
    assert second.asked[0].query["resourceVersion"] == "50"


def test_a_restart_in_the_middle_of_a_list_lists_again(lease: TakeLease, serve: Serve, mirror: Mirror) -> None:
    synced_from("10")
    Watch.objects.filter(kind="pods").update(resource_version="")
    server = serve(page(pod_json("a"), version=60), Hang)
    mirror(lease("pods"), server, lambda: watch().resource_version == "60")
    assert server.asked[0].query == {"limit": "2000"}


def test_rows_that_another_version_of_the_columns_made_are_listed_anew(
    lease: TakeLease, serve: Serve, mirror: Mirror
) -> None:
    synced_from("10")
    Watch.objects.filter(kind="pods").update(made_by="0/older")
    server = serve(page(pod_json("a"), version=60), Hang)
    mirror(lease("pods"), server, lambda: watch().resource_version == "60")
    assert "watch" not in server.asked[0].query


def test_a_410_lists_anew_and_deletes_what_went_meanwhile(lease: TakeLease, serve: Serve, mirror: Mirror) -> None:
    server = serve(
        page(pod_json("a"), pod_json("b"), version=50),
        stream(error_line(410, "Expired"), Hang),
        page(pod_json("b"), version=90),
        Hang,
    )
    mirror(lease("pods"), server, lambda: watch().resource_version == "90")
    assert (names(), watch().relists) == (["b"], 1)


@pytest.mark.parametrize("answer", [Answer(b"<html>"), refusal(403, "Forbidden"), page(kind="NodeList")])
def test_a_list_that_cannot_be_had_deletes_nothing(
    lease: TakeLease, serve: Serve, mirror: Mirror, answer: Answer
) -> None:
    taken = lease("pods")
    mirror(taken, serve(page(pod_json("a"), version=50), Hang))
    server = serve(refusal(410, "Expired"), *[answer] * 20)
    synced_from("50")
    mirror(taken, server, lambda: watch().state in ("refused", "backing-off"))
    assert names() == ["a"]
    assert watch().next_try_at is not None
    assert watch().reason != ""


def test_a_list_that_breaks_off_in_the_middle_deletes_nothing(lease: TakeLease, serve: Serve, mirror: Mirror) -> None:
    taken = lease("pods")
    mirror(taken, serve(page(pod_json("a"), pod_json("b"), version=50), Hang))
    broken = [page(pod_json("c"), more="m"), refusal(500, "InternalError")]
    mirror(taken, serve(refusal(410, "Expired"), *broken * 9), lambda: watch().state == "backing-off")
    assert names() == ["a", "b", "c"]
    assert watch().resource_version == ""


def test_strange_objects_are_named_and_the_rest_goes_on(lease: TakeLease, serve: Serve, mirror: Mirror) -> None:
    strange = pod_json("strange") | {"spec": 5}
    bad = line("MODIFIED", pod_json("also", version=51) | {"status": []})
    server = serve(page(pod_json("a"), strange, None, version=50), stream(bad, event("ADDED", "b", 52), Hang))
    mirror(lease("pods"), server, lambda: watch().resource_version == "52")
    assert names() == ["a", "b"]
    assert sorted(Unreadable.objects.values_list("name", flat=True)) == ["", "also", "strange"]


def test_when_the_rows_cannot_be_written_the_version_stays(
    lease: TakeLease, serve: Serve, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = lease("pods")
    mirror(taken, serve(page(pod_json("a"), version=50), Hang))
    monkeypatch.setattr(bulk, "insert", _fail)
    with pytest.raises(DatabaseError):
        mirror(taken, serve(stream(event("DELETED", "a", 51) + event("ADDED", "b", 52), Hang)), lambda: False)
    assert (names(), watch().resource_version) == (["a"], "50")


def test_when_the_end_of_a_list_cannot_be_written_the_version_stays_empty(
    lease: TakeLease, serve: Serve, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = lease("pods")
    mirror(taken, serve(page(pod_json("a"), version=50), Hang))
    monkeypatch.setattr(bulk, "insert", _fail)  # the mark of the node that lost a pod
    with pytest.raises(DatabaseError):
        mirror(taken, serve(page(version=90), Hang))
    assert (names(), watch().resource_version) == (["a"], "")


def _fail(*args: Any, **options: Any) -> int:
    raise DatabaseError("the disk is full")


def test_who_lost_the_lease_writes_nothing(lease: TakeLease, serve: Serve, mirror: Mirror, fresh: Cluster) -> None:
    old = lease("pods")
    Watch.objects.filter(kind="pods").update(expires_at=timezone.now() - timedelta(seconds=1))
    assert acquire(fresh.id, "pods") is not None
    before = Watch.objects.filter(kind="pods").values().get()
    with pytest.raises(LeaseLost):
        mirror(old, serve(page(pod_json("a"), version=50), Hang))
    assert names() == []
    assert Watch.objects.filter(kind="pods").values().get() == before


def test_who_loses_the_lease_between_two_bundles_writes_the_first_only(
    lease: TakeLease, serve: Serve, mirror: Mirror
) -> None:
    synced_from("10")
    taken = lease("pods")

    def robbed() -> bool:
        if watch().resource_version == "11":
            Watch.objects.filter(kind="pods").update(holder="another", token=99)
        return False

    server = serve(stream(event("ADDED", "a", 11)), stream(event("ADDED", "b", 12), Hang))
    with pytest.raises(LeaseLost):
        mirror(taken, server, robbed)
    assert (names(), watch().resource_version) == (["a"], "11")


def test_a_cluster_that_is_removed_ends_its_watcher(lease: TakeLease, serve: Serve, mirror: Mirror) -> None:
    from inventory import clusters

    synced_from("10")
    taken = lease("pods")

    def removed() -> bool:
        if PodRow.objects.exists():
            clusters.remove(Cluster.objects.get(name="fresh"))
        return False

    server = serve(stream(event("ADDED", "a", 11)), stream(event("ADDED", "b", 12), Hang))
    with pytest.raises(LeaseLost):
        mirror(taken, server, removed)
    assert names() == []


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([refusal(403, "Forbidden", "cannot list pods")], "403 Forbidden: cannot list pods"),
        ([refusal(503, "ServiceUnavailable")] * 9, "503"),
        ([Answer(b"<html>")] * 9, "HTML page"),
    ],
)
def test_once_gives_up_and_says_why(
    lease: TakeLease, serve: Serve, mirror: Mirror, answers: list[Answer], said: str
) -> None:
    with pytest.raises(NotListed, match=said):
        mirror(lease("pods"), serve(*answers))


def test_once_lists_even_when_it_could_go_on(lease: TakeLease, serve: Serve, mirror: Mirror) -> None:
    synced_from("10")
    server = serve(page(pod_json("a"), version=50), Hang)
    mirror(lease("pods"), server)
    assert (names(), "watch" in server.asked[0].query) == (["a"], False)


def test_once_waits_out_a_short_trouble(lease: TakeLease, serve: Serve, mirror: Mirror) -> None:
    mirror(lease("pods"), serve(refusal(429, "TooManyRequests"), page(pod_json("a"), version=50), Hang))
    assert names() == ["a"]


def test_what_waits_is_written_together_however_old_it_is(
    lease: TakeLease, serve: Serve, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A watcher that is late takes what has come meanwhile at once: one by one it would never catch up."""
    taken = lease("pods")
    follower = mirror(taken, serve(page(pod_json("a"), version=50), Hang))
    long_ago = time.monotonic() - 60.0
    pending = [
        Changes([follower.reflector.decoder.event(event("ADDED", name, version))], long_ago, long_ago, str(version))
        for version, name in enumerate("bcd", 51)
    ]
    monkeypatch.setattr(follower.reflector, "next", lambda timeout_s: pending.pop(0) if pending else None)
    before = watch().epoch
    follower._take(pending.pop(0))
    assert names() == ["a", "b", "c", "d"]
    assert (watch().resource_version, watch().epoch) == ("53", before + 1)
