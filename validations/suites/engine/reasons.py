"""Every reason code of a verdict, once: its headline for pages and what to do about it for the docs.

Codes that only one suite can give are declared by that suite (`Declaration.reasons`); `validations.suites.reasons` has them all.
A code is kept in rows and read by programs: it stays. Headlines are marked for translation.
"""

from __future__ import annotations

from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.reasons_of_settings import OF_THE_SETTINGS
from validations.suites.engine.words import gettext_noop

_OF_THE_DEVICE = (
    ReasonWords(
        "compute-mode",
        gettext_noop("compute mode is Prohibited or Exclusive"),
        "Set the compute mode of the card to Default on the node.",
    ),
    ReasonWords(
        "cpu-only",
        gettext_noop("ran on the CPU only"),
        "Check that the container has a device and the libraries of the driver.",
    ),
    ReasonWords(
        "cuda-error",
        gettext_noop("CUDA reported an error"),
        "The text names the usual cause: driver libraries, their version, or the compute mode.",
    ),
    ReasonWords(
        "device-removed",
        gettext_noop("device removed during the run"),
        "Check the messages of the driver on the node (Xid, event log). Do not use the card until it is repaired.",
    ),
    ReasonWords(
        "driver",
        gettext_noop("driver error"),
        "Check that the driver is loaded on the node and that its library and kernel module have the same version.",
    ),
    ReasonWords(
        "driver-missing",
        gettext_noop("driver library missing"),
        "Check the device plugin and the RuntimeClass: they put the libraries of the driver into the container.",
    ),
    ReasonWords(
        "no-adapter",
        gettext_noop("no adapter found"),
        "Check the device plugin of the node and the driver of the adapter.",
    ),
    ReasonWords(
        "no-device",
        gettext_noop("no device found"),
        "Check that the container has a device and that the driver sees one on the node.",
    ),
    ReasonWords(
        "software-adapter",
        gettext_noop("ran on a software adapter"),
        "Check the driver on the node: Windows and Vulkan fall back to software without a message.",
    ),
    ReasonWords(
        "verification",
        gettext_noop("wrong result"),
        "Stop using the card and rerun the suite. Replace a card that computes wrong results.",
    ),
    ReasonWords(
        "slower",
        gettext_noop("slower than the last pass"),
        "Check for other workloads on the card, its temperature and its clocks. Then rerun the suite.",
    ),
)
_OF_THE_LOG = (
    ReasonWords(
        "exit-code",
        gettext_noop("non-zero exit code"),
        "Read the last lines of the log. The text has the exit code and its name.",
    ),
    ReasonWords(
        "exit-code-unknown",
        gettext_noop("exit code unknown"),
        "No action. If you know the exit code, pass it with `parse_log --exit-code`.",
    ),
    ReasonWords(
        "log-cut",
        gettext_noop("log truncated"),
        "No action if there is a verdict. Otherwise make the program print less.",
    ),
    ReasonWords(
        "log-incomplete",
        gettext_noop("log incomplete"),
        "Rerun it. Find out why the node does not return its logs.",
    ),
    ReasonWords(
        "unknown-value",
        gettext_noop("unknown value in the log"),
        "No action: it decides no verdict. Report it with the log so that gpudash can support the value.",
    ),
    ReasonWords(
        "mixed-log",
        gettext_noop("more than one run in the log"),
        "Use an image that runs the program once.",
    ),
    ReasonWords("more", gettext_noop("more reasons"), "Read the log."),
    ReasonWords(
        "no-verdict",
        gettext_noop("no verdict line in the log"),
        "Read the log: the program did not finish, or a different program ran.",
    ),
    ReasonWords(
        "parser",
        gettext_noop("parser failed on the log"),
        "This is a bug in gpudash. Please report it with the log.",
    ),
)
_OF_THE_CONTAINER = (
    ReasonWords(
        "bad-arguments",
        gettext_noop("invalid arguments"),
        "Correct the options of the run.",
    ),
    ReasonWords(
        "container-config",
        gettext_noop("container not created"),
        "Read the message of the kubelet in the text: a Secret, a mount or a runtime is wrong.",
    ),
    ReasonWords(
        "evicted",
        gettext_noop("pod evicted"),
        "The text names what the node was short of. Rerun it when the node has enough.",
    ),
    ReasonWords(
        "image",
        gettext_noop("image not pulled or not runnable"),
        "Check the image name, the registry and the pull secret. Check that the image contains the program.",
    ),
    ReasonWords(
        "image-unsuited",
        gettext_noop("image built for another GPU architecture"),
        "Use an image whose program was built for the compute capability of the card.",
    ),
    ReasonWords(
        "killed",
        gettext_noop("container killed"),
        "For OOMKilled, raise the option `host_memory`. Otherwise find out what ended it, then rerun it.",
    ),
    ReasonWords(
        "model-load",
        gettext_noop("model not loaded"),
        "Check that the image has the model at the path given in the options.",
    ),
    ReasonWords(
        "mps",
        gettext_noop("MPS server rejected the container"),
        "Check the pods of the MPS control daemon on the node.",
    ),
    ReasonWords(
        "out-of-memory",
        gettext_noop("out of memory"),
        "Other processes use the memory. Run it when memory is free, or request more.",
    ),
    ReasonWords(
        "timeout",
        gettext_noop("timed out"),
        "Find out what blocked it. If it needs the time, raise the option `deadline_s` or the timeout of the step.",
    ),
)
_OF_THE_PLACE = (
    ReasonWords(
        "compute-capability",
        gettext_noop("compute capability too low"),
        "Choose a node with newer cards, or an image with code for the compute capability of the card.",
    ),
    ReasonWords(
        "containerd-below",
        gettext_noop("containerd too old"),
        "Upgrade containerd on the node, or choose another node.",
    ),
    ReasonWords(
        "cordoned",
        gettext_noop("node cordoned"),
        "No action: the run tolerates it and occupies a card for minutes. Ask the person who cordoned the node first.",
    ),
    ReasonWords(
        "cuda-below",
        gettext_noop("driver does not support the CUDA version of the image"),
        "Upgrade the driver of the node, or choose an image with a CUDA version that the driver supports.",
    ),
    ReasonWords(
        "driver-below",
        gettext_noop("driver too old for the image"),
        "Upgrade the driver of the node, or choose an image with an older CUDA version.",
    ),
    ReasonWords(
        "kubelet-below",
        gettext_noop("kubelet too old"),
        "Upgrade the kubelet of the node, or choose another node.",
    ),
    ReasonWords(
        "no-driver-path",
        gettext_noop("no driver in containers of the node"),
        "Set `GPUDASH_ALPHA_DRIVER_PATH` to the folder of the driver's libraries on the nodes.",
    ),
    ReasonWords("no-free", gettext_noop("not enough free"), "Wait, or choose another card or node.", passes=True),
    ReasonWords(
        "target-gone",
        gettext_noop("node or card no longer exists"),
        "Launch it on an existing node and card.",
    ),
    ReasonWords(
        "no-resource",
        gettext_noop("no suitable resource on the node"),
        "Choose a node with one of the suite's resources. If this node should have one, check its device plugin.",
    ),
    ReasonWords(
        "no-runtime-class",
        gettext_noop("RuntimeClass does not exist"),
        "Create the RuntimeClass, or set the option `runtime_class` to an existing one.",
    ),
    ReasonWords(
        "not-ready",
        gettext_noop("node not ready"),
        "Wait, or check the conditions and taints of the node.",
        passes=True,
    ),
    ReasonWords("place-changed", gettext_noop("node changed after the launch"), "Launch it again."),
    ReasonWords(
        "software-not-ready",
        gettext_noop("GPU software of the node not ready"),
        "The text names the component and why it is not ready. Fix that first, then launch it again.",
    ),
    ReasonWords(
        "shared-cards",
        gettext_noop("node shares its cards"),
        "Choose a node that allocates whole cards: shares of one card do not count as several cards.",
    ),
    ReasonWords(
        "suite-missing",
        gettext_noop("suite no longer exists"),
        "Choose another suite: this version of gpudash does not have it.",
    ),
    ReasonWords(
        "unit-unknown",
        gettext_noop("memory unit unknown"),
        "Set the annotation `gpudash.io/memory-unit` (GiB or MiB) on the node.",
    ),
    ReasonWords(
        "windows-build",
        gettext_noop("Windows build mismatch"),
        "Choose a node of that build, or an image for the build of the node.",
    ),
    ReasonWords(
        "wrong-os",
        gettext_noop("suite does not run on this operating system"),
        "Choose a node with an operating system that the suite supports.",
    ),
)
_OF_THE_RUN = (
    ReasonWords("cancelled", gettext_noop("cancelled"), "No action. Launch it again if it is still needed."),
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
    ),
    ReasonWords(
        "refused-by-node",
        gettext_noop("kubelet rejected the pod"),
        "Read the message of the kubelet in the text. Check the device plugin of the node.",
    ),
    ReasonWords("node-lost", gettext_noop("node lost"), "Check the node. Rerun it when the node is back."),
    ReasonWords(
        "wrong-node",
        gettext_noop("ran on another node"),
        "Give each node its own label `kubernetes.io/hostname`.",
    ),
    ReasonWords("pod-deleted", gettext_noop("pod deleted"), "Find out what deleted it, then rerun it."),
    ReasonWords("job-deleted", gettext_noop("Job deleted"), "Find out what deleted it, then rerun it."),
    ReasonWords("job-failed", gettext_noop("Job failed"), "Read the message of the Job controller in the text."),
    ReasonWords(
        "job-of-other-launcher",
        gettext_noop("Job created by another launcher"),
        "Find the installation that created the Job, then delete the Job. See [A copy of the "
        "database](validations.md#a-copy-of-the-database).",
    ),
    ReasonWords(
        "pod-changed",
        gettext_noop("pod changed after gpudash created it"),
        "The text names the difference. Find the webhook or person that changed the pod. Exclude the namespace "
        "of the validations from webhooks that inject into containers or rewrite images. Two pods: Kubernetes "
        "may start a second one when its API server restarts. Rerun it.",
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
    ),
    ReasonWords(
        "internal",
        gettext_noop("internal error in gpudash"),
        "Please report it with the log of the launch worker. If a log was read again: with the log of the tasks "
        "worker.",
    ),
)
_OF_THE_CLUSTER = (
    ReasonWords(
        "forbidden",
        gettext_noop("launcher not authorized (RBAC)"),
        "The launcher lacks a permission: the text names verb and resource. Apply `deploy/launcher-role.yaml`.",
        refusal=True,
    ),
    ReasonWords(
        "kubeconfig",
        gettext_noop("launcher kubeconfig not usable"),
        "The kubeconfig of the launcher cannot be read or used. Correct it.",
        refusal=True,
        of_credentials=True,
    ),
    ReasonWords(
        "namespace",
        gettext_noop("namespace of the Jobs does not exist"),
        "Create the namespace of the Jobs. If it is being deleted, wait, then create it again.",
    ),
    ReasonWords(
        "quota",
        gettext_noop("a quota rejected the Job"),
        "Raise the quota of the namespace of the Jobs, or request less.",
    ),
    ReasonWords(
        "refused",
        gettext_noop("API server rejected the Job"),
        "Read the message of the API server in the text. An admission webhook may have its own rules.",
    ),
    ReasonWords(
        "unauthorized",
        gettext_noop("launcher credentials rejected (401)"),
        "The cluster rejects the token or certificate of the launcher (401). Renew its kubeconfig.",
        refusal=True,
        of_credentials=True,
    ),
    ReasonWords(
        "unreachable",
        gettext_noop("cluster unreachable"),
        "Check that its API server is up and that the launch worker can reach it.",
    ),
)

#: Code → words, of all codes that are not one suite's own.
REASONS: dict[str, ReasonWords] = {
    one.code: one
    for group in (
        _OF_THE_DEVICE,
        _OF_THE_LOG,
        _OF_THE_CONTAINER,
        _OF_THE_PLACE,
        _OF_THE_RUN,
        _OF_THE_CLUSTER,
        OF_THE_SETTINGS,
    )
    for one in group
}
#: Reasons that pass by themselves: a run may be asked to wait for them.
PASSING = frozenset(one.code for one in REASONS.values() if one.passes)
#: Reasons that lie in the cluster's rules for the launcher and not in the place.
REFUSALS = frozenset(one.code for one in REASONS.values() if one.refusal)
#: Of these, those that are over when a pass of the launcher gets through; of the others only the making of a Job tells.
OF_CREDENTIALS = frozenset(one.code for one in REASONS.values() if one.of_credentials)
