"""Names of gpushare: its settings, labels, annotations, pods, and the findings that only it gives."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from stacks.engine.base import ERROR, WARNING, Context
from stacks.engine.labels import first, labelled_memory, model_name, number
from stacks.engine.stack import Components, Entry, Kept, NodeLabels
from wording.said import gettext_noop

PLUGIN = "gpushare-device-plugin"
CORE_RESOURCE = "aliyun.com/gpu-core.percentage"
#: Whole cards on nodes of ACK that place by topology: how many there are is what the node offers.
EXCLUSIVE = "aliyun.com/gpu"
#: The scheduler's choice of card, which a pod must not make itself.
BY_HAND = "NVIDIA_VISIBLE_DEVICES"
ALIYUN_NAME = "aliyun.accelerator/nvidia_name"
ALIYUN_MEMORY = "aliyun.accelerator/nvidia_mem"
ALIYUN_COUNT = "aliyun.accelerator/nvidia_count"

SETTINGS = {
    "GPUSHARE_RESOURCE": "aliyun.com/gpu-mem",
    "GPUSHARE_COUNT": "aliyun.com/gpu-count",
    "GPUSHARE_ANNOTATION": "ALIYUN_COM_GPU_MEM",
}


class Names(NamedTuple):
    """Resources of memory and of cards, and the beginning of annotations of the first generation; forks rename them."""

    memory: str
    cards: str
    annotation: str


@lru_cache(maxsize=16)
def names_by(settings: tuple[tuple[str, str], ...]) -> Names:
    """The names under these settings (as `Context.settings`)."""
    known = SETTINGS | dict(settings)
    return Names(known["GPUSHARE_RESOURCE"], known["GPUSHARE_COUNT"], known["GPUSHARE_ANNOTATION"])


def names(context: Context) -> Names:
    """The names under the settings of a context."""
    return names_by(context.settings)


def _written(context: Context) -> tuple[str, ...]:
    return (f"{names(context).annotation}_",)


NODE_LABELS = NodeLabels(
    prefixes=("aliyun.accelerator/", "ack.node.gpu."),
    names=("gpushare", "cgpu", "cgpu.disable.isolation"),
    present=("gpushare", "cgpu"),
    given_by={"gpushare": PLUGIN},
    naming=(ALIYUN_NAME, ALIYUN_COUNT, ALIYUN_MEMORY),
    model=first((ALIYUN_NAME,), model_name),
    memory=first((ALIYUN_MEMORY,), labelled_memory),
    cards=first((ALIYUN_COUNT,), number),
)

COMPONENTS = Components(
    by_label={
        "component": {
            PLUGIN: PLUGIN,
            "gpushare-schd-extender": "gpushare-scheduler-extender",
            "kube-scheduler": "kube-scheduler",
        },
        # The chart's evictor and recoverer carry the component label of the plugin, and a name of their own.
        "name": {
            "gpushare-device-plugin-ds": PLUGIN,
            "device-plugin-evict-ds": "gpushare-evictor",
            "device-plugin-recover-ds": "gpushare-recoverer",
        },
    },
    device_plugins=(PLUGIN,),
    daemonsets=(PLUGIN,),
    commands=(PLUGIN, "kube-scheduler"),
)

KEPT = Kept(
    pod_labels=(SETTINGS["GPUSHARE_COUNT"],),
    pod_annotations=("scheduler.framework.gpushare.", "gpushare.alibabacloud.com/"),
    written_annotations=_written,
    env=(BY_HAND,),
)

FINDINGS = {
    "unit-unknown": Entry(
        gettext_noop("Memory unit unknown"),
        WARNING,
        gettext_noop(
            "No source reports whether the node counts GPU memory in GiB or MiB. Its memory is shown as unknown."
        ),
        gettext_noop("Set the annotation gpudash.io/memory-unit (GiB or MiB) on the node."),
    ),
    "count-zero": Entry(
        gettext_noop("GPU memory reported without cards"),
        ERROR,
        gettext_noop("The node reports GPU memory without cards, or cards without GPU memory."),
        gettext_noop(
            "Restart the gpushare device plugin. With many cards, use GiB instead of MiB: one gRPC message is limited to 4 MiB."
        ),
    ),
    "several-gpu-containers": Entry(
        gettext_noop("Several GPU containers in one pod"),
        WARNING,
        gettext_noop("The open-source gpushare plugin cannot match pods with more than one GPU container."),
        gettext_noop("Request the memory in one container, or split the pod."),
    ),
}
