"""Tools that mark nodes, and by which keys each is known. What is in no table is a mark of an unknown tool, with its raw key.

Sources: NVSentinel (docs and fault-quarantine, 2026-11), cluster-readiness-engine "NVCRE" 0.8, Google cluster-health-scanner 2025-10,
SageMaker HyperPod and CoreWeave documentation, Karpenter 1.14, Cluster API, Medik8s node-healthcheck-operator 0.12, Draino 9d39b53,
node-problem-detector, Meta GCM, node-readiness-controller 0.5, GPU Operator 26.7, Cluster Autoscaler, Kubernetes 1.37. The keys of
Karpenter, Cluster API, Medik8s and the Cluster Autoscaler are of their documentation.
"""

from __future__ import annotations

from typing import NamedTuple

NVSENTINEL, NVCRE, GOOGLE, HYPERPOD = "NVSentinel", "NVCRE", "Google cluster health scanner", "SageMaker HyperPod"
COREWEAVE, KARPENTER, CLUSTER_API, MEDIK8S = "CoreWeave", "Karpenter", "Cluster API", "Medik8s"
DRAINO, NPD, GCM, EKS = "Draino", "Node Problem Detector", "Meta GCM", "EKS node monitoring agent"
READINESS, UPGRADER, AUTOSCALER = "Node Readiness Controller", "GPU Operator", "Cluster Autoscaler"
KUBERNETES, KUBECTL, CLOUD = "Kubernetes", "kubectl", "cloud provider"

#: Keys of taints, the longest first where one begins another. A key that ends with "/" is a prefix.
TAINTS = {
    "nvsentinel.dgxc.nvidia.com/nvcre-cert-failed": NVCRE,
    "nvsentinel.dgxc.nvidia.com/": NVSENTINEL,
    "nvsentinel.nvidia.com/": NVSENTINEL,
    "nvidia.com/gpu-error": NVSENTINEL,
    "nvidia.com/gpu-xid-error": NVSENTINEL,
    "aiinfra/": GOOGLE,
    "sagemaker.amazonaws.com/": HYPERPOD,
    "node.coreweave.cloud/": COREWEAVE,
    "karpenter.sh/": KARPENTER,
    "node.cluster.x-k8s.io/": CLUSTER_API,
    "remediation.medik8s.io/": MEDIK8S,
    "medik8s.io/": MEDIK8S,
    "readiness.k8s.io/": READINESS,
    "ToBeDeletedByClusterAutoscaler": AUTOSCALER,
    "DeletionCandidateOfClusterAutoscaler": AUTOSCALER,
    "node.cloudprovider.kubernetes.io/": CLOUD,
    "node.kubernetes.io/": KUBERNETES,
}

#: Written beside `spec.unschedulable`, which says the same.
CORDON_TAINT = "node.kubernetes.io/unschedulable"


class BadCondition(NamedTuple):
    """bad: the status that is the mark."""

    tool: str
    bad: str = "True"


#: Types of conditions by which a tool says that a node is bad or is being emptied. What else conditions say of cards is health.
CONDITIONS = {
    "NVCRECertFailed": BadCondition(NVCRE),
    "NewNodeValidationRequested": BadCondition(NVSENTINEL),
    "DrainScheduled": BadCondition(DRAINO),
    "AcceleratedHardwareReady": BadCondition(EKS, "False"),
    "GPUMissing": BadCondition(NPD),
    "DrainInProgress": BadCondition(KUBERNETES),
    "Drained": BadCondition(KUBERNETES),
    "MaintenancePlanned": BadCondition(KUBERNETES),
    "MaintenanceInProgress": BadCondition(KUBERNETES),
    "GracefulNodeShutdownInProgress": BadCondition(KUBERNETES),
}
#: Types of Meta GCM: "GcmNvlinkProblem".
GCM_CONDITION = ("Gcm", "Problem")


class BadLabel(NamedTuple):
    """good: values that are no mark. reason: the label with the why. blocks: prefix of values that keep pods away."""

    tool: str
    good: frozenset[str]
    reason: str = ""
    blocks: str = "\0"


#: Labels whose values are states. A value that is not known is a mark: closed lists speak up.
LABELS = {
    "sagemaker.amazonaws.com/node-health-status": BadLabel(
        HYPERPOD, frozenset(("", "Schedulable")), "sagemaker.amazonaws.com/fault-reasons", "Unschedulable"
    ),
    "sagemaker.amazonaws.com/deep-health-check-status": BadLabel(HYPERPOD, frozenset(("", "Passed"))),
    "node.coreweave.cloud/state": BadLabel(COREWEAVE, frozenset(("", "production"))),
    "aiinfra/gpu-healthcheck-result": BadLabel(GOOGLE, frozenset(("", "pass"))),
    "aiinfra/nccl-healthcheck-result": BadLabel(GOOGLE, frozenset(("", "pass"))),
    "aiinfra/reboot-required": BadLabel(GOOGLE, frozenset(("", "false"))),
    "nvsentinel.dgxc.nvidia.com/nvcre-cert-failure": BadLabel(NVCRE, frozenset(("", "false"))),
    "nvidia.com/gpu-driver-upgrade-state": BadLabel(UPGRADER, frozenset(("", "upgrade-done"))),
}
UPGRADE = "nvidia.com/gpu-driver-upgrade-state"
#: States of an upgrade in which nothing is under way.
UPGRADE_RESTS = frozenset(("", "upgrade-done", "upgrade-failed"))
#: "true": the node was cordoned before the upgrade, by somebody else.
CORDONED_BEFORE_UPGRADE = "nvidia.com/gpu-driver-upgrade.node-initial-state.unschedulable"

#: NVSentinel's labels and annotations of a cordon, behind a prefix that can be configured.
BY, WHY, WHEN, LIFTED = "/cordon-by", "/cordon-reason", "/cordon-timestamp", "/uncordon-timestamp"
OPEN_FAULTS, IS_CORDONED = "quarantineHealthEvent", "quarantineHealthEventIsCordoned"
BY_HAND = "quarantinedNodeUncordonedManually"


def tool_of_taint(key: str) -> str:
    """ "" for a key of no table."""
    return next(
        (tool for name, tool in TAINTS.items() if key == name or (name[-1] == "/" and key.startswith(name))), ""
    )
