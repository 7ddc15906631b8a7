"""One host for all tests of this folder, and a real cluster in its network.

The tests are chapters: each goes on from the one before.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import services
from tests.cluster_runs.kubelet import Kubelet, Script
from tests.controlplane import controlplane
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.services import Missing
from tests.team.host import Host
from tests.team.page import Step
from tests.validations.recorded import PASSED
from tests.wheel import build

NAMESPACE = "gpudash-validations"
WHEELS = "/srv/wheels"
HERE = Path(__file__).parent
_FETCHES = re.compile(r"\bapt-get\b|\bpip install\b")


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    """Booted, with the wheel and kubectl, and nothing of gpudash installed."""
    built = all((controlplane.cache() / name).exists() for name in controlplane.BINARIES)
    if not built and shutil.which("go") is None:
        services.or_skip(Missing("no control plane here and no Go to build it (tests/controlplane/README.md)"))
    controlplane.build()
    with services.scratch("team") as folder:
        build.wheel(folder / "wheels")
        binds = {folder / "wheels": WHEELS, controlplane.cache() / "kubectl": "/usr/local/bin/kubectl"}
        try:
            running = Host(binds)
        except Missing as missing:
            services.or_skip(missing)
        running.enter_network()
        try:
            yield running
        finally:
            running.close()


@pytest.fixture(scope="session")
def plane(host: Host) -> Iterator[ControlPlane]:
    """A whole control plane that the host reaches; kubectl there is its administrator's."""
    with services.scratch("team-plane") as folder:
        running = ControlPlane(folder)
        try:
            running.up(("etcd", "apiserver", "scheduler", "controllers"))
            host.run("mkdir -p /root/.kube")
            config = running.kubeconfig.read_text()
            authority = (running.dir / "certs" / "apiserver.crt").read_text()
            host.write("/root/.kube/ca.crt", authority)
            host.write(
                "/root/.kube/config", config.replace(str(running.dir / "certs" / "apiserver.crt"), "/root/.kube/ca.crt")
            )
            yield running
        finally:
            running.down()


@pytest.fixture(scope="session")
def admin(plane: ControlPlane) -> Admin:
    return Admin(plane.kubeconfig)


@pytest.fixture(scope="session")
def kubelet(admin: Admin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubelet]:
    playing = Kubelet(admin, tmp_path_factory.mktemp("kubelet"), NAMESPACE, Script(PASSED))
    yield playing
    playing.close()


def follow(host: Host, steps: list[Step], answers: dict[str, str] | None = None, folder: str = "/root") -> None:
    """Carry the steps out one by one; what the page shows must be what is printed. answers: part of a command → standard input."""
    for step in steps:
        given = next((text for part, text in (answers or {}).items() if part in step.command), "")
        started = time.monotonic()
        printed = host.run(step.command, given, registries=bool(_FETCHES.search(step.command)), folder=folder)
        _write_down(step.command, printed, time.monotonic() - started)
        assert step.agrees(printed), f"$ {step.command}\nThe page shows:\n{step.shown}\nIt printed:\n{printed}"


def _write_down(command: str, printed: str, seconds: float) -> None:
    """Into the file that GPUDASH_TEAM_TRANSCRIPT names: what a new team types, sees and waits for."""
    if path := os.environ.get("GPUDASH_TEAM_TRANSCRIPT"):
        with Path(path).open("a") as transcript:
            transcript.write(f"[{seconds:5.1f} s] $ {command}\n{printed}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """A failure shows what the services wrote."""
    outcome: Any = yield
    report = outcome.get_result()
    host = getattr(item, "funcargs", {}).get("host")
    if report.failed and isinstance(host, Host):
        report.sections.append(("journal of the services", host.journal()))
