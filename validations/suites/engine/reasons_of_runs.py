"""Reason codes of where and how a run ran: its place, its life, and the cluster around it."""

from __future__ import annotations

from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.words import gettext_noop

OF_THE_PLACE = (
    ReasonWords(
        "compute-capability",
        gettext_noop("compute capability too low"),
        "Choose a node with newer cards, or an image with code for the compute capability of the card.",
        points_to="image",
    ),
    ReasonWords(
        "containerd-below",
        gettext_noop("containerd too old"),
        "Upgrade containerd on the node, or choose another node.",
        points_to="driver or runtime",
    ),
    ReasonWords(
        "cordoned",
        gettext_noop("node cordoned"),
        "No action: the run tolerates it and occupies a card for minutes. Ask the person who cordoned the node first.",
        points_to="scheduling",
    ),
    ReasonWords(
        "cuda-below",
        gettext_noop("driver does not support the CUDA version of the image"),
        "Upgrade the driver of the node, or choose an image with a CUDA version that the driver supports.",
        points_to="driver or runtime",
    ),
    ReasonWords(
        "driver-below",
        gettext_noop("driver too old for the image"),
        "Upgrade the driver of the node, or choose an image with an older CUDA version.",
        points_to="driver or runtime",
    ),
    ReasonWords(
        "kubelet-below",
        gettext_noop("kubelet too old"),
        "Upgrade the kubelet of the node, or choose another node.",
        points_to="driver or runtime",
    ),
    ReasonWords(
        "no-driver-path",
        gettext_noop("no driver in containers of the node"),
        "Set `GPUDASH_ALPHA_DRIVER_PATH` to the folder of the driver's libraries on the nodes.",
        points_to="configuration",
    ),
    ReasonWords(
        "no-free",
        gettext_noop("not enough free"),
        "Wait, or choose another card or node.",
        passes=True,
        points_to="scheduling",
    ),
    ReasonWords(
        "target-gone",
        gettext_noop("node or card no longer exists"),
        "Launch it on an existing node and card.",
        points_to="scheduling",
    ),
    ReasonWords(
        "no-resource",
        gettext_noop("no suitable resource on the node"),
        "Choose a node with one of the suite's resources. If this node should have one, check its device plugin.",
        points_to="scheduling",
    ),
    ReasonWords(
        "no-runtime-class",
        gettext_noop("RuntimeClass does not exist"),
        "Create the RuntimeClass, or set the option `runtime_class` to an existing one.",
        points_to="configuration",
    ),
    ReasonWords(
        "not-ready",
        gettext_noop("node not ready"),
        "Wait, or check the conditions and taints of the node.",
        passes=True,
        points_to="scheduling",
    ),
    ReasonWords(
        "place-changed",
        gettext_noop("node changed after the launch"),
        "Launch it again.",
        points_to="scheduling",
    ),
    ReasonWords(
        "software-not-ready",
        gettext_noop("GPU software of the node not ready"),
        "The text names the component and why it is not ready. Fix that first, then launch it again.",
        points_to="driver or runtime",
    ),
    ReasonWords(
        "shared-cards",
        gettext_noop("node shares its cards"),
        "Choose a node that allocates whole cards: shares of one card do not count as several cards.",
        points_to="configuration",
    ),
    ReasonWords(
        "suite-missing",
        gettext_noop("suite no longer exists"),
        "Choose another suite: this version of gpudash does not have it.",
        points_to="configuration",
    ),
    ReasonWords(
        "unit-unknown",
        gettext_noop("memory unit unknown"),
        "Set the annotation `gpudash.io/memory-unit` (GiB or MiB) on the node.",
        points_to="configuration",
    ),
    ReasonWords(
        "windows-build",
        gettext_noop("Windows build mismatch"),
        "Choose a node of that build, or an image for the build of the node.",
        points_to="image",
    ),
    ReasonWords(
        "wrong-os",
        gettext_noop("suite does not run on this operating system"),
        "Choose a node with an operating system that the suite supports.",
        points_to="configuration",
    ),
)
OF_THE_RUN = (
    ReasonWords("cancelled", gettext_noop("cancelled"), "No action. Launch it again if it is still needed."),
    ReasonWords(
        "in-use",
        gettext_noop("card allocated before the run started"),
        "No action: the run was skipped. The policy tests the card when it is idle.",
        passes=True,
    ),
    ReasonWords(
        "policies-off",
        gettext_noop("policies switched off"),
        "No action: the run was skipped. Resume the policies, or remove the annotation `gpudash.io/policies` of the node.",
    ),
    ReasonWords(
        "preempted",
        gettext_noop("skipped: another pod needed the card"),
        "No action: the run was skipped. A policy tests the card when it is idle; other runs can be launched again.",
    ),
    ReasonWords(
        "card-unknown",
        gettext_noop("tested card unidentified"),
        "No action: the result belongs to the node. The run states why the card is unidentified.",
    ),
    ReasonWords(
        "other-card",
        gettext_noop("ran on another card than requested"),
        "No action: the result belongs to the card that ran. Launch it again for the requested card.",
    ),
    ReasonWords(
        "unschedulable",
        gettext_noop("unschedulable: no node accepted the pod"),
        "Read the scheduler message in the text. Free resources, or choose another node.",
        points_to="scheduling",
    ),
    ReasonWords(
        "refused-by-node",
        gettext_noop("kubelet rejected the pod"),
        "Read the message of the kubelet in the text. Check the device plugin of the node.",
        points_to="scheduling",
    ),
    ReasonWords(
        "node-lost",
        gettext_noop("node lost"),
        "Check the node. Rerun it when the node is back.",
        points_to="unknown",
    ),
    ReasonWords(
        "wrong-node",
        gettext_noop("ran on another node"),
        "Give each node its own label `kubernetes.io/hostname`.",
        points_to="scheduling",
    ),
    ReasonWords(
        "pod-deleted",
        gettext_noop("pod deleted"),
        "Find out what deleted it, then rerun it.",
        points_to="unknown",
    ),
    ReasonWords(
        "job-deleted",
        gettext_noop("Job deleted"),
        "Find out what deleted it, then rerun it.",
        points_to="unknown",
    ),
    ReasonWords("job-failed", gettext_noop("Job failed"), "Read the message of the Job controller in the text."),
    ReasonWords(
        "job-of-other-launcher",
        gettext_noop("Job created by another launcher"),
        "Find the installation that created the Job, then delete the Job.",
        points_to="configuration",
    ),
    ReasonWords(
        "pod-changed",
        gettext_noop("pod changed after gpudash created it"),
        "The text names the difference. Find the webhook or person that changed the pod. Exclude the namespace "
        "of the validations from webhooks that inject into containers or rewrite images. Two pods: Kubernetes "
        "may start a second one when its API server restarts. Rerun it.",
        points_to="configuration",
    ),
    ReasonWords(
        "invalid-container-status",
        gettext_noop("invalid container status"),
        "Check the kubelet of the node, then rerun it.",
    ),
    ReasonWords(
        "unreadable",
        gettext_noop("Job or pod cannot be read"),
        "Check the Job in the cluster: a webhook or another program may have changed it.",
        points_to="unknown",
    ),
    ReasonWords(
        "internal",
        gettext_noop("internal error in gpudash"),
        "Please report it with the log of the launch worker. If a log was read again: with the log of the tasks "
        "worker.",
        points_to="unknown",
    ),
)
OF_THE_CLUSTER = (
    ReasonWords(
        "forbidden",
        gettext_noop("launcher not authorized (RBAC)"),
        "The launcher lacks a permission: the text names verb and resource. Apply `deploy/launcher-role.yaml`.",
        refusal=True,
        points_to="configuration",
    ),
    ReasonWords(
        "kubeconfig",
        gettext_noop("launcher kubeconfig not usable"),
        "The kubeconfig of the launcher cannot be read or used. Correct it.",
        refusal=True,
        of_credentials=True,
        points_to="configuration",
    ),
    ReasonWords(
        "namespace",
        gettext_noop("namespace of the Jobs does not exist"),
        "Create the namespace of the Jobs. If it is being deleted, wait, then create it again.",
        points_to="configuration",
    ),
    ReasonWords(
        "quota",
        gettext_noop("a quota rejected the Job"),
        "Raise the quota of the namespace of the Jobs, or request less.",
        points_to="scheduling",
    ),
    ReasonWords(
        "refused",
        gettext_noop("API server rejected the Job"),
        "Read the message of the API server in the text. An admission webhook may have its own rules.",
        points_to="configuration",
    ),
    ReasonWords(
        "unauthorized",
        gettext_noop("launcher credentials rejected (401)"),
        "The cluster rejects the token or certificate of the launcher (401). Renew its kubeconfig.",
        refusal=True,
        of_credentials=True,
        points_to="configuration",
    ),
    ReasonWords(
        "unreachable",
        gettext_noop("cluster unreachable"),
        "Check that its API server is up and that the launch worker can reach it.",
        points_to="unknown",
    ),
)
