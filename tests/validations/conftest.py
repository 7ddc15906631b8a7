"""What tests of the validations share: the demo's cluster mirrored once, and clients that are forgotten afterwards."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from django.db.models import QuerySet

from fleetsim import teams
from fleetsim.fleet import Fleet
from fleetsim.server import Server, serve
from gpudash.demo_programs import demo_programs
from inventory.clusters import client_of
from inventory.mirror.follow import Follower, NotListed
from inventory.mirror.lease import acquire, release
from inventory.models import Cluster, Watch
from inventory.models.cluster import OPTIONAL_KINDS, Kind
from inventory.reconcile.reconciler import NodeReconciler
from tests.factories import make_cluster, make_node
from tests.processes import ROOT
from tests.validations.fakecluster import FakeCluster
from validations.lifecycle import clients
from validations.models import Run

START = 1_780_000_000.0


@pytest.fixture
def demo() -> Iterator[Server]:
    """The demo's API server; its time stands still until `fleet.step`."""
    with serve(Fleet(seed=1, now=START, programs=demo_programs()), live=False) as server:
        yield server


@pytest.fixture
def demo_cluster(db: None, settings: Any, demo: Server, tmp_path: Path) -> Iterator[Cluster]:
    """The demo's cluster, mirrored once."""
    settings.VALIDATION_NAMESPACE = next(name for name in teams.NAMESPACES if name.startswith("gpudash-"))
    row = Cluster.objects.create(name="demo", kubeconfig=str(demo.kubeconfig(tmp_path / "config")))
    Watch.objects.bulk_create(Watch(cluster=row, kind=kind) for kind in Kind)
    client = client_of(row)
    for kind in (Kind.NODES, Kind.PODS, *OPTIONAL_KINDS):
        lease = acquire(row.pk, kind)
        assert lease is not None
        with suppress(NotListed) if kind in OPTIONAL_KINDS else nullcontext():  # the demo does not serve all
            Follower(lease, client, threading.Event()).run(once=True)
        release(lease)
    lease = acquire(row.pk, Kind.CARDS)
    assert lease is not None
    NodeReconciler(lease, threading.Event()).run(once=True)
    client.close()
    yield row
    clients.forget(row.pk)


@pytest.fixture(autouse=True)
def one_writer_of_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """In all tests of the validations: whoever else of the product writes `Run.state` fails."""
    update = QuerySet.update

    def watched(rows: QuerySet[Any], **columns: Any) -> int:
        writer = sys._getframe(1).f_code.co_filename
        ours = writer.endswith("validations/lifecycle/moves.py") or f"{ROOT}/tests/" in writer
        # A manager's method calls the queryset's: the frame before that is the writer.
        if writer.endswith("django/db/models/manager.py"):
            writer = sys._getframe(2).f_code.co_filename
            ours = writer.endswith("validations/lifecycle/moves.py") or f"{ROOT}/tests/" in writer
        assert not (rows.model is Run and "state" in columns) or ours, f"{writer} writes Run.state"
        return update(rows, **columns)

    monkeypatch.setattr(QuerySet, "update", watched)


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    with FakeCluster() as server:
        yield server


@pytest.fixture
def prod(db: None, fake: FakeCluster, tmp_path: Path) -> Iterator[Cluster]:
    """A cluster on the scripted server, with a node of four free cards on which the card of a run cannot be chosen."""
    row = make_cluster("prod")
    row.kubeconfig = str(fake.kubeconfig(tmp_path / "fake.config"))
    row.save()
    make_node(row, "gpu-1", "nvidia", 4, loads=(0.0,))
    yield row
    clients.forget(row.pk)
