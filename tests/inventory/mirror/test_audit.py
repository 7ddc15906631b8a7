"""An audit finds what the mirror has wrong, mends it and says so; and it finds nothing where nothing is wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from inventory.mirror.follow import Follower
from inventory.mirror.kinds import KINDS
from inventory.mirror.lease import release
from inventory.mirror.store import Store
from inventory.mirror.values import stored_digest
from inventory.models import DirtyNode, Node, Watch
from inventory.models import Pod as PodRow
from runtime.leases.lease import Lease
from tests.inventory.mirror.objects import node, plugin, pod, pod_json
from tests.kube.scripted import Hang, ScriptedServer, ok, stream
from tests.kube.words import bookmark, line, page

MakeStore = Callable[[str], Store[Any]]
TakeLease = Callable[[str], Lease]
Serve = Callable[..., ScriptedServer]
Mirror = Callable[..., Follower]


def metadata(*things: dict[str, Any], version: int = 50) -> Any:
    """The answer to a list of metadata."""
    items = [{"metadata": thing["metadata"]} for thing in things]
    return ok({"kind": "PartialObjectMetadataList", "metadata": {"resourceVersion": str(version)}, "items": items})


def watch() -> Watch:
    return Watch.objects.get(kind="pods")


def audited() -> bool:
    return watch().audited_at is not None


class Spoilt(threading.Event):
    """Done when the condition holds; spoils something once, as soon as the list is written, and only then the audits begin."""

    def __init__(self, follower: Callable[[], Follower], spoil: Callable[[Follower], None], done: Callable[[], bool]):
        super().__init__()
        self._follower, self._spoil, self._done, self._spoilt = follower, spoil, done, False
        self._end = time.monotonic() + 60

    def is_set(self) -> bool:
        assert time.monotonic() < self._end, "it did not come to pass"
        if not self._spoilt and watch().resource_version:
            self._spoilt = True
            self._spoil(self._follower())
            self._follower().audit.due_at = time.monotonic()
        return super().is_set() or (self._spoilt and self._done())


@pytest.fixture
def follow(
    lease: TakeLease, mirror: Mirror, tmp_path: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Follower]:
    """Follow a server until the condition holds, spoiling something after the list."""
    from tests.kube.words import client

    monkeypatch.setattr("inventory.mirror.follow.COALESCE_S", 0.02)
    monkeypatch.setattr("inventory.mirror.follow.IDLE_S", 0.02)

    def run(server: ScriptedServer, spoil: Callable[[Follower], None], done: Callable[[], bool] = audited) -> Follower:
        made: list[Follower] = []
        made.append(Follower(lease("pods"), client(tmp_path, server.url), Spoilt(lambda: made[0], spoil, done)))
        settings.AUDIT_S = 0.01
        made[0].reflector.proving = False
        made[0].run()
        return made[0]

    return run


Follow = Callable[..., Follower]


def nothing(follower: Follower) -> None:
    pass


def test_the_columns_of_each_kind_are_those_of_its_rows_and_give_their_digest(store: MakeStore) -> None:
    for kind, thing in (("nodes", node("n")), ("pods", pod("p", created="x")), ("daemonsets", plugin())):
        made = store(kind)
        row = KINDS[kind].row(thing, made.context)
        assert row is not None
        assert tuple(row) == KINDS[kind].columns
        made.apply([("ADDED", thing, None)])
        ((digest, *values),) = KINDS[kind].model._default_manager.values_list("digest", *KINDS[kind].columns)
        assert stored_digest(values) == digest


def test_a_pod_that_asks_for_several_resources_keeps_its_digest_in_every_database(store: MakeStore) -> None:
    value = pod("wide")
    assert value.spec is not None
    assert value.spec.containers is not None
    assert value.spec.containers[0].resources is not None
    value.spec.containers[0].resources.limits = {"nvidia.com/gpu": "1", "amd.com/gpu": "2", "nvidia.com/mig-1g.5gb": 1}
    store("pods").apply([("ADDED", value, None)])
    ((digest, *values),) = PodRow.objects.values_list("digest", *KINDS["pods"].columns)
    assert stored_digest(values) == digest


def test_where_nothing_differs_it_says_when_and_nothing_else(serve: Serve, follow: Follow) -> None:
    a, web = pod_json("a"), pod_json("web", cards=0)
    server = serve(page(a, web, version=50), stream(bookmark(51), Hang), metadata(a, web))
    follow(server, nothing)
    assert (watch().audit_differences, watch().audit_note, watch().relists) == (0, "", 0)
    assert "PartialObjectMetadataList" in server.asked[2].headers["Accept"]


def test_rows_that_were_changed_deleted_or_added_by_hand_are_mended(serve: Serve, follow: Follow) -> None:
    a, b, c = (pod_json(name) for name in "abc")
    served = {"a": a, "b": b}
    server = serve(page(a, b, c, version=50), stream(bookmark(51), Hang), metadata(a, b, c), *map(ok, served.values()))

    def spoil(follower: Follower) -> None:
        PodRow.objects.filter(name="a").update(node_name="elsewhere")
        PodRow.objects.filter(name="b").delete()
        row = PodRow.objects.get(name="c")
        row.pk, row.uid, row.name = None, "uid-nobody", "nobody"
        row.save()
        DirtyNode.objects.all().delete()

    follow(server, spoil)
    assert dict(PodRow.objects.values_list("name", "node_name")) == {"a": "gpu-1", "b": "gpu-1", "c": "gpu-1"}
    assert (watch().audit_differences, watch().audit_differences_total) == (3, 3)
    assert watch().audit_note == "1 changed in the synced data, 1 missing in the synced data, 1 only in the synced data"
    assert set(DirtyNode.objects.values_list("node_name", flat=True)) == {"elsewhere", "gpu-1"}


def test_objects_that_the_watcher_missed_are_mended(serve: Serve, follow: Follow) -> None:
    a, b, gone = (pod_json(name) for name in ("a", "b", "gone"))
    newer, added = pod_json("b", node="gpu-2", version=7), pod_json("added")
    server = serve(
        page(a, b, gone, version=50), stream(bookmark(51), Hang), metadata(a, newer, added), ok(newer), ok(added)
    )
    follow(server, nothing)
    assert dict(PodRow.objects.values_list("name", "node_name")) == {"a": "gpu-1", "b": "gpu-2", "added": "gpu-1"}
    assert watch().audit_note == "1 deleted from the cluster, 1 not received, 1 received in another version"


def test_what_events_touch_meanwhile_is_no_difference(serve: Serve, follow: Follow) -> None:
    """The list is ahead of the watch: nothing is judged before the watch has come as far."""
    a, b = pod_json("a"), pod_json("b")
    newer, added, listed = pod_json("a", version=60), pod_json("c", version=61), threading.Event()
    events = (line("MODIFIED", newer), line("DELETED", b), line("ADDED", added), bookmark(62))
    server = serve(page(a, b, version=50), stream(listed, *events, Hang), metadata(newer, added, version=62))
    threading.Thread(target=lambda: (server.wait_for(3), listed.set()), daemon=True).start()
    follow(server, nothing)
    assert (watch().audit_differences, watch().audit_note) == (0, "")
    assert set(PodRow.objects.values_list("name", flat=True)) == {"a", "c"}


def test_many_differences_are_mended_by_listing_anew(
    serve: Serve, follow: Follow, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr("inventory.mirror.audit.MOST", 1)
    a, b = pod_json("a"), pod_json("b")
    server = serve(page(a, b, version=50), stream(bookmark(51), Hang), metadata(a, b), page(a, b, version=70), Hang)

    def done() -> bool:
        return watch().resource_version == "70"

    def spoil(_: Follower) -> None:
        PodRow.objects.update(node_name="elsewhere")
        settings.AUDIT_S = 3600.0  # another audit would take the answer that is for the list

    follow(server, spoil, done)
    assert set(PodRow.objects.values_list("node_name", flat=True)) == {"gpu-1"}
    assert (watch().audit_differences, watch().relists) == (2, 1)


def test_a_watcher_that_went_on_from_a_stored_version_lists_anew_first(serve: Serve, follow: Follow) -> None:
    a = pod_json("a")
    serve_first = serve(page(a, version=50), stream(bookmark(51), Hang), metadata(a))
    follower = follow(serve_first, nothing)
    release(follower.lease)
    Watch.objects.update(audited_at=None)
    again = serve(stream(bookmark(60), Hang), page(a, version=70), stream(Hang), metadata(a, version=70))
    follow(again, nothing)
    assert ["watch" in asked.query for asked in again.asked] == [True, False, True, False]
    assert (watch().relists, watch().audit_differences) == (1, 0)


def test_a_list_that_fails_says_nothing(serve: Serve, follow: Follow) -> None:
    from tests.kube.scripted import refusal

    a = pod_json("a")
    server = serve(page(a, version=50), stream(bookmark(51), Hang), refusal(410, "Expired"))
    ended: list[bool] = []

    def done() -> bool:
        return len(server.asked) >= 3 and (ended.append(True) or len(ended) > 5)

    follow(server, nothing, done)
    assert watch().audited_at is None
    assert not Node.objects.exists()
