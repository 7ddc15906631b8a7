"""How many nodes of each type a fleet of N nodes has."""

from __future__ import annotations

from fleetsim import migtypes as mig
from fleetsim import nodetypes as types
from fleetsim import vendortypes as vendors
from fleetsim.nodetypes import NodeType

#: Order of the first round (a small fleet has the first of these), and how many the standard fleet has.
STANDARD: tuple[tuple[NodeType, int], ...] = (
    (types.T4_GIB, 5),
    (types.V100_GIB, 3),
    (types.A10_MIB, 2),
    (types.H100, 2),
    (types.ALIBABA_WINDOWS, 5),
    (types.K80, 2),
    (types.WDDM, 1),
    (types.MCDM, 1),
    (types.AKS, 2),
    (types.TIME_SLICED, 1),
    (types.MPS, 1),
    (types.HAMI, 2),
    (types.T4_MIB, 2),
    (types.A100, 2),
    (types.A10_GIB, 1),
    (types.EDGE_GIB, 1),
    (types.P100_GIB, 1),
    (types.L40S, 1),
    (types.L40S_WAITING, 1),
    (types.UNSERVED, 1),
    (vendors.AMD, 1),
    (mig.MIG_MIXED_A100, 2),
    (mig.MIG_MIXED_H100, 1),
    (mig.MIG_SINGLE, 1),
    (mig.GKE_SHARED, 2),
    (mig.GKE_PARTITIONS, 2),
    (mig.DRA_CARDS, 2),
    (mig.DRA_SLICES, 1),
    (vendors.AMD_PARTITIONS, 1),
    (vendors.INTEL, 1),
    (vendors.ASCEND, 1),
    (vendors.VOLCANO, 1),
    (vendors.KAI, 1),
    (types.CPU, 2),
)
#: After all of these: nodes for what is wrong with the software of a cluster (`softwarecases.py`), and one whose driver is upgraded.
CASES: tuple[NodeType, ...] = (types.CONTROL_PLANE, types.WINDOWS_2025, types.ALIBABA_BEIJING, types.L40S)
#: How many nodes the standard fleet has.
NODES = sum(count for _, count in STANDARD) + len(CASES)
#: What a larger fleet has more of, in turn; all with eight cards.
MORE = (types.V100_GIB, types.H100, types.T4_MIB_8, types.A100)


def plan(nodes: int) -> list[NodeType]:
    """The types of a fleet of that many nodes: one of each kind first, then the standard mix with its cases, then eight-card nodes.

    Raises ValueError when nodes is below 1.
    """
    if nodes < 1:
        raise ValueError(f"a fleet needs at least one node, not {nodes}")
    rounds = max(count for _, count in STANDARD)
    standard = [kind for number in range(rounds) for kind, count in STANDARD if count > number] + list(CASES)
    return (standard + [MORE[index % len(MORE)] for index in range(nodes - len(standard))])[:nodes]
