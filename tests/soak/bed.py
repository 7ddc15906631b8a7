"""The installation that is soaked: every part real, and everything gone afterwards but the logs.

One control plane is two clusters to gpudash: "near" is reached directly and takes validations, "far" over a line that can lose
packets (tests/lossy.py). The services run with the commands of deploy/systemd and the settings of docs/team.md, nginx with
deploy/nginx.conf.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests import services
from tests.controlplane import controlplane
from tests.lossy import Lossy
from tests.processes import ROOT, Processes
from tests.services import Missing, Postgres, free_port
from tests.soak import exporters
from tests.soak.api import PatientAdmin
from tests.soak.credentials import ServiceToken, apply_roles
from tests.soak.kubelet import PatientKubelet
from tests.soak.parts import Part, Supervisor
from tests.soak.requests import Site
from tests.soak.servers import HOST, AuditedPlane, Nginx, Redis

NEAR, FAR = "near", "far"
CLUSTERS = (NEAR, FAR)
NAMESPACE = "gpudash-validations"
#: Service (deploy/systemd) → how many of it.
SERVICES = {"web": 2, "watch": 2, "launch": 2, "tasks": 2, "usage": 1, "schedule": 1}
QUEUES = ("default", "launch", "watch", "usage", "unacked")


class Bed:
    """All parts. `folder` keeps the logs; `work` is thrown away."""

    def __init__(self, folder: Path, work: Path, postgres: Postgres) -> None:
        self.folder, self.work, self.postgres = folder, work, postgres
        self.logs = folder / "logs"
        self.logs.mkdir()
        self.in_use = folder / "in_use"
        self.in_use.mkdir()
        self.redis = Redis(work)
        self.plane = AuditedPlane(work / "plane")
        self.database_url = postgres.create("gpudash")
        self.ports = [free_port() for _ in range(SERVICES["web"])]
        self.environment = self._environment()
        self.supervisor = Supervisor(list(self._parts()))

    def _environment(self) -> dict[str, str]:
        mine = {name: value for name, value in os.environ.items() if not name.startswith(("GPUDASH_", "DJANGO_"))}
        return mine | {
            "GPUDASH_ENV": "production",
            "GPUDASH_ENV_FILE": "",
            "GPUDASH_SECRET_KEY": "for-the-soak-only-" + "k" * 50,
            "GPUDASH_ALLOWED_HOSTS": HOST,
            "GPUDASH_BEHIND_PROXY": "true",
            "GPUDASH_TRUSTED_PROXY": "127.0.0.1",
            "GPUDASH_NOTIFY_ALLOW": "127.0.0.1",
            "GPUDASH_DATABASE_URL": self.database_url,
            "GPUDASH_BROKER_URL": self.redis.url,
            "GPUDASH_DATA_DIR": str(self.work / "data"),
            "GPUDASH_STATIC_ROOT": str(self.work / "static"),
            "GPUDASH_LOG_FORMAT": "text",
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": str(Path(__file__).parent / "inside"),
            "GPUDASH_SOAK_IN_USE": str(self.in_use),
        }

    def _parts(self) -> Iterator[Part]:
        for role, count in SERVICES.items():
            for number in range(1, 1 + count):
                name = f"{role}-{number}" if count > 1 else role
                port = self.ports[number - 1] if role == "web" else 0
                command = unit_command(role, number, port, self.work / "data")
                yield Part(name, role, command, self.environment, self.logs / f"{name}.log")

    @property
    def parts(self) -> list[Part]:
        return self.supervisor.parts

    def start_servers(self, stack: ExitStack) -> None:
        """Everything that gpudash needs, filled as far as docs/team.md says."""
        self.redis.start()
        stack.callback(self.redis.stop)
        stack.callback(self.plane.down)
        self.plane.up(("etcd", "apiserver", "scheduler", "controllers"))
        self.line = Lossy(self.plane.port("apiserver"))
        stack.callback(self.line.close)
        self.admin = PatientAdmin(self.plane.kubeconfig)
        apply_roles(self.plane.kubeconfig)
        self.tokens = self._tokens()
        self.kubelet = PatientKubelet(self.admin, self.work, NAMESPACE)
        stack.callback(self.kubelet.close)
        self.exporters, self.prometheus_url = stack.enter_context(exporters.measured())
        self.nginx = Nginx(self.work / "nginx", self.ports)
        self.nginx.start()
        stack.callback(self.nginx.stop)

    @property
    def site(self) -> Site:
        return Site(self.nginx.port, str(self.nginx.certificate))

    def _tokens(self) -> dict[str, ServiceToken]:
        """Use → token."""
        authority = str(self.plane.dir / "certs" / "apiserver.crt")
        near, far = (f"https://127.0.0.1:{port}" for port in (self.plane.port("apiserver"), self.line.port))
        uses = (
            *((f"gpudash-{role}", NEAR, near) for role in ("watcher", "launcher", "quarantine")),
            ("gpudash-watcher", FAR, far),
        )
        return {
            f"{account} of {use}": ServiceToken(self.admin, account, use, server, authority, self.work)
            for account, use, server in uses
        }

    def install(self) -> None:
        """Tables, static files and the two clusters."""
        installing = Processes(self.logs, self.database_url)
        installing.environment = self.environment
        installing.call("migrate", "--noinput")
        installing.call("collectstatic", "--noinput")
        watchers = [str(self.tokens[f"gpudash-watcher of {name}"].kubeconfig) for name in CLUSTERS]
        launcher = ["--launcher-kubeconfig", str(self.tokens[f"gpudash-launcher of {NEAR}"].kubeconfig)]
        for name, kubeconfig in zip(CLUSTERS, watchers, strict=True):
            # What the cards of "far" use is not read: it is the same ones.
            more = [*launcher, "--prometheus", self.prometheus_url] if name == NEAR else []
            installing.call("cluster", "add", name, "--kubeconfig", kubeconfig, *more)
        marker = str(self.tokens[f"gpudash-quarantine of {NEAR}"].kubeconfig)
        installing.call("cluster", "set", NEAR, "--quarantine-kubeconfig", marker)

    def set_up_django(self) -> None:
        """This process reads the tables too, to compare them with the cluster."""
        os.environ.update({name: value for name, value in self.environment.items() if name.startswith("GPUDASH_")})
        os.environ["DJANGO_SETTINGS_MODULE"] = "gpudash.settings"
        import django

        django.setup()


def unit_command(role: str, number: int, port: int, data: Path) -> list[str]:
    """`ExecStart` of a service, for this machine and as one of several."""
    text = (ROOT / "deploy" / "systemd" / f"gpudash-{role}.service").read_text()
    found = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"gpudash-{role}.service has no ExecStart")
    line = (
        found[1].replace("/opt/gpudash/venv/bin/gpudash", f"{sys.executable} {ROOT / 'manage.py'}").replace("%%", "%")
    )
    # Several run on this host, and their probes are not asked.
    line = (
        re.sub(r" --probes=\S+", "", line)
        .replace("127.0.0.1:8000", f"127.0.0.1:{port}")
        .replace("/var/lib/gpudash/", f"{data}/")
    )
    command = line.split()
    return [*command, f"--hostname={role}-{number}@%h"] if "worker" in command else command


@contextmanager
def bed(folder: Path) -> Iterator[Bed]:
    """A running installation with empty tables. Raises Missing where a program is not there."""
    if not all((controlplane.cache() / name).exists() for name in controlplane.BINARIES) and shutil.which("go") is None:
        raise Missing("no control plane here and no Go to build it (tests/controlplane/README.md)")
    with ExitStack() as stack:
        work = stack.enter_context(services.scratch("soak"))
        postgres = stack.enter_context(services.postgres())
        (work / "data").mkdir(mode=0o700)
        made = Bed(folder, work, postgres)
        made.start_servers(stack)
        made.install()
        made.set_up_django()
        stack.callback(made.supervisor.stop)
        made.supervisor.start()
        yield made
