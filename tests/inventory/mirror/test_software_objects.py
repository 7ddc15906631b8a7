"""Objects that set up software: when it becomes known that there are none, the software is judged by that."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from inventory.mirror.follow import Follower, NotListed
from inventory.models import Cluster, DirtyNode, SoftwareObject, Watch
from inventory.models.software import CLUSTER_SOFTWARE
from runtime.leases.lease import Lease
from tests.kube.scripted import Hang, ScriptedServer, refusal
from tests.kube.words import page

TakeLease = Callable[[str], Lease]
Serve = Callable[..., ScriptedServer]
Mirror = Callable[..., Follower]


def judged() -> int:
    return DirtyNode.objects.filter(stack=CLUSTER_SOFTWARE).count()


def test_a_first_list_without_any_tells_the_reconciler(lease: TakeLease, serve: Serve, mirror: Mirror) -> None:
    taken = lease("deployments")
    with pytest.raises(NotListed, match="403"):
        mirror(taken, serve(refusal(403, "Forbidden", "cannot list deployments")))
    row = Watch.objects.get(kind="deployments", cluster__name="fresh")
    assert (row.state, judged()) == ("refused", 0)
    assert "cannot list deployments" in row.reason
    mirror(taken, serve(page(kind="DeploymentList", version=50), Hang))
    assert judged() == 1, "that there is none was not known"
    mirror(taken, serve(page(kind="DeploymentList", version=51), Hang))
    assert judged() == 1, "it was known"


def test_a_list_of_pods_alone_says_nothing_of_it(lease: TakeLease, serve: Serve, mirror: Mirror) -> None:
    mirror(lease("pods"), serve(page(version=50), Hang))
    assert judged() == 0


def test_two_kinds_may_have_objects_of_one_uid(fresh: Cluster) -> None:
    """Where a tool makes names of them: the API server gives each a UID of its own."""
    for kind in ("deployments", "services"):
        SoftwareObject.objects.create(cluster=fresh, uid="u", kind=kind, name="n", facts="{}", digest=0)
    assert SoftwareObject.objects.count() == 2
