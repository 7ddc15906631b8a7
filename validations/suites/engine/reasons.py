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
        gettext_noop("the compute mode of the card keeps programs away"),
        "Set the compute mode of the card back to Default on the node.",
    ),
    ReasonWords(
        "cpu-only",
        gettext_noop("only the processor did the work"),
        "Look whether the container was given a device, and whether the driver's libraries are in it.",
    ),
    ReasonWords(
        "cuda-error",
        gettext_noop("CUDA reported an error"),
        "The text names the usual cause: driver libraries, their version, or the mode of the card.",
    ),
    ReasonWords(
        "device-removed",
        gettext_noop("the device was removed in the middle"),
        "Look at the driver's messages on the node (XID, event log); take the card out of use until it is repaired.",
    ),
    ReasonWords(
        "driver",
        gettext_noop("the driver reported an error"),
        "Look whether the driver is loaded on the node and its library and kernel module are of one version.",
    ),
    ReasonWords(
        "driver-missing",
        gettext_noop("a library of the driver is missing"),
        "Look at the device plugin and the RuntimeClass: they put the driver's libraries into the container.",
    ),
    ReasonWords(
        "no-adapter",
        gettext_noop("no adapter was found"),
        "Look at the device plugin of the node and at the driver of the adapter.",
    ),
    ReasonWords(
        "no-device",
        gettext_noop("no device was found"),
        "Look whether the container was given a device, and whether the driver sees one on the node.",
    ),
    ReasonWords(
        "software-adapter",
        gettext_noop("it ran on a software adapter"),
        "Look at the driver on the node: Windows and Vulkan fall back to software without a word.",
    ),
    ReasonWords(
        "verification",
        gettext_noop("the card gave a wrong result"),
        "Take the card out of use and run the suite again; a card that computes wrongly is to be replaced.",
    ),
    ReasonWords(
        "slower",
        gettext_noop("slower than the last good run"),
        "Look for other work on the card, its temperature and its clocks, then run the suite again.",
    ),
)
_OF_THE_LOG = (
    ReasonWords(
        "exit-code",
        gettext_noop("the exit code says no"),
        "Read the last lines of the log; the text has the code and its name where it has one.",
    ),
    ReasonWords(
        "exit-code-unknown",
        gettext_noop("the exit code is not known"),
        "Nothing. Where the exit code is known, `parse_log --exit-code` takes it.",
    ),
    ReasonWords(
        "log-cut",
        gettext_noop("the middle of the log is missing"),
        "Nothing where there is a verdict. Otherwise have the program print less.",
    ),
    ReasonWords(
        "log-incomplete",
        gettext_noop("a part of the log is missing"),
        "Run it again; look why the node does not give its logs.",
    ),
    ReasonWords(
        "mixed-log",
        gettext_noop("the log holds more than one run"),
        "Take an image that runs the program once.",
    ),
    ReasonWords("more", gettext_noop("there are more reasons"), "Read the log."),
    ReasonWords(
        "no-verdict",
        gettext_noop("the log has no verdict"),
        "Read the log: the program did not come to its end, or it was another program.",
    ),
    ReasonWords(
        "parser",
        gettext_noop("the parser failed on the log"),
        "It is a mistake of gpudash: please report it with the log.",
    ),
)
_OF_THE_CONTAINER = (
    ReasonWords(
        "bad-arguments",
        gettext_noop("it was called with bad arguments"),
        "Correct the options of the run.",
    ),
    ReasonWords(
        "container-config",
        gettext_noop("the container could not be made"),
        "Read the text, which is the kubelet's: a Secret, a mount or a runtime is not as it should be.",
    ),
    ReasonWords(
        "evicted",
        gettext_noop("the pod was evicted"),
        "The text says what the node was short of; run it again when there is enough.",
    ),
    ReasonWords(
        "image",
        gettext_noop("the image could not be pulled"),
        "Look at its name, its registry and the pull secret, and whether it has the program that is to run.",
    ),
    ReasonWords(
        "image-unsuited",
        gettext_noop("the image has no code for this card"),
        "Take an image whose program was built for the compute capability of the card.",
    ),
    ReasonWords(
        "killed",
        gettext_noop("the container was killed"),
        "For OOMKilled, raise the option `host_memory`; otherwise look who has ended it, then run it again.",
    ),
    ReasonWords(
        "model-load",
        gettext_noop("the model could not be loaded"),
        "Look whether the image has the model at the path of the options.",
    ),
    ReasonWords(
        "mps",
        gettext_noop("the MPS server did not take the container"),
        "Look at the pods of the MPS control daemon on the node.",
    ),
    ReasonWords(
        "out-of-memory",
        gettext_noop("out of memory"),
        "Others hold the memory: run it when there is room, or ask for more.",
    ),
    ReasonWords(
        "timeout",
        gettext_noop("it took too long"),
        "Look what it waited for; raise the option `deadline_s` or the limit of the step if it needs the time.",
    ),
)
_OF_THE_PLACE = (
    ReasonWords(
        "cordoned",
        gettext_noop("the node is cordoned"),
        "Nothing: the run tolerates it. Ask whoever cordoned the node before its card is taken for minutes.",
    ),
    ReasonWords(
        "no-driver-path",
        gettext_noop("a container there would have no driver"),
        "Set `GPUDASH_ALPHA_DRIVER_PATH` to the folder of the driver's libraries on the nodes.",
    ),
    ReasonWords("no-free", gettext_noop("nothing is free"), "Wait, or choose another card or node.", passes=True),
    ReasonWords(
        "no-place",
        gettext_noop("the node or card is not there any more"),
        "Launch it on a node and card that are there.",
    ),
    ReasonWords(
        "no-resource",
        gettext_noop("the node has no resource that suits"),
        "Choose a node with one of the suite's resources; look at the device plugin if it should have one.",
    ),
    ReasonWords(
        "no-runtime-class",
        gettext_noop("the cluster has no such RuntimeClass"),
        "Create the RuntimeClass, or set the option `runtime_class` to one that is there.",
    ),
    ReasonWords(
        "not-ready",
        gettext_noop("the node is not ready"),
        "Wait, or look at the node's conditions and taints.",
        passes=True,
    ),
    ReasonWords("place-changed", gettext_noop("the node has changed since"), "Launch it again."),
    ReasonWords(
        "shared-cards",
        gettext_noop("the node shares its cards"),
        "Choose a node that gives out whole cards: shares of one card cannot stand for several.",
    ),
    ReasonWords(
        "suite-missing",
        gettext_noop("the suite is not there any more"),
        "Choose another suite; this version of gpudash does not have it.",
    ),
    ReasonWords(
        "unit-unknown",
        gettext_noop("the memory unit is not known"),
        "Set the annotation `gpudash.io/memory-unit` (GiB or MiB) on the node.",
    ),
    ReasonWords(
        "windows-build",
        gettext_noop("the image is for another Windows"),
        "Choose a node of that build, or an image for the build of the node.",
    ),
    ReasonWords("wrong-os", gettext_noop("the suite does not run on this system"), "Choose a node of its system."),
)
_OF_THE_RUN = (
    ReasonWords("cancelled", gettext_noop("cancelled"), "Nothing; launch it again if it is still wanted."),
    ReasonWords(
        "card-unknown",
        gettext_noop("it is not known which card it ran on"),
        "Nothing: the result is the node's. The run says why the card is not known.",
    ),
    ReasonWords(
        "other-card",
        gettext_noop("it ran on another card than the one asked for"),
        "Nothing: the result is that card's. Launch it again for the card that was asked for.",
    ),
    ReasonWords(
        "unschedulable",
        gettext_noop("no node took the pod"),
        "Read the scheduler's words in the text; make room, or choose another node.",
    ),
    ReasonWords(
        "refused-by-node",
        gettext_noop("the node refused the pod"),
        "Read the kubelet's words in the text; look at the device plugin of the node.",
    ),
    ReasonWords("node-lost", gettext_noop("the node was lost"), "Look at the node; run it again when it is back."),
    ReasonWords(
        "wrong-node",
        gettext_noop("it ran on another node"),
        "Give each node its own label `kubernetes.io/hostname`.",
    ),
    ReasonWords("pod-deleted", gettext_noop("the pod was deleted"), "Look who has deleted it, then run it again."),
    ReasonWords("job-deleted", gettext_noop("the Job was deleted"), "Look who has deleted it, then run it again."),
    ReasonWords("job-failed", gettext_noop("the Job failed"), "Read the Job controller's words in the text."),
    ReasonWords(
        "foreign-job",
        gettext_noop("this installation did not create the Job"),
        "Find who created the Job, and delete it. Another launcher did: "
        "[A copy of the database](validations.md#a-copy-of-the-database).",
    ),
    ReasonWords(
        "pod-changed",
        gettext_noop("the pod is not the one that gpudash posted"),
        "The text names what differs. Find the webhook or the person that changed the pod; except the namespace of the "
        "validations from webhooks that inject into containers or rewrite images. Two pods: Kubernetes may start a second one "
        "when its API server restarts; run it again.",
    ),
    ReasonWords(
        "strange-status",
        gettext_noop("the status of the container cannot be true"),
        "Look at the kubelet of the node, then run it again.",
    ),
    ReasonWords(
        "unreadable",
        gettext_noop("the Job or its pod cannot be read"),
        "Look at the Job in the cluster: a webhook or another program may have changed it.",
    ),
    ReasonWords(
        "internal",
        gettext_noop("gpudash made a mistake"),
        "Please report it with the log of the launch worker; where a log was read again, of the tasks worker.",
    ),
)
_OF_THE_CLUSTER = (
    ReasonWords(
        "forbidden",
        gettext_noop("the cluster does not let the launcher do this"),
        "The launcher lacks a rule; the text names verb and resource. `deploy/launcher-role.yaml` grants it.",
        refusal=True,
    ),
    ReasonWords(
        "kubeconfig",
        gettext_noop("the launcher's kubeconfig cannot be used"),
        "The launcher's kubeconfig cannot be read or used: correct it.",
        refusal=True,
        of_credentials=True,
    ),
    ReasonWords(
        "namespace",
        gettext_noop("the namespace of the Jobs is not there"),
        "Create the namespace of the Jobs, or wait until it is deleted and make it anew.",
    ),
    ReasonWords(
        "quota",
        gettext_noop("a quota does not admit the Job"),
        "Raise the quota of the namespace of the Jobs, or ask for less.",
    ),
    ReasonWords(
        "refused",
        gettext_noop("the API server refused the Job"),
        "Read its words in the text; an admission webhook may have its own rules.",
    ),
    ReasonWords(
        "unauthorized",
        gettext_noop("the cluster does not accept the launcher's credentials"),
        "The cluster does not accept the launcher's token or certificate (401); renew its kubeconfig.",
        refusal=True,
        of_credentials=True,
    ),
    ReasonWords(
        "unreachable",
        gettext_noop("the cluster was not reached"),
        "Look whether its API server is up and the launch worker reaches it.",
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
