"""GaiaGPU (Tencent's gpu-manager, vcuda): cores in percent, memory in units of 256 MiB; the scheduler names the card by its number.

Source: tkestack/gpu-manager 8cd842e, tkestack/gpu-admission (annotations predicate-gpu-idx-N, N: place of the container).
"""

from __future__ import annotations

from kube.objects import Node, Pod
from stacks.engine.base import Context, StackReport
from stacks.engine.labels import MIB, first, model_name
from stacks.engine.requests import Need
from stacks.engine.stack import Components, Kept, NodeLabels, Stack
from stacks.shared import cores

NAME = "gaia"
_RECORD = "tencent.com/predicate-gpu-idx-"
_MODEL, _ENABLED = "gaia.tencent.com/gpu-model", "nvidia-device-enable"
_PLUGIN = "gpu-manager"


def _record(need: Need) -> tuple[str, ...]:
    return (f"{_RECORD}{need.position}",) if not need.init else ()


_KIND = cores.Kind("tencent.com/vcuda-core", "tencent.com/vcuda-memory", 256 * MIB, _record)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards by count, holders by the numbers on their pods. None when the node has no such cards and no pod holds one."""
    return cores.read(NAME, _KIND, node, pods)


STACK = Stack(
    name=NAME,
    label="GaiaGPU",
    resources=(_KIND.cores, _KIND.memory),
    read=read,
    resource_prefixes=("tencent.com/vcuda",),
    node_labels=NodeLabels(names=(_MODEL, _ENABLED), naming=(_MODEL,), model=first((_MODEL,), model_name)),
    components=Components(by_label={"name": {"gpu-manager-ds": _PLUGIN}}, device_plugins=(_PLUGIN,)),
    kept=Kept(pod_annotations=(_RECORD,)),
)
