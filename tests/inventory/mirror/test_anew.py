"""Another cluster at the same address, a history that goes back, and since when there is trouble."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from inventory.mirror.anew import RECREATED, recognise
from inventory.mirror.follow import Follower
from inventory.models import Cluster, Watch
from kube.client import ApiError
from kube.identity import Identity, goes_back, identity_of
from kube.messages import Relist
from kube.reflector import Reflector
from runtime.leases.lease import Lease, LeaseLost
from tests.factories import make_cluster
from tests.inventory.mirror.objects import pod_json
from tests.kube.scripted import Answer, Hang, ScriptedServer, ok, refusal, stream
from tests.kube.words import bookmark, client, page

Serve = Callable[..., ScriptedServer]
TakeLease = Callable[[str], Lease]


@pytest.mark.parametrize(
    ("before", "now", "back"),
    [
        ("10", "9", True),
        ("9", "10", False),
        ("10", "10", False),
        ("99", "100", False),
        ("", "5", False),
        ("a", "5", False),
    ],
)
def test_versions_are_compared_as_numbers(before: str, now: str, back: bool) -> None:
    assert goes_back(before, now) is back


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (ok({"metadata": {"uid": "u-1"}}), Identity("u-1")),
        (ok({"metadata": {}}), Identity("", "the response for the namespace kube-system has no UID")),
        (Answer(b"<html>"), Identity("", "the response for the namespace kube-system has no UID")),
        (refusal(403, "Forbidden"), Identity("", "no permission to read the namespace kube-system (403 Forbidden)")),
    ],
)
def test_an_identity_or_why_there_is_none(serve: Serve, tmp_path: object, answer: Answer, found: Identity) -> None:
    assert identity_of(client(tmp_path, serve(answer).url)) == found  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_an_outage_is_no_answer(serve: Serve, tmp_path: object, status: int) -> None:
    with pytest.raises(ApiError):
        identity_of(client(tmp_path, serve(refusal(status, "X")).url))  # type: ignore[arg-type]


@pytest.mark.django_db
def test_another_uid_has_every_kind_listed_anew_once() -> None:
    cluster = make_cluster("prod")
    assert not recognise(cluster.pk, Identity("one"))
    assert not recognise(cluster.pk, Identity("one"))
    assert recognise(cluster.pk, Identity("two"))
    assert set(Watch.objects.values_list("resource_version", "token", "relist_reason")) == {("", 1, RECREATED)}
    # The watchers of the other kinds see it too; nothing is begun twice.
    assert not recognise(cluster.pk, Identity("two"))
    assert set(Watch.objects.values_list("token", flat=True)) == {1}
    cluster.refresh_from_db()
    assert (cluster.uid, cluster.recreated_at is not None) == ("two", True)


@pytest.mark.django_db
def test_a_refusal_is_noted_and_does_not_forget_the_uid() -> None:
    cluster = make_cluster("prod")
    recognise(cluster.pk, Identity("one"))
    assert not recognise(cluster.pk, Identity("", "may not be read"))
    cluster.refresh_from_db()
    assert (cluster.uid, cluster.uid_note) == ("one", "may not be read")
    assert recognise(cluster.pk, Identity("two"))


def versioned(number: int) -> Answer:
    return ok({"metadata": {"resourceVersion": str(number)}, "items": []})


def first_list(reflector: Reflector) -> str:  # type: ignore[type-arg]
    reflector.start()
    try:
        for _ in range(400):
            message = reflector.next(0.05)
            if isinstance(message, Relist):
                return message.reason
    finally:
        reflector.stop()
    return ""


@pytest.mark.django_db
def test_the_same_cluster_that_may_be_read_again_is_not_another() -> None:
    """An API server that has just started refuses each question for a moment."""
    cluster = make_cluster("c", held=False)
    recognise(cluster.pk, Identity("one"))
    recognise(cluster.pk, Identity("", "may not be read"))
    assert not recognise(cluster.pk, Identity("one"))
    cluster.refresh_from_db()
    assert (cluster.uid, cluster.uid_note, cluster.recreated_at) == ("one", "", None)


def test_a_history_that_is_shorter_than_what_was_seen_is_listed(serve: Serve, tmp_path: object) -> None:
    from kube.objects import Pod

    server = serve(
        ok({"metadata": {"uid": "u"}}), versioned(40), ok({"metadata": {"uid": "u"}}), page(version=40), Hang
    )
    reflector = Reflector(client(tmp_path, server.url), "/api/v1/pods", Pod, "50", proving=True)  # type: ignore[arg-type]
    assert first_list(reflector) == "the resource version of the cluster decreased"


def test_a_bookmark_that_is_lower_than_what_was_seen_is_listed(serve: Serve, tmp_path: object) -> None:
    from kube.objects import Pod

    server = serve(stream(bookmark(40), Hang), page(version=40), Hang)
    reflector = Reflector(client(tmp_path, server.url), "/api/v1/pods", Pod, "50")  # type: ignore[arg-type]
    assert first_list(reflector) == "the resource version of the cluster decreased"


def test_since_when_there_is_trouble_survives_other_reasons_and_ends_with_a_word(
    lease: TakeLease, serve: Serve, mirror: Callable[..., Follower], fresh: Cluster
) -> None:
    def row() -> Watch:
        return Watch.objects.get(kind="pods", cluster=fresh)

    taken = lease("pods")
    mirror(taken, serve(*[refusal(503, "Busy")] * 3, Hang), lambda: "503" in row().reason)
    began = row().trouble_since
    assert began is not None
    mirror(taken, serve(*[refusal(500, "Broken")] * 3, Hang), lambda: "500" in row().reason)
    assert row().trouble_since == began
    mirror(taken, serve(page(pod_json("a"), version=50), Hang), lambda: row().resource_version == "50")
    assert row().trouble_since is None


def test_who_finds_another_cluster_loses_its_lease_and_all_others_do(
    lease: TakeLease, serve: Serve, tmp_path: object, fresh: Cluster
) -> None:
    import threading

    Cluster.objects.filter(pk=fresh.pk).update(uid="before")
    lease("nodes")
    follower = Follower(
        lease("pods"), client(tmp_path, serve(ok({"metadata": {"uid": "after"}}), Hang).url), threading.Event()
    )  # type: ignore[arg-type]
    with pytest.raises(LeaseLost, match="another cluster"):
        follower.run()
    assert set(Watch.objects.values_list("holder", flat=True)) == {""}
