"""Who works on the demo's fleet: namespaces, workloads, what each asks for, and plausible pod names."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from fleetsim import nodetypes
from fleetsim.nodetypes import NodeType
from fleetsim.systems import GPU_CORE, GPU_COUNT, GPU_MEM, NVIDIA_GPU

NAMESPACES = (
    "default",
    "kube-system",
    "gpu-operator",
    "gpu-resources",
    "gpudash-validations",
    "team-vision",
    "team-llm",
    "team-speech",
    "team-recsys",
    "team-search",
    "research-rl",
    "research-bio",
    "notebooks",
    "render-farm",
    "qa-windows",
)

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"

Limits = dict[str, str]


@dataclass(frozen=True)
class Workload:
    """What a team runs: owner kind, name, image, and the asks to choose from (one dict of limits per container)."""

    namespace: str
    name: str
    owner: str
    image: str
    asks: tuple[tuple[Limits, ...], ...]
    #: Cards of a pod that spreads over several (gpushare v2), else 1.
    cards: int = 1


def _memory(*amounts: int) -> tuple[tuple[Limits, ...], ...]:
    return tuple(({GPU_MEM: str(amount)},) for amount in amounts)


def _count(resource: str, *amounts: int) -> tuple[tuple[Limits, ...], ...]:
    return tuple(({resource: str(amount)},) for amount in amounts)


_SMALL = (
    Workload("team-vision", "ocr-api", "ReplicaSet", "registry.demo/vision/ocr:4.2.1", _memory(2, 3, 4)),
    Workload("team-speech", "asr-stream", "ReplicaSet", "registry.demo/speech/asr:2.9", _memory(4, 5, 6)),
    Workload("team-search", "embedder", "StatefulSet", "registry.demo/search/embedder:1.14", _memory(3, 4, 7)),
    Workload("team-recsys", "ranker-eval", "Job", "registry.demo/recsys/eval:0.31", _memory(5, 7, 10)),
    Workload("notebooks", "notebook-lin", "Notebook", "registry.demo/notebooks/cuda:12.8", _memory(4, 8)),
)
_LARGE = (
    Workload("team-llm", "vllm-qwen", "ReplicaSet", "registry.demo/llm/vllm:0.11.0", _memory(14, 16, 20)),
    Workload("team-llm", "reranker", "ReplicaSet", "registry.demo/llm/reranker:3.0", _memory(6, 8, 10)),
    Workload("research-rl", "rollout", "StatefulSet", "registry.demo/rl/rollout:7", _memory(5, 8)),
    Workload("team-vision", "segment-train", "Job", "registry.demo/vision/segment:1.8", _memory(12, 18, 24)),
)
_MIB_SMALL = (
    Workload("team-search", "vector-index", "StatefulSet", "registry.demo/search/index:2.2", _memory(3072, 4096)),
    Workload("team-vision", "detect-edge", "ReplicaSet", "registry.demo/vision/detect:5.0", _memory(2048, 6144)),
    Workload(
        "team-speech",
        "tts-pair",
        "ReplicaSet",
        "registry.demo/speech/tts:1.3",
        (({GPU_MEM: "2048"}, {GPU_MEM: "4096"}), ({GPU_MEM: "1024"}, {GPU_MEM: "6144"})),
    ),
    Workload("team-llm", "lora-tune", "Job", "registry.demo/llm/lora:0.9", _memory(16384, 24576), cards=2),
)
_CORE = (
    Workload(
        "team-recsys",
        "ranker",
        "ReplicaSet",
        "registry.demo/recsys/ranker:6.1",
        tuple(({GPU_MEM: str(memory), GPU_CORE: str(core)},) for memory, core in ((3072, 20), (6144, 40), (4096, 25))),
    ),
    Workload(
        "team-recsys",
        "feature-join",
        "Job",
        "registry.demo/recsys/join:2.0",
        (({GPU_MEM: "12288", GPU_CORE: "60"},),),
        cards=2,
    ),
)
_WHOLE = (
    Workload("team-llm", "pretrain-7b", "PyTorchJob", "registry.demo/llm/megatron:25.04", _count(NVIDIA_GPU, 4, 8)),
    Workload("team-llm", "serve-70b", "StatefulSet", "registry.demo/llm/vllm:0.11.0", _count(NVIDIA_GPU, 2, 4)),
    Workload("research-bio", "fold-batch", "Job", "registry.demo/bio/fold:3.1", _count(NVIDIA_GPU, 1, 2)),
    Workload("research-rl", "learner", "StatefulSet", "registry.demo/rl/learner:7", _count(NVIDIA_GPU, 1, 2)),
)
_SLICES = (
    Workload("notebooks", "notebook-dev", "Notebook", "registry.demo/notebooks/cuda:12.8", _count(NVIDIA_GPU, 1)),
    Workload("team-vision", "label-preview", "ReplicaSet", "registry.demo/vision/preview:1.1", _count(NVIDIA_GPU, 1)),
)
_HAMI = (
    Workload(
        "team-speech",
        "whisper-batch",
        "Job",
        "registry.demo/speech/whisper:3",
        tuple(
            ({NVIDIA_GPU: cards, "nvidia.com/gpumem": memory, "nvidia.com/gpucores": core},)
            for cards, memory, core in (("1", "6144", "30"), ("1", "8192", "0"), ("2", "10240", "50"))
        ),
    ),
    Workload(
        "team-vision",
        "diffusion",
        "ReplicaSet",
        "registry.demo/vision/diffusion:2.0",
        (({NVIDIA_GPU: "1", "nvidia.com/gpumem": "12288", "nvidia.com/gpucores": "50"},),),
    ),
)


def _windows(resource: str, name: str) -> tuple[Workload, ...]:
    return (
        Workload("render-farm", f"{name}-render", "Job", "registry.demo/render/worker:ltsc2022", _count(resource, 1)),
        Workload(
            "qa-windows", f"{name}-uitest", "StatefulSet", "registry.demo/qa/uitest:ltsc2022", _count(resource, 1)
        ),
    )


BY_POOL: dict[str, tuple[Workload, ...]] = {
    nodetypes.T4_GIB.pool: _SMALL,
    nodetypes.EDGE_GIB.pool: _SMALL,
    nodetypes.V100_GIB.pool: _LARGE + _SMALL,
    nodetypes.A10_MIB.pool: _MIB_SMALL,
    nodetypes.T4_MIB_8.pool: _MIB_SMALL,
    nodetypes.T4_MIB.pool: _CORE,
    nodetypes.H100.pool: _WHOLE,
    nodetypes.A100.pool: _WHOLE,
    nodetypes.L40S.pool: _WHOLE[2:],
    nodetypes.TIME_SLICED.pool: _SLICES,
    nodetypes.MPS.pool: _SLICES,
    nodetypes.HAMI.pool: _HAMI,
    nodetypes.AMD.pool: (
        Workload("research-bio", "md-sim", "Job", "registry.demo/bio/gromacs-rocm:2025", _count("amd.com/gpu", 1, 2)),
    ),
    nodetypes.K80.pool: (
        Workload(
            "team-vision", "legacy-caffe", "Job", "registry.demo/vision/caffe:1.0", _count(nodetypes.ALPHA_GPU, 1, 2)
        ),
        Workload(
            "team-vision", "legacy-face", "ReplicaSet", "registry.demo/vision/face:0.8", _count(nodetypes.ALPHA_GPU, 1)
        ),
    ),
    nodetypes.WDDM.pool: _windows(nodetypes.TW_DISPLAY, "viz"),
    nodetypes.MCDM.pool: _windows(nodetypes.TW_COMPUTE, "ml"),
}


def workloads(kind: NodeType) -> tuple[Workload, ...]:
    """What runs on nodes of this type; empty for nodes without life."""
    return BY_POOL.get(kind.pool, ()) if kind.life else ()


def letters(rng: Random, count: int) -> str:
    """The end of a generated name, from the letters that the API server uses."""
    return "".join(rng.choices(_LETTERS, k=count))


def pod_name(rng: Random, workload: Workload, taken: int) -> tuple[str, str]:
    """Name of a pod and of its owner. taken: pods of this workload so far, for the kinds that count."""
    if workload.owner == "ReplicaSet":
        owner = f"{workload.name}-{letters(rng, 9)}"
        return f"{owner}-{letters(rng, 5)}", owner
    if workload.owner == "Job":
        owner = f"{workload.name}-{letters(rng, 6)}"
        return f"{owner}-{letters(rng, 5)}", owner
    if workload.owner == "PyTorchJob":
        owner = f"{workload.name}-{letters(rng, 4)}"
        return f"{owner}-worker-{taken % 4}", owner
    # StatefulSets and notebooks: a set per tenant, so that names stay unique.
    owner = f"{workload.name}-{letters(rng, 4)}"
    return f"{owner}-{taken % 3}", owner


def uid(rng: Random) -> str:
    """A version 4 UUID from the fleet's own dice."""
    digits = f"{rng.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def labels_of(workload: Workload) -> dict[str, str]:
    """Labels of a pod of this workload."""
    labels = {"app": workload.name, "team": workload.namespace}
    if workload.owner == "Notebook":
        labels["notebook-name"] = workload.name
    if workload.cards > 1:
        labels[GPU_COUNT] = str(workload.cards)
    return labels
