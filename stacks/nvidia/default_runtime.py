"""The runtime `nvidia` as the default of Docker or containerd, which plugins need that read cards in their own container.

The files are on the hosts and nothing of the API shows them. Source: the installation guide of NVIDIA's container toolkit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kube.objects import Node
from stacks.engine.node_system import runtime_of
from stacks.engine.rendering import comment, json_text
from stacks.engine.setup import HOST, File
from stacks.engine.versions import Version
from stacks.shared.rancher import rancher
from wording.said import sentence

_DOCKER: Any = {
    "default-runtime": "nvidia",
    "runtimes": {"nvidia": {"path": "/usr/bin/nvidia-container-runtime", "runtimeArgs": []}},
}
_CRI = {2: 'plugins."io.containerd.grpc.v1.cri".containerd', 3: "plugins.'io.containerd.cri.v1.runtime'.containerd"}


def host_files(nodes: Iterable[Node]) -> list[File]:
    """The parts of the files that these nodes' runtimes read."""
    runtimes: set[str] = set()
    layouts: set[int] = set()
    for node in nodes:
        name, version = runtime_of(node)
        if rancher(node):
            name = "rancher"
        elif name == "containerd":
            layouts.add(3 if version is not None and version >= Version(2, 0) else 2)
        runtimes.add(name)
    files = [_docker()] if "docker" in runtimes else []
    files += [_containerd(layout) for layout in sorted(layouts)]
    return files + ([_rancher_file()] if "rancher" in runtimes else [])


def _docker() -> File:
    return File(
        "docker-daemon.json",
        json_text(_DOCKER),
        HOST,
        sentence(
            "On each node with Docker, part of /etc/docker/daemon.json: merge it, then restart Docker. The plugin sees cards "
            "only where the runtime nvidia is the default."
        ),
        "docker info --format '{{.DefaultRuntime}}'; cat /etc/docker/daemon.json",
    )


def _containerd(layout: int) -> File:
    base = _CRI[layout]
    text = (
        f"version = {layout}\n\n"
        f'[{base}]\n  default_runtime_name = "nvidia"\n\n'
        f'[{base}.runtimes.nvidia]\n  runtime_type = "io.containerd.runc.v2"\n\n'
        f'[{base}.runtimes.nvidia.options]\n  BinaryName = "/usr/bin/nvidia-container-runtime"\n'
    )
    head = comment("Alternatively, run: nvidia-ctk runtime configure --runtime=containerd --set-as-default")
    return File(
        f"containerd-{'2' if layout == 3 else '1'}-config.toml",
        head + text,
        HOST,
        sentence(
            "On each node with containerd {version}, part of /etc/containerd/config.toml: merge it, then restart containerd. "
            "The plugin sees cards only where the runtime nvidia is the default.",
            version="2" if layout == 3 else "1",
        ),
        "containerd config dump | grep -A2 -e default_runtime_name -e runtimes.nvidia",
    )


def _rancher_file() -> File:
    return File(
        "rancher-config.yaml",
        comment("Needs a release whose server and agent know this option.") + "default-runtime: nvidia\n",
        HOST,
        sentence(
            "On each node of k3s (/etc/rancher/k3s/config.yaml) or RKE2 (/etc/rancher/rke2/config.yaml): merge it, then restart "
            "the service. They write containerd's configuration themselves."
        ),
        "grep -n default_runtime_name /var/lib/rancher/*/agent/etc/containerd/config.toml",
    )
