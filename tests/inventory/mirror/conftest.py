"""A cluster that was never listed, its leases, and followers of a scripted server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from inventory.mirror import follow
from inventory.mirror.follow import Follower
from inventory.mirror.kinds import KINDS
from inventory.mirror.lease import acquire
from inventory.mirror.store import Store
from inventory.models import Cluster
from runtime.leases.lease import Lease
from tests.factories import make_cluster
from tests.kube.scripted import PATIENCE_S, ScriptedServer
from tests.kube.words import client


class Until(threading.Event):
    """A stop that is set as soon as a condition holds."""

    def __init__(self, done: Callable[[], bool]) -> None:
        super().__init__()
        self._done, self._end = done, time.monotonic() + PATIENCE_S

    def is_set(self) -> bool:
        assert time.monotonic() < self._end, "it did not come to pass"
        return super().is_set() or self._done()


@pytest.fixture
def fresh(db: None) -> Cluster:
    return make_cluster("fresh", synced=False, held=False)


@pytest.fixture
def store(fresh: Cluster) -> Callable[[str], Store]:  # type: ignore[type-arg]
    """A loaded store of a kind."""

    def make(kind: str) -> Store:  # type: ignore[type-arg]
        made: Store = Store(fresh.id, KINDS[kind])  # type: ignore[type-arg]
        made.load()
        return made

    return make


@pytest.fixture
def lease(fresh: Cluster) -> Callable[[str], Lease]:
    def take(kind: str) -> Lease:
        taken = acquire(fresh.id, kind)
        assert taken is not None
        return taken

    return take


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    with ExitStack() as stack:
        yield lambda *answers: stack.enter_context(ScriptedServer(*answers))


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Follower]:
    """mirror(lease, server, until): follow until the condition holds; without one, until a list is written."""
    monkeypatch.setattr(follow, "COALESCE_S", 0.02)
    monkeypatch.setattr(follow, "IDLE_S", 0.02)

    def run(lease: Lease, server: ScriptedServer, until: Callable[[], bool] | None = None) -> Follower:
        stopped = Until(until or (lambda: False))
        follower = Follower(lease, client(tmp_path, server.url), stopped)
        follower.reflector.proving = False
        follower.reflector._backoff = lambda failures, retry_after_s: 0.001
        follower.run(once=until is None)
        return follower

    return run
