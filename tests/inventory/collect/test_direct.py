"""Exporters' pages through the API server's proxy of pods: which are found, what is read, and what is said where one is not."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from exporters.engine.context import Context
from inventory.collect import collector, direct, lease, sources
from inventory.collect.errors import SourceError
from inventory.collect.prometheus import BadAddress
from inventory.models import Card, CardUsage, Cluster, UsageSource
from inventory.models.usage import SourceState
from tests.factories import make_node
from tests.kube.scripted import Answer, Asked, ScriptedServer, stream
from tests.kube.words import client, page_body
from wording.said import Said, restored

CONTEXT = Context(now=0.0)
DCGM = {"app": "nvidia-dcgm-exporter"}


def exporter(name: str, node: str, labels: Mapping[str, str] = DCGM, **more: Any) -> dict[str, Any]:
    ports = [{"name": "metrics", "containerPort": 9400}]
    made: dict[str, Any] = {
        "metadata": {"name": name, "namespace": "gpu-operator", "labels": dict(labels)},
        "spec": {"nodeName": node, "containers": [{"image": "nvcr.io/nvidia/k8s/dcgm-exporter:4.8.2", "ports": ports}]},
        "status": {"phase": "Running"},
    }
    return made | more


class Api(ScriptedServer):
    """Lists pods by a label, and has a page for some of them. Whatever it has no page for is refused by `status`."""

    def __init__(self, pods: list[dict[str, Any]], pages: Mapping[str, bytes | Answer], status: int = 403) -> None:
        self.pods, self.pages, self.status = pods, dict(pages), status
        super().__init__()

    def take(self, asked: Asked) -> Answer:
        with self._changed:
            self.asked.append(asked)
        if asked.path == "/api/v1/pods":
            name, _, value = asked.query["labelSelector"].partition("=")
            return Answer(page_body(*[pod for pod in self.pods if pod["metadata"]["labels"].get(name) == value]))
        found = self.pages.get(
            asked.path.split("/")[6], Answer(b'{"reason": "Forbidden", "message": "no"}', self.status)
        )
        return found if isinstance(found, Answer) else Answer(found)

    def proxied(self) -> list[str]:
        return sorted(asked.path for asked in self.asked if "/proxy/" in asked.path)


@pytest.fixture
def serve_api() -> Iterator[Any]:
    servers: list[Api] = []

    def start(*pods: dict[str, Any], pages: Mapping[str, bytes | Answer] | None = None, status: int = 403) -> Api:
        servers.append(Api(list(pods), pages or {}, status))
        return servers[-1].__enter__()

    yield start
    for server in servers:
        server.__exit__(None, None, None)


def page(uuid: str, used: int, hostname: str = "dcgm-pod") -> bytes:
    labels = f'gpu="0",UUID="{uuid}",Hostname="{hostname}",modelName="NVIDIA A100"'
    return f"DCGM_FI_DEV_FB_USED{{{labels}}} {used}\nDCGM_FI_DEV_FB_FREE{{{labels}}} {40000 - used}\n".encode()


def read(server: Api, folder: Path) -> Any:
    return direct.read(client(folder, server.url), CONTEXT)


def test_the_node_is_that_of_the_pod_whatever_the_page_says(serve_api: Any, tmp_path: Path) -> None:
    server = serve_api(
        exporter("a", "gpu-1"),
        exporter("b", "gpu-2"),
        pages={"a:9400": page("GPU-aa", 1000, hostname="gpu-2"), "b:9400": page("GPU-bb", 2000)},
    )
    made = read(server, tmp_path)
    found = {
        (one.node, one.uuid): one.values["memory_used"].value for _, report in made.reports for one in report.readings
    }
    assert found == {("gpu-1", "GPU-aa"): 1000 << 20, ("gpu-2", "GPU-bb"): 2000 << 20}
    assert {one.source.version for _, report in made.reports for one in report.readings} == {"4.8.2"}
    assert (made.missing, made.samples) == ([], 4)


def test_only_pods_that_run_on_a_node_are_asked_each_once(serve_api: Any, tmp_path: Path) -> None:
    both = DCGM | {"app.kubernetes.io/name": "dcgm-exporter"}
    server = serve_api(
        exporter("a", "gpu-1", both),
        exporter("pending", "", both),
        exporter("ended", "gpu-3", status={"phase": "Failed"}),
        exporter("../../secrets", "gpu-4"),
        pages={"a:9400": page("GPU-aa", 1000)},
    )
    read(server, tmp_path)
    assert server.proxied() == ["/api/v1/namespaces/gpu-operator/pods/a:9400/proxy/metrics"]


def test_a_port_that_is_not_named_is_the_exporters_own(serve_api: Any, tmp_path: Path) -> None:
    pod = exporter("smi", "gpu-1", {"app.kubernetes.io/name": "nvidia-gpu-exporter"})
    pod["spec"]["containers"][0]["ports"] = [{"containerPort": 1}]
    [found] = direct.find(client(tmp_path, serve_api(pod).url))
    assert found.path.endswith("/smi:9835/proxy/metrics")


def test_a_page_that_cannot_be_had_is_named_and_the_others_are_read(serve_api: Any, tmp_path: Path) -> None:
    server = serve_api(
        exporter("a", "gpu-1"), exporter("b", "gpu-2"), pages={"a:9400": page("GPU-aa", 1000)}, status=503
    )
    made = read(server, tmp_path)
    assert len(made.reports) == 1
    [text] = made.missing
    assert text.startswith("gpu-operator/b: 503")


def test_where_nothing_may_be_read_the_rule_is_named(serve_api: Any, tmp_path: Path) -> None:
    with pytest.raises(
        SourceError, match=r"denied: get pods/proxy in gpu-operator .*Apply deploy/exporters-role\.yaml"
    ) as caught:
        read(serve_api(exporter("a", "gpu-1")), tmp_path)
    assert caught.value.kind == "refused"


def test_more_nodes_than_an_api_server_should_be_asked_for_are_refused(
    serve_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct, "MOST_NODES", 2)
    server = serve_api(*(exporter(f"p{number}", f"gpu-{number}") for number in range(3)))
    with pytest.raises(SourceError, match=r"limited to 2 nodes\. Use --prometheus URL"):
        read(server, tmp_path)
    assert server.proxied() == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"x" * 100, "no-page"),
        (b"<html>sign in</html>", "no-page"),
        (b"", "no-page"),
        (b"node_load1 5\n", "no-page"),
        (b"# HELP node_load1 of a node\n# TYPE node_load1 gauge\n", "no-page"),
    ],
)
def test_what_is_no_page_of_the_exporter_is_said(serve_api: Any, tmp_path: Path, answer: bytes, why: str) -> None:
    made = read(serve_api(exporter("a", "gpu-1"), pages={"a:9400": answer}), tmp_path)
    assert [problem.code for problem in made.problems] == [why]
    assert made.reports == []


def test_an_exporter_with_nothing_to_say_at_the_moment_is_one(serve_api: Any, tmp_path: Path) -> None:
    nothing = b"# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used.\n# TYPE DCGM_FI_DEV_FB_USED gauge\n"
    made = read(serve_api(exporter("a", "gpu-1"), pages={"a:9400": nothing}), tmp_path)
    assert (made.problems, made.missing, made.samples) == ((), [], 0)


@pytest.mark.parametrize(("name", "codes"), [("request", []), ("requests", ["no-page"])])
def test_a_page_of_what_no_figure_is_read_from_is_still_its_exporters(
    serve_api: Any, tmp_path: Path, name: str, codes: list[str]
) -> None:
    """GKE's plugin tells of a node with MIG only what containers asked for."""
    asked = f'{name}{{namespace="ml",pod="a",container="c",resource_name="nvidia.com/gpu"}} 1\n'.encode()
    plugin = exporter("a", "gpu-1", {"k8s-app": "nvidia-gpu-device-plugin"})
    plugin["spec"]["containers"][0]["ports"] = []
    made = read(serve_api(plugin, pages={"a:2112": asked}), tmp_path)
    assert [problem.code for problem in made.problems] == codes
    assert (made.missing, made.samples) == ([], 0)


def test_a_page_without_end_is_left(serve_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "PAGE_BYTES", 1 << 20)
    endless = Answer(steps=[b"a" * (1 << 18)] * 64)
    server = serve_api(
        exporter("a", "gpu-1"), exporter("b", "gpu-2"), pages={"a:9400": endless, "b:9400": page("GPU-bb", 1)}
    )
    made = read(server, tmp_path)
    assert made.missing == ["gpu-operator/a: the metrics page is larger than 1 MiB"]
    assert len(made.reports) == 1


@pytest.mark.django_db
def test_a_collector_reads_it_into_rows(serve_api: Any, tmp_path: Path, cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "nvidia", 1)
    card = Card.objects.get()
    server = serve_api(exporter("a", "gpu-1"), pages={"a:9400": page(card.uuid, 1000)})
    cluster.kubeconfig = client(tmp_path, server.url).kubeconfig
    cluster.save()
    sources.set_direct(cluster)
    source = collect(cluster)
    assert (source.state, source.reason, source.cards_measured) == (SourceState.READING, "", 1)
    assert source.formats == [
        {"format": "dcgm-exporter", "sure": True, "versions": ["4.8.2"], "cards": 1, "samples": 2}
    ]
    assert CardUsage.objects.get(card=card).memory_used_bytes == 1000 << 20
    server.pages.clear()
    UsageSource.objects.update(due_at=None)
    source = collect(cluster)
    assert source.state == SourceState.REFUSED
    assert "deploy/exporters-role.yaml" in source.reason
    assert isinstance(restored(source.reason, source.wording), Said)


def collect(cluster: Cluster) -> UsageSource:
    held = lease.acquire(cluster.pk)
    assert held is not None
    try:
        return collector.collect(held)
    finally:
        held.release()


@pytest.mark.django_db
def test_rounds_may_not_come_more_often_than_once_a_minute(cluster: Cluster) -> None:
    with pytest.raises(BadAddress, match="must be 60 to 3600 s"):
        sources.set_direct(cluster, 30)
    assert not UsageSource.objects.exists()


def test_pages_that_hang_hold_up_no_others_and_each_place_is_asked_once(
    serve_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One page in each turn of IN_FLIGHT hangs until all others have been asked for: in turns, the round would not end."""
    monkeypatch.setattr(direct, "IN_FLIGHT", 3)
    names = [f"p{number}" for number in range(9)]
    hanging = {"p0", "p3"}
    others_asked = threading.Event()
    pages: dict[str, bytes | Answer] = {f"{name}:9400": page(f"GPU-{name}", 1000) for name in names}
    pages |= {f"{name}:9400": stream(others_asked, page(f"GPU-{name}", 1000)) for name in hanging}

    class Waiting(Api):
        def take(self, asked: Asked) -> Answer:
            answer = super().take(asked)
            if len(self.proxied()) == len(names):
                others_asked.set()
            return answer

    with Waiting([exporter(name, f"gpu-{name}") for name in names], pages) as server:
        made = read(server, tmp_path)
        assert others_asked.is_set()
        assert len(server.proxied()) == len(set(server.proxied())) == len(names)
    assert [reading.uuid for _, report in made.reports for reading in report.readings] == [
        f"GPU-{name}" for name in names
    ]
