"""The real control plane, PostgreSQL and Redis that the tests of this folder share, and the table of faults.

One control plane and one database server for all; each test begins with an empty cluster and empty tables.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from inventory import clusters
from inventory.models import Cluster
from tests import services
from tests.cluster.fleet import Fleet
from tests.cluster.optional_kinds import delete_if_there, start
from tests.controlplane import controlplane
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import Json
from tests.processes import Processes
from tests.services import Missing, Postgres

#: (fault, seconds until the mirror agreed again), for the table at the end.
FAULTS: list[tuple[str, float]] = []


@pytest.fixture(scope="session")
def plane() -> Iterator[ControlPlane]:
    """etcd and the API server."""
    built = all((controlplane.cache() / name).exists() for name in controlplane.BINARIES)
    if not built and shutil.which("go") is None:
        services.or_skip(Missing("no control plane here and no Go to build it (tests/controlplane/README.md)"))
    with services.scratch("controlplane") as folder:
        running = ControlPlane(folder)
        try:
            running.up(("etcd", "apiserver"))
            yield running
        finally:
            running.down()


@pytest.fixture(scope="session")
def database_server() -> Iterator[Postgres]:
    with ExitStack() as stack:
        try:
            server = stack.enter_context(services.postgres())
        except Missing as missing:
            services.or_skip(missing)
        yield server


@pytest.fixture(scope="session")
def broker() -> Iterator[str]:
    with ExitStack() as stack:
        try:
            url = stack.enter_context(services.redis())
        except Missing as missing:
            services.or_skip(missing)
        yield url


@pytest.fixture(scope="session")
def django_db_modify_db_settings(database_server: Postgres) -> None:
    """Tests of this folder use PostgreSQL, so that other processes can share their tables."""
    chosen: dict[str, Any] = connections.settings["default"]
    chosen.update(
        ENGINE="django.db.backends.postgresql",
        NAME=database_server.create("gpudash").rsplit("/", 1)[1],
        USER=services.POSTGRES_USER,
        HOST="127.0.0.1",
        PORT=str(database_server.port),
        OPTIONS={},
        CONN_HEALTH_CHECKS=True,
    )
    chosen["TEST"]["NAME"] = None
    if hasattr(connections._connections, "default"):  # type: ignore[attr-defined]
        del connections["default"]


@pytest.fixture(scope="session")
def admin(plane: ControlPlane) -> Admin:
    return Admin(plane.kubeconfig)


@pytest.fixture
def fleet(admin: Admin, plane: ControlPlane) -> Fleet:
    """An empty cluster to fill; what a test before this one has stopped runs again."""
    plane.up(("etcd", "apiserver"))
    for namespace in ("kube-system", "default"):
        admin.ensure_namespace(namespace)
    admin.delete_all()
    return Fleet(admin)


@pytest.fixture
def processes(tmp_path: Path, database_server: Postgres, transactional_db: None) -> Iterator[Processes]:
    """To start gpudash's processes with. They end before the tables are emptied."""
    url = database_server.url(str(connections["default"].settings_dict["NAME"]))
    started = Processes(tmp_path, url)
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture
def team(processes: Processes, broker: str) -> Processes:
    """The same with a broker: what a team's deployment runs."""
    import redis

    with redis.Redis.from_url(broker) as client:
        client.flushall()
    processes.environment["GPUDASH_BROKER_URL"] = broker
    return processes


@pytest.fixture
def cluster(fleet: Fleet, plane: ControlPlane, transactional_db: None) -> Cluster:
    """The cluster's row, with the administrator's credentials."""
    return clusters.add("test", str(plane.kubeconfig))


@pytest.fixture
def watched(cluster: Cluster, processes: Processes) -> Cluster:
    """The same with its watchers running (`gpudash sync`)."""
    processes.manage("sync")
    return cluster


@pytest.fixture
def fault() -> Callable[[str, float], None]:
    """Note how long a fault took to heal."""
    return lambda name, seconds: FAULTS.append((name, seconds))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """A failure shows what the processes were doing, and the ends of their logs."""
    outcome: Any = yield
    report = outcome.get_result()
    started = getattr(item, "funcargs", {}).get("processes")
    if report.failed and isinstance(started, Processes):
        started.stacks()
        report.sections.append(("logs of the processes", started.tail()))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if FAULTS:
        terminalreporter.section("faults: seconds until mirror = cluster again")
        for name, seconds in FAULTS:
            terminalreporter.write_line(f"{seconds:8.1f}  {name}")
        if path := os.environ.get("GPUDASH_FAULTS_FILE"):
            Path(path).write_text("".join(f"{name}\t{seconds:.1f}\n" for name, seconds in FAULTS))


@pytest.fixture
def soon(cluster: Cluster, processes: Processes) -> Cluster:
    start(processes)
    return cluster


@pytest.fixture
def objects(fleet: Fleet, admin: Admin) -> Iterator[Callable[..., list[Json]]]:
    """objects(thing, …) makes these; they are gone after the test."""
    made: list[Json] = []

    def create(*things: Json) -> list[Json]:
        found = []
        for thing in things:
            found.append(admin.create(thing))
            made.append(found[-1])
            if thing["kind"] == "Node":
                admin.patch(found[-1], {"spec": {"taints": None}})
        return found

    yield create
    for thing in reversed(made):
        if thing["kind"] in ("ConfigMap", "CustomResourceDefinition", "ResourceSlice"):
            delete_if_there(admin, thing)
    admin.delete_all()
