"""Every reason code of a verdict, once: its headline for pages and what to do about it for the docs.

Codes that only one suite can give are declared by that suite (`Declaration.reasons`); `validations.suites.reasons` has them all.
A code is kept in rows and read by programs: it stays. Headlines are marked for translation.
"""

from __future__ import annotations

from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.reasons_of_links import OF_THE_LINKS
from validations.suites.engine.reasons_of_runs import OF_THE_CLUSTER, OF_THE_PLACE, OF_THE_RUN
from validations.suites.engine.reasons_of_settings import OF_THE_SETTINGS
from validations.suites.engine.words import gettext_noop

_OF_THE_DEVICE = (
    ReasonWords(
        "compute-mode",
        gettext_noop("compute mode is Prohibited or Exclusive"),
        "Set the compute mode of the card to Default on the node.",
        points_to="configuration",
    ),
    ReasonWords(
        "cpu-only",
        gettext_noop("ran on the CPU only"),
        "Check that the container has a device and the libraries of the driver.",
        points_to="driver or runtime",
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
        points_to="card",
    ),
    ReasonWords(
        "driver",
        gettext_noop("driver error"),
        "Check that the driver is loaded on the node and that its library and kernel module have the same version.",
        points_to="driver or runtime",
    ),
    ReasonWords(
        "driver-missing",
        gettext_noop("driver library missing"),
        "Check the device plugin and the RuntimeClass: they put the libraries of the driver into the container.",
        points_to="driver or runtime",
    ),
    ReasonWords(
        "no-adapter",
        gettext_noop("no adapter found"),
        "Check the device plugin of the node and the driver of the adapter.",
        points_to="driver or runtime",
    ),
    ReasonWords(
        "no-device",
        gettext_noop("no device found"),
        "Check that the container has a device and that the driver sees one on the node.",
        points_to="driver or runtime",
    ),
    ReasonWords(
        "hip-error",
        gettext_noop("HIP reported an error"),
        "Check the amdgpu driver on the node, that its version fits the ROCm of the image, and the messages of the kernel.",
    ),
    ReasonWords(
        "not-every-card",
        gettext_noop("some cards were not tested"),
        "Launch a run for each card in the text. Programs skip cards that they do not support.",
    ),
    ReasonWords(
        "software-adapter",
        gettext_noop("ran on a software adapter"),
        "Check the driver on the node: Windows and Vulkan fall back to software without a message.",
        points_to="driver or runtime",
    ),
    ReasonWords(
        "verification",
        gettext_noop("wrong result"),
        "Stop using the card and rerun the suite. Replace a card that computes wrong results.",
        points_to="card",
    ),
    ReasonWords(
        "slower",
        gettext_noop("slower than the last pass"),
        "Check for other workloads on the card, its temperature and its clocks. Then rerun the suite.",
    ),
    ReasonWords(
        "below-floor",
        gettext_noop("below the floor of the card model"),
        "The text has the floor and its source. Check the links between the cards (NVLink, PCIe), clocks and other workloads.",
        points_to="card",
    ),
    ReasonWords(
        "outlier",
        gettext_noop("far from the other cards of the pool"),
        "Compare it with the other cards of the pool on the page of the run. Rerun the suite: one odd run blames no card.",
    ),
    ReasonWords(
        "transport",
        gettext_noop("unexpected transport between the cards"),
        "Check the fabric: network devices and libraries in the container, `NCCL_` variables, peer access between the cards.",
        points_to="configuration",
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
        points_to="unknown",
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
        points_to="image",
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
        points_to="unknown",
    ),
)
_OF_THE_CONTAINER = (
    ReasonWords(
        "bad-arguments",
        gettext_noop("invalid arguments"),
        "Correct the options of the run.",
        points_to="configuration",
    ),
    ReasonWords(
        "container-config",
        gettext_noop("container not created"),
        "Read the message of the kubelet in the text: a Secret, a mount or a runtime is wrong.",
        points_to="configuration",
    ),
    ReasonWords(
        "evicted",
        gettext_noop("pod evicted"),
        "The text names what the node was short of. Rerun it when the node has enough.",
        points_to="scheduling",
    ),
    ReasonWords(
        "image",
        gettext_noop("image not pulled or not runnable"),
        "Check the image name, the registry and the pull secret. Check that the image contains the program.",
        points_to="image",
    ),
    ReasonWords(
        "image-unsuited",
        gettext_noop("image built for another GPU architecture"),
        "Use an image whose program was built for the compute capability of the card.",
        points_to="image",
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
        points_to="image",
    ),
    ReasonWords(
        "mps",
        gettext_noop("MPS server rejected the container"),
        "Check the pods of the MPS control daemon on the node.",
        points_to="driver or runtime",
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

#: Code → words, of all codes that are not one suite's own.
REASONS: dict[str, ReasonWords] = {
    one.code: one
    for group in (
        _OF_THE_DEVICE,
        _OF_THE_LOG,
        _OF_THE_CONTAINER,
        OF_THE_PLACE,
        OF_THE_RUN,
        OF_THE_LINKS,
        OF_THE_CLUSTER,
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
