"""An exporter's page by the real API server's proxy of pods, with the role that is shipped, and what is said without it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from exporters.engine.context import Context
from inventory.collect import direct
from inventory.collect.errors import SourceError
from kube.client import Client
from tests.cluster.credentials import grant, grant_in_namespace
from tests.cluster.test_credentials import as_user, shipped_role
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.http_server import Handler, Server
from tests.roles import shipped
from tests.services import Missing, or_skip

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]
PAGE = b'DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-aa",Hostname="elsewhere"} 1000\n'
LABELS = {"app": "nvidia-dcgm-exporter"}


def own_address() -> str:
    """One that the API server sends somebody to: it refuses loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            or_skip(Missing("this host has no address but loopback"))
        return str(probe.getsockname()[0])


class _Exporter(Handler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/metrics" else 404)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)


@contextmanager
def exporter() -> Iterator[int]:
    """An exporter on all addresses of this host; its port."""
    with Server(_Exporter, address=("0.0.0.0", 0)) as server:
        yield server.port


def test_a_page_is_read_with_the_shipped_role_and_refused_without(
    admin: Admin, plane: ControlPlane, tmp_path: Path
) -> None:
    grant(admin, shipped_role(), "direct")
    client = Client(str(as_user(plane, tmp_path, "direct")))
    context = Context(now=0.0)
    with exporter() as port:
        container = {"name": "exporter", "image": "x:4.8.2", "ports": [{"name": "metrics", "containerPort": port}]}
        pod = {
            "kind": "Pod",
            "metadata": {"name": "dcgm", "namespace": "default", "labels": LABELS},
            "spec": {"nodeName": "gpu-1", "containers": [container]},
            "status": {"phase": "Running", "podIP": own_address(), "podIPs": [{"ip": own_address()}]},
        }
        admin.create(pod)
        assert [str(page) for page in direct.find(client)] == ["default/dcgm"]
        with pytest.raises(
            SourceError, match=r"denied: get pods/proxy in default .* Apply deploy/exporters-role\.yaml"
        ):
            direct.read(client, context)
        own = shipped("exporters-role.yaml")[0]
        own["metadata"]["namespace"] = "default"
        grant_in_namespace(admin, own, "direct")
        made = direct.read(client, context)
    [(found, report)] = made.reports
    [card] = report.readings
    assert (found.format.name, card.node, card.uuid) == ("dcgm-exporter", "gpu-1", "GPU-aa")
    assert card.values["memory_used"].value == 1000 << 20
    assert made.missing == []
