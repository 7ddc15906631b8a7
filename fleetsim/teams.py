"""Who works on the demo's fleet: namespaces, what a workload is, and plausible pod names. What runs where is in `workloads.py`."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from fleetsim.asks import Ask
from fleetsim.systems import GPU_COUNT

NAMESPACES = (
    "default",
    "kube-system",
    "gpu-operator",
    "gpu-resources",
    "gpu-monitoring",
    "dra-driver-nvidia-gpu",
    "kai-resource-reservation",
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

#: Made later than those, so that a fleet is the same with them and without.
FURTHER_NAMESPACES = ("kube-amd-gpu",)

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"

Limits = dict[str, str]


@dataclass(frozen=True)
class Workload:
    """What a team runs: owner kind, name, image, and the asks to choose from (one dict of limits per container).

    claims: instead of limits, what the claim of a pod asks for, to choose from. fractions: parts of a card, likewise.
    """

    namespace: str
    name: str
    owner: str
    image: str
    asks: tuple[tuple[Limits, ...], ...] = (({},),)
    #: Cards of a pod that spreads over several (gpushare v2), else 1.
    cards: int = 1
    claims: tuple[Ask, ...] = ()
    fractions: tuple[str, ...] = ()


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
