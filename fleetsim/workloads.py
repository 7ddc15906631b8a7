"""What runs on which nodes of the demo's fleet, and what each workload asks for."""

from __future__ import annotations

from fleetsim import ascend, migtypes, nodetypes, vendortypes, volcano
from fleetsim.asks import Ask, of_memory, of_profile
from fleetsim.mig import resource as _slice
from fleetsim.nodetypes import NodeType
from fleetsim.systems import GPU_CORE, GPU_MEM, NVIDIA_GPU
from fleetsim.teams import Limits, Workload

_DRA_CARD, _DRA_SLICE = "gpu.nvidia.com", "mig.nvidia.com"


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
    Workload("team-llm", "pretrain-7b", "PyTorchJob", "registry.demo/llm/megatron:25.04", _count(NVIDIA_GPU, 2, 4)),
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


_MIG_MIXED = (
    Workload(
        "notebooks", "notebook-mig", "Notebook", "registry.demo/notebooks/cuda:12.8", _count(_slice("1g.10gb"), 1)
    ),
    Workload("team-speech", "asr-small", "ReplicaSet", "registry.demo/speech/asr:2.9", _count(_slice("1g.10gb"), 1)),
    Workload(
        "team-search", "embedder-2g", "StatefulSet", "registry.demo/search/embedder:1.14", _count(_slice("2g.20gb"), 1)
    ),
    Workload("team-llm", "serve-7b", "ReplicaSet", "registry.demo/llm/vllm:0.11.0", _count(_slice("3g.40gb"), 1)),
)
_CARD = (Workload("research-bio", "fold-one", "Job", "registry.demo/bio/fold:3.1", _count(NVIDIA_GPU, 1)),)
_GKE = (
    Workload("team-vision", "detect-l4", "ReplicaSet", "registry.demo/vision/detect:5.0", _count(NVIDIA_GPU, 1)),
    Workload("team-recsys", "ranker-l4", "ReplicaSet", "registry.demo/recsys/ranker:6.1", _count(NVIDIA_GPU, 1)),
)
_BATCH = (
    Workload("team-recsys", "batch-score", "Job", "registry.demo/recsys/score:1.2", _count(NVIDIA_GPU, 1)),
    Workload("research-rl", "rollout-mig", "Job", "registry.demo/rl/rollout:7", _count(NVIDIA_GPU, 1)),
)
_WHOLE_BY_CLAIM = (
    Workload("team-llm", "serve-dra", "StatefulSet", "registry.demo/llm/vllm:0.11.0", claims=(Ask(_DRA_CARD),)),
    Workload(
        "research-rl",
        "learner-dra",
        "Job",
        "registry.demo/rl/learner:7",
        claims=(Ask(_DRA_CARD, 2, template="two-gpus"), Ask(_DRA_CARD, 1, (of_memory(40),), "gpu-40gi")),
    ),
)
_SLICE_BY_CLAIM = tuple(
    Workload(namespace, name, owner, image, claims=(Ask(_DRA_SLICE, 1, (of_profile(profile),), f"mig-{profile[:2]}"),))
    for namespace, name, owner, image, profile in (
        ("notebooks", "notebook-dra", "Notebook", "registry.demo/notebooks/cuda:12.8", "1g.10gb"),
        ("team-vision", "segment-dra", "Job", "registry.demo/vision/segment:1.8", "2g.20gb"),
        ("team-llm", "serve-slice", "ReplicaSet", "registry.demo/llm/vllm:0.11.0", "3g.40gb"),
    )
)
_VOLCANO = (
    Workload(
        "team-speech",
        "tts-vgpu",
        "ReplicaSet",
        "registry.demo/speech/tts:1.3",
        tuple(
            ({volcano.NUMBER: number, volcano.MEMORY: memory, volcano.CORES: cores},)
            for number, memory, cores in (("1", "8000", "20"), ("1", "12000", "30"), ("2", "10000", "25"))
        ),
    ),
)
_NPU = (
    Workload("team-llm", "pretrain-npu", "Job", "registry.demo/llm/mindspeed:2.1", _count(ascend.CHIPS, 2, 4)),
    Workload(
        "team-search", "embedder-npu", "ReplicaSet", "registry.demo/search/embedder-npu:1.1", _count(ascend.CHIPS, 1)
    ),
)
_KAI = (
    Workload(
        "notebooks",
        "notebook-half",
        "Notebook",
        "registry.demo/notebooks/cuda:12.8",
        fractions=("0.5", "0.25"),
    ),
    Workload("team-vision", "caption", "ReplicaSet", "registry.demo/vision/caption:2.4", fractions=("0.3",)),
    Workload("research-bio", "dock", "Job", "registry.demo/bio/dock:1.0", _count(NVIDIA_GPU, 1)),
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
    vendortypes.AMD.pool: (
        Workload("research-bio", "md-sim", "Job", "registry.demo/bio/gromacs-rocm:2025", _count("amd.com/gpu", 1, 2)),
    ),
    vendortypes.AMD_PARTITIONS.pool: (
        Workload(
            "research-bio",
            "md-ensemble",
            "Job",
            "registry.demo/bio/gromacs-rocm:2025",
            _count("amd.com/cpx_nps1", 4, 8),
        ),
    ),
    vendortypes.INTEL.pool: (
        Workload(
            "team-vision",
            "transcode",
            "ReplicaSet",
            "registry.demo/vision/oneapi:2025.2",
            _count("gpu.intel.com/i915", 1),
        ),
    ),
    vendortypes.ASCEND.pool: _NPU,
    vendortypes.VOLCANO.pool: _VOLCANO,
    vendortypes.KAI.pool: _KAI,
    migtypes.MIG_MIXED_A100.pool: _MIG_MIXED,
    migtypes.MIG_MIXED_H100.pool: _MIG_MIXED + _CARD,
    migtypes.MIG_SINGLE.pool: _SLICES,
    migtypes.GKE_SHARED.pool: _GKE,
    migtypes.GKE_PARTITIONS.pool: _BATCH,
    migtypes.DRA_CARDS.pool: _WHOLE_BY_CLAIM,
    migtypes.DRA_SLICES.pool: _SLICE_BY_CLAIM,
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
