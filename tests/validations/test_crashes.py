"""Any process may die at any point: nothing is lost, doubled or left. A death is an exception that nothing catches.

Two kinds of places: before or after any call to the API server, and at any writing statement of the database (whose transaction is
then undone, as the database does it when the connection goes away).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from django.db import connection

from inventory.clusters import client_of
from inventory.models import Cluster
from runtime.clock import database_now
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import PASSED, wish
from validations.installation import instance_name
from validations.lifecycle.claim import claim
from validations.lifecycle.cluster_api import ClusterApi
from validations.lifecycle.create import create_job
from validations.lifecycle.launching import acquire
from validations.lifecycle.mine import Mine
from validations.lifecycle.reconcile import reconcile
from validations.maker import maker
from validations.models import Launcher, Run, RunStep
from validations.requests import request_cancel, request_run

pytestmark = pytest.mark.sweep

_WRITES = ("INSERT", "UPDATE", "DELETE")


class Death(BaseException):
    """The process is killed here."""


class Fate:
    """Counts the places at which a process could die, and lets it die at one of them (None: never)."""

    def __init__(self, at: int | None) -> None:
        self.at, self.passed = at, 0

    def place(self) -> None:
        self.passed += 1
        if self.passed == self.at:
            raise Death

    def statement(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(_WRITES):
            self.place()
        return execute(sql, params, many, context)


class MortalClient:
    """The client, with a place to die before and after each call."""

    def __init__(self, client: Any, fate: Fate) -> None:
        self.client, self.fate = client, fate

    def get(self, *args: Any, **more: Any) -> bytes:
        self.fate.place()
        answer: bytes = self.client.get(*args, **more)
        return answer

    def send(self, *args: Any, **more: Any) -> bytes:
        self.fate.place()
        answer: bytes = self.client.send(*args, **more)
        self.fate.place()
        return answer

    @contextmanager
    def stream(self, *args: Any, **more: Any) -> Iterator[Any]:
        self.fate.place()
        with self.client.stream(*args, **more) as stream:
            yield stream


def one_process(cluster: Cluster, client: Any, fate: Fate, work: Callable[[ClusterApi], None]) -> bool:
    """Whether it lived. Its lease runs out, as that of a killed process does."""
    api = ClusterApi(MortalClient(client, fate), "gpudash-validations", instance_name())
    try:
        with connection.execute_wrapper(fate.statement):
            work(api)
    except Death:
        return False
    finally:
        Launcher.objects.update(expires_at=None)
    return True


def one_pass(cluster: Cluster, client: Any, fate: Fate) -> bool:
    def work(api: ClusterApi) -> None:
        lease = acquire(cluster.pk)
        assert lease is not None
        reconcile(lease, api)

    return one_process(cluster, client, fate, work)


def kubelet(fake: FakeCluster) -> None:
    """Every Job's pod takes its next step: waiting, running, ended."""
    for name in list(fake.jobs):
        state = _state(fake, name)
        if state == "":
            fake.pod(name, node="gpu-1", waiting="ContainerCreating")
        elif state == "waiting":
            fake.logs[name] = PASSED[:80]
            fake.pod(name, node="gpu-1", running=True)
        elif state == "running":
            fake.end(name, PASSED)


def _state(fake: FakeCluster, name: str) -> str:
    rows = fake.pods.get(name, {}).get("status", {}).get("containerStatuses") or [{"state": {}}]
    return next(iter(rows[0]["state"]), "")


def check_all_is_well(fake: FakeCluster, runs: list[Run], verdict: str = "passed") -> None:
    assert fake.jobs == {}
    assert sorted(fake.created) == sorted({*fake.created})
    for run in runs:
        run.refresh_from_db()
        assert (run.state, run.verdict, run.job_removed) == ("ended", verdict, True), run.reasons
        steps = list(RunStep.objects.filter(run=run).values_list("state", flat=True))
        assert len(steps) == len(set(steps))


def play(cluster: Cluster, client: Any, fake: FakeCluster, at: int | None, run: Run) -> bool:
    """A whole life with one death, at the place of this number. Whether there was such a place."""
    fate = Fate(at)
    for _ in range(12):
        one_pass(cluster, client, fate)
        kubelet(fake)
        run.refresh_from_db()
        if run.job_removed and not run.active:
            break
    return at is not None and fate.passed >= at


def test_a_death_at_any_place_of_a_life_harms_nothing(prod: Cluster, fake: FakeCluster) -> None:
    client, at, runs = client_of(prod), 0, []
    died = True
    while died:
        at += 1
        run, _ = request_run(wish())
        runs.append(run)
        died = play(prod, client, fake, at, run)
        check_all_is_well(fake, [run])
    assert at > 30, "the life has fewer places to die than are known of"
    assert len(fake.created) == len(runs)


def test_a_death_at_any_place_of_a_launch_makes_one_job(prod: Cluster, fake: FakeCluster) -> None:
    client, at, died = client_of(prod), 0, True
    while died:
        at += 1
        run, _ = request_run(wish())
        before = len(fake.created)

        def launch(api: ClusterApi, run: Run = run) -> None:
            now = database_now()
            if claim(run, now):
                create_job(run, api, Mine(frozenset((maker(),))), now)

        died = not one_process(prod, client, Fate(at), launch)
        play(prod, client, fake, None, run)
        check_all_is_well(fake, [run])
        assert len(fake.created) == before + 1
    assert at > 5


def test_a_death_at_any_place_of_a_cancel_leaves_no_job(prod: Cluster, fake: FakeCluster) -> None:
    client, at, died = client_of(prod), 0, True
    while died:
        at += 1
        run, _ = request_run(wish())
        one_pass(prod, client, Fate(None))
        kubelet(fake)
        request_cancel(run, None)
        died = play(prod, client, fake, at, run)
        check_all_is_well(fake, [run], "errored")


@pytest.mark.parametrize("seed", [1, 2])
def test_a_hundred_launches_with_deaths_at_random(prod: Cluster, fake: FakeCluster, settings: Any, seed: int) -> None:
    settings.MAX_RUNS_PER_CLUSTER = 40
    chance, client = Random(seed), client_of(prod)
    for number in range(100):
        make_node(prod, f"node-{number}", "nvidia-count", 1, loads=(0.0,))
    runs = [request_run(wish(node=f"node-{number}"))[0] for number in range(100)]
    for _ in range(400):
        one_pass(prod, client, Fate(chance.randrange(1, 400)))
        kubelet(fake)
        if not Run.objects.filter(job_removed=False).exists():
            break
    check_all_is_well(fake, runs)
    assert len(fake.created) == 100
