"""The GPU resource of Kubernetes before 1.8, which old nodes still offer: the last to be asked for.

There is no device plugin: the kubelet gives the container the device and nothing else. The pod itself brings the driver's libraries
in, from where they are on the node, as the documentation of that version has it; where that is, only the administrator knows. Nodes
of that version have the label beta.kubernetes.io/os.
"""

from __future__ import annotations

import re

from stacks.kubernetes_alpha import driver_path
from validations.suites.engine.family import Family, Mount
from validations.suites.engine.target import Target
from wording.said import sentence

_PATH = re.compile(r"(?:/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}){1,16}")
#: Where NVIDIA's images look for libraries and programs.
_INSIDE = "/usr/local/nvidia"


def _mounts(target: Target) -> tuple[Mount, ...]:
    path = driver_path(target.settings)
    if not _PATH.fullmatch(path):
        return ()
    return (
        Mount("driver-lib", path, f"{_INSIDE}/lib64"),
        Mount("driver-bin", f"{path}/bin", f"{_INSIDE}/bin"),
    )


def _lacking(target: Target) -> str:
    if _mounts(target):
        return ""
    return sentence(
        "Kubernetes before 1.8 mounts the device but no driver. Set GPUDASH_ALPHA_DRIVER_PATH to the driver "
        "libraries on node {node}.",
        node=target.node,
    )


FAMILIES = (
    Family(
        name="nvidia-alpha",
        os="linux",
        apis=("cuda",),
        rank=6,
        resources=("alpha.kubernetes.io/nvidia-gpu",),
        mounts=_mounts,
        lacking=_lacking,
        os_label=False,
        disk_limit=False,
    ),
)
