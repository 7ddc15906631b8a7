"""Types of nodes whose NVIDIA cards are cut or shared by others than gpushare: MIG under the GPU Operator, GKE's own plugin, and a
driver of dynamic resource allocation.

Formats: GPU Feature Discovery v0.20, mig-parted's layouts, GoogleCloudPlatform/container-engine-accelerators (ids and node labels),
kubernetes-sigs/dra-driver-nvidia-gpu.
"""

from __future__ import annotations

from fleetsim import models
from fleetsim.mig import Layout, resource
from fleetsim.nodetypes import GPU_TAINT, NodeType, Part, by_uuid
from fleetsim.systems import NVIDIA_GPU, Counted, Ids

#: What mig-parted's layout all-balanced makes of a card of seven slices.
_BALANCED = ("1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb")


def _mixed(layout: Layout, ids: Ids | None) -> tuple[Part, ...]:
    """The resources of the strategy mixed: one for each profile, and the plain one for cards that are whole."""
    parts = [
        Part(Counted(resource(name), ids=ids), tuple(layout.parents(name)), name)
        for name in sorted(layout.counts, key=lambda one: (-len(layout.parents(one)), one))
    ]
    whole = tuple(number for number, card in enumerate(layout.cards) if not card)
    return (*parts, Part(Counted(NVIDIA_GPU, ids=ids), whole)) if whole else tuple(parts)


def _balanced() -> Layout:
    return Layout("all-balanced", "mixed", (_BALANCED,) * 4)


#: A layout of one's own: two cards are cut and have room left, one has seven small slices, one stays whole.
_OWN = Layout(
    "inference-mixed", "mixed", (("1g.10gb", "1g.10gb", "3g.40gb"), ("2g.20gb", "3g.40gb"), ("1g.10gb",) * 7, ())
)
_SINGLE = Layout("all-1g.6gb", "single", (("1g.6gb",) * 4,) * 2)

#: An older kubelet: it does not say which slice a pod has.
MIG_MIXED_A100 = NodeType(
    "mig-a100",
    "mig-a100-{:02d}",
    Counted(resource("1g.10gb")),
    models.A100,
    4,
    operator=True,
    slices=_mixed(_balanced(), None),
    layout=_balanced(),
)
MIG_MIXED_H100 = NodeType(
    "mig-h100",
    "mig-h100-{:02d}",
    Counted(resource("1g.10gb"), ids=by_uuid),
    models.H100,
    4,
    kubelet="v1.36.2",
    runtime="containerd://2.1.4",
    operator=True,
    slices=_mixed(_OWN, by_uuid),
    layout=_OWN,
)
MIG_SINGLE = NodeType(
    "mig-a30",
    "mig-a30-{:02d}",
    Counted(NVIDIA_GPU, ids=by_uuid),
    models.A30,
    2,
    # The GPU Operator's DaemonSets tolerate it, the worker of Node Feature Discovery does not.
    taints=(("dedicated", "inference", "NoSchedule"),),
    kubelet="v1.36.2",
    runtime="containerd://2.1.4",
    operator=True,
    slices=(Part(Counted(NVIDIA_GPU, ids=by_uuid), (0,) * 4 + (1,) * 4, "1g.6gb"),),
    layout=_SINGLE,
)


def _gke_shared(card: int, uuid: str, slots: int) -> tuple[str, ...]:
    return tuple(f"nvidia{card}/vgpu{number}" for number in range(slots))


def _gke_slice(card: int, uuid: str, slots: int) -> tuple[str, ...]:
    """Seven instances of a card; the first of this size have the ids 7 to 13."""
    return (f"nvidia{card // 7}/gi{7 + card % 7}",)


def _gke(accelerator: str, cards: int, **more: str) -> dict[str, str]:
    names = {"partition": "gke-gpu-partition-size", "sharing": "gke-gpu-sharing-strategy"}
    names["clients"] = "gke-max-shared-clients-per-gpu"
    return {
        "cloud.google.com/gke-accelerator": accelerator,
        "cloud.google.com/gke-accelerator-count": str(cards),
        "cloud.google.com/gke-gpu": "true",
        "cloud.google.com/gke-gpu-driver-version": "default",
        "cloud.google.com/gke-os-distribution": "cos",
        **{f"cloud.google.com/{names[name]}": value for name, value in more.items()},
    }


_GKE_KUBELET = "v1.36.1-gke.1285000"
GKE_SHARED = NodeType(
    "gke-l4",
    "gke-inference-l4-shared-3f1a2b4c-{:04d}",
    Counted(NVIDIA_GPU, shared=True, ids=_gke_shared),
    models.L4,
    2,
    4,
    labels=_gke("nvidia-l4", 2, sharing="time-sharing", clients="4"),
    taints=(GPU_TAINT,),
    kubelet=_GKE_KUBELET,
    runtime="containerd://2.1.4",
    instance_type="g2-standard-24",
    plugins=("gke",),
)
GKE_PARTITIONS = NodeType(
    "gke-a100",
    "gke-batch-a100-1g-7c2d9e10-{:04d}",
    Counted(NVIDIA_GPU, ids=_gke_slice),
    models.A100_40,
    1,
    labels=_gke("nvidia-tesla-a100", 1, partition="1g.5gb"),
    taints=(GPU_TAINT,),
    kubelet=_GKE_KUBELET,
    runtime="containerd://2.1.4",
    instance_type="a2-highgpu-1g",
    plugins=("gke",),
    slices=(Part(Counted(NVIDIA_GPU, ids=_gke_slice), (0,) * 7, "1g.5gb"),),
)

DRA_CARDS = NodeType(
    "dra-h100",
    "dra-h100-{:02d}",
    None,
    models.H100,
    4,
    labels={"nvidia.com/gpu.deploy.dra-driver": "true"},
    taints=(GPU_TAINT,),
    kubelet="v1.36.2",
    runtime="containerd://2.1.4",
    plugins=("dra",),
    dra="cards",
)
#: The driver may cut the cards as claims ask for it: it lists each instance that can be, with the counters that it would take.
DRA_SLICES = NodeType(
    "dra-mig",
    "dra-mig-{:02d}",
    None,
    models.H100,
    2,
    labels={"nvidia.com/gpu.deploy.dra-driver": "true"},
    taints=(GPU_TAINT,),
    kubelet="v1.36.2",
    runtime="containerd://2.1.4",
    plugins=("dra",),
    dra="slices",
)
