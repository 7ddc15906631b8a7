"""AMD's device plugin: `amd.com/gpu`, and with the naming strategy "mixed" a resource for each kind of partition.

A device is a card, or a partition of one where the driver has divided it (`amd.com/cpx_nps1`: compute mode CPX, memory mode NPS1);
with the strategy "single" partitions are counted under `amd.com/gpu` too. A device has one holder; which one a pod got is not
in the API. The node labeller says what the devices are; it looks once, when it starts. Source: ROCm/k8s-device-plugin ed76468.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from kube.objects import Node, Pod
from kube.quantity import count
from stacks.engine.base import WARNING, WHOLE, Context, Finding, StackReport
from stacks.engine.describe import describe
from stacks.engine.groups import Group, all_known, given_out, numbered, whole
from stacks.engine.labels import GIB, first, text
from stacks.engine.names import labels_of
from stacks.engine.offers import offer, shortfall, states
from stacks.engine.overrides import MEMORY, overrides
from stacks.engine.requests import allocation, holds, requests
from stacks.engine.shell import describe_object
from stacks.engine.software.base import (
    LEFT_OUT,
    NOT_NEEDED,
    NOT_READY,
    OUTDATED,
    READY,
    UNKNOWN,
    WANTED,
    Component,
    Expected,
    Software,
    SoftwareOf,
    Statement,
)
from stacks.engine.software.base import WAITING as SOFTWARE_WAITING
from stacks.engine.software.pods import seconds
from stacks.engine.stack import Components, Labels, NodeLabels, Stack
from stacks.engine.sums import total
from stacks.shared.ways import whole_cards
from wording.said import gettext_noop, quote, sentence

NAME = "amd"
GPU = "amd.com/gpu"
#: Compute mode and memory mode of a partition, as the driver names them, in lower case.
_MODES = re.compile(r"[a-z]{1,2}px_nps[0-9]{1,2}")
_PARTITION = re.compile(rf"amd\.com/({_MODES.pattern})")
PRESENT = "feature.node.kubernetes.io/amd-gpu"
#: Of nodes whose devices are all of one kind.
MODE_LABEL = "amd.com/gpu.compute-memory-partition"
#: Older labellers write only the second; newer ones both.
_LABELLER = ("amd.com/gpu.", "beta.amd.com/gpu.")
_VRAM = re.compile(r"([0-9]{1,4})G")
_LONGEST_MODEL = 63
_PLUGIN, _LABELLER_POD, _EXPORTER = "amd-device-plugin", "amd-node-labeller", "amd-metrics-exporter"


def owns(resource: str, context: Context) -> bool:
    """Cards, and every kind of partition."""
    return resource == GPU or _PARTITION.fullmatch(resource) is not None


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards and partitions by count, their holders without a card. None when the node has none and no pod holds one, or they are
    another system's slots."""

    def mine(resource: str) -> bool:
        return owns(resource, context) and resource not in context.taken

    stated = [resource for resource in _stated(node) if mine(resource)]
    held = [(pod, need) for pod in pods if holds(pod) for need in requests(pod, mine)]
    if not held and not stated:
        return None
    given = overrides(node)
    about, stale = describe(node, given, NODE_LABELS), _stale(node, stated)
    if stale and given.memory_bytes is None:
        about = msgspec.structs.replace(about, memory_bytes=None, memory_source="")
    # A resource that the plugin has given up stays on the node with 0 devices.
    offering = [resource for resource in stated if offer(node, resource).slots != 0]
    groups = [
        msgspec.structs.replace(
            whole(node, NAME, resource, about, given, alone=offering == [resource]), profile=_profile(node, resource)
        )
        for resource in stated
    ]
    withheld = sentence("The plugin marked devices as unhealthy, or the node lost them.")
    return StackReport(
        stack=NAME,
        vendor=NAME,
        cards=numbered(groups),
        cards_known=all_known(groups, (need.resource for _, need in held)),
        allocations=tuple(
            allocation(pod, need, NAME, WHOLE, memory_bytes=about.memory_of(need.quantity)) for pod, need in held
        ),
        findings=(*stale, *(found for group in groups for found in shortfall(group.resource, group.offer, withheld))),
        physical_cards=_boards(groups),
        memory_total_bytes=given_out(groups),
    )


def _profile(node: Node, resource: str) -> str:
    """The modes that a device is a part of a card by; "" for a whole card, which the driver calls a single partition (SPX)."""
    match = _PARTITION.fullmatch(resource)
    mode = match[1] if match else labels_of(node).get(MODE_LABEL, "")
    return mode if _MODES.fullmatch(mode) and not mode.startswith("spx") else ""


def _boards(groups: list[Group]) -> int | None:
    """Nothing says of how many cards the parts are: how many a card gives depends on its model, and some may be missing."""
    return total(None if group.profile and group.number != 0 else group.number for group in groups)


def _stated(node: Node) -> list[str]:
    """The resources of this stack that the node names, whole cards first."""
    status = node.status
    offered = {**(status.capacity or {}), **(status.allocatable or {})} if status else {}
    found = sorted(name for name in offered if _PARTITION.fullmatch(name))
    return [GPU, *found] if states(node, GPU) else found


def _stale(node: Node, stated: list[str]) -> list[Finding]:
    """`labels-disagree` where the labels were written while the cards were divided otherwise: their memory is not that of now."""
    mode = labels_of(node).get(MODE_LABEL)
    now = [match[1] for resource in stated if (match := _PARTITION.fullmatch(resource)) and offer(node, resource).slots]
    if mode is None or not now or now == [mode]:
        return []
    said = sentence(
        "The label {mode_label} is {mode}, but the node offers {names}. The labels are older than the current "
        "partitioning, so gpudash does not use their memory. Restart the node labeller on this node, or set the "
        "annotation {memory}.",
        mode_label=MODE_LABEL,
        mode=mode[:40],
        names=", ".join(now[:5]),
        memory=MEMORY,
    )
    return [Finding(code="labels-disagree", severity=WARNING, text=said)]


def _only(labels: Labels, what: str) -> tuple[str, str] | None:
    """(what the labeller says of all devices, by which label): "amd.com/gpu.vram" = "64G", or "beta.amd.com/gpu.vram.64G" = "8".

    None when it does not say, or says several things: which of them a device has is then not known.
    """
    for prefix in _LABELLER:
        name = prefix + what
        if labels.get(name):
            return labels[name], f"label {name}"
        counted = [key for key in labels if key.startswith(f"{name}.") and (count(labels[key]) or 0) > 0]
        if len(counted) == 1:
            return counted[0].removeprefix(f"{name}."), f"label {counted[0]}"
        if counted:
            return None
    return None


def _model(labels: Labels) -> tuple[str, str] | None:
    found = _only(labels, "product-name")
    return found if found and len(found[0]) <= _LONGEST_MODEL else None


def _memory(labels: Labels) -> tuple[int, str] | None:
    """The labeller rounds to GiB; 0 is what it writes where the driver states no memory of the card's own."""
    found = _only(labels, "vram")
    match = _VRAM.fullmatch(found[0]) if found else None
    return (int(match[1]) * GIB, found[1]) if found and match and int(match[1]) else None


NODE_LABELS = NodeLabels(
    prefixes=("amd.com/", "beta.amd.com/", PRESENT),
    present=(PRESENT,),
    vendor_words=("amd",),
    model=_model,
    memory=_memory,
    driver=first(("amd.com/gpu.driver-version",), text),
)


def concerns(node: Node, software: Software) -> bool:
    """Where AMD's software is installed, or the node has such a card."""
    installed = (
        any(software.daemonsets.get(name) for name in (_PLUGIN, _LABELLER_POD, _EXPORTER)) or software.deviceconfigs
    )
    return bool(installed) or _evidence(node)


def _evidence(node: Node) -> bool:
    stated = (node.status.capacity if node.status else None) or {}
    labels = labels_of(node)
    return labels.get(PRESENT) == "true" or any(name.startswith("amd.com/") for name in (*stated, *labels))


def _wanted(name: str) -> Callable[[Node, Software], Expected]:
    def expected(node: Node, software: Software) -> Expected:
        if not _evidence(node):
            return LEFT_OUT
        if name != _PLUGIN and not software.daemonsets.get(name):
            return LEFT_OUT
        return WANTED

    return expected


#: State of the driver's upgrade on a node → what it means for the driver: it works, it is being changed, or it has failed.
_DRIVER_STATES = {
    **dict.fromkeys(("Install-Complete", "Upgrade-Complete"), READY),
    **dict.fromkeys(("Upgrade-Not-Started",), OUTDATED),
    **dict.fromkeys(
        ("Upgrade-Started", "Install-In-Progress", "Upgrade-In-Progress", "Reboot-In-Progress"), SOFTWARE_WAITING
    ),
    **dict.fromkeys(
        ("Upgrade-Failed", "Upgrade-Timed-Out", "Cordon-Failed", "Uncordon-Failed", "Drain-Failed", "Reboot-Failed"),
        NOT_READY,
    ),
}


def _driver_expected(node: Node, software: Software) -> Expected:
    """By the status of the DeviceConfig, which has a line for each node."""
    if not _evidence(node):
        return LEFT_OUT
    labelled = NODE_LABELS.driver(labels_of(node))
    version = labelled[0] if labelled else ""
    for one in software.deviceconfigs:
        found = ((one.status.nodeModuleStatus if one.status else None) or {}).get(node.metadata.name)
        if found is None:
            continue
        wanted = (one.spec.driver.version if one.spec and one.spec.driver else None) or ""
        step = found.status or ""
        state = _DRIVER_STATES.get(step, UNKNOWN if step else READY)
        source = f"DeviceConfig {one.metadata.namespace}/{one.metadata.name}"
        return Statement(
            state=state,
            version=version,
            wanted=wanted if version and wanted and not version.startswith(wanted) else "",
            why=sentence("The AMD operator reports {state} for this node.", state=step) if state != READY else "",
            remedy=describe_object("deviceconfig", one.metadata) if state == NOT_READY else "",
            since=seconds(found.upgradeStartTime),
            step=step,
            source=source,
        )
    if not software.deviceconfigs:
        return LEFT_OUT
    off = all(
        one.spec is not None and one.spec.driver is not None and one.spec.driver.enable is False
        for one in software.deviceconfigs
    )
    if off:
        return Statement(state=NOT_NEEDED, version=version, why=sentence("The node uses the driver of the host."))
    return Statement(state=UNKNOWN, version=version, why=sentence("No DeviceConfig has a status for this node."))


def in_cluster(software: Software) -> dict[str, Statement]:
    """Each DeviceConfig, by how many of its pods are available."""
    found: dict[str, Statement] = {}
    for one in software.deviceconfigs:
        status = one.status
        parts = {
            "driver": status.driver if status else None,
            "devicePlugin": status.devicePlugin if status else None,
            "metricsExporter": status.metricsExporter if status else None,
        }
        lacking = [
            f"{name} {part.availableNumber or 0}/{part.desiredNumber}"
            for name, part in parts.items()
            if part is not None and (part.desiredNumber or 0) > (part.availableNumber or 0)
        ]
        failed = next(
            (c for c in (status.conditions if status else None) or () if c.type == "Error" and c.status == "True"), None
        )
        name = f"{one.metadata.namespace}/{one.metadata.name}"
        why = quote(f"{failed.reason}: {failed.message}"[:1000]) if failed is not None else ""
        if lacking and not why:
            why = sentence("Available / desired: {parts}.", parts=", ".join(lacking))
        found[f"deviceconfig/{name}"] = Statement(
            state=NOT_READY if why else READY,
            why=why,
            source=f"DeviceConfig {name}",
            remedy=describe_object("deviceconfig", one.metadata) if why else "",
        )
    return found


SOFTWARE = SoftwareOf(
    node=(
        Component(name="amd-driver", expected=_driver_expected),
        Component(name=_PLUGIN, expected=_wanted(_PLUGIN), offers=lambda name: name.startswith("amd.com/")),
        Component(name=_LABELLER_POD, expected=_wanted(_LABELLER_POD), optional=True),
        Component(name=_EXPORTER, expected=_wanted(_EXPORTER), optional=True),
    ),
    concerns=concerns,
    cluster=in_cluster,
)

STACK = Stack(
    name=NAME,
    label=gettext_noop("AMD device plugin"),
    resources=(GPU, "amd.com/spx_nps1", "amd.com/cpx_nps1", "amd.com/cpx_nps4"),
    owns=owns,
    read=read,
    resource_prefixes=("amd.com/",),
    node_labels=NODE_LABELS,
    components=Components(
        # The manifests of the project; the Helm chart names its pods after itself.
        by_label={
            "name": {"amdgpu-dp-ds": _PLUGIN, "amd-gpu-dp-ds": _PLUGIN, "amdgpu-lr-ds": _LABELLER_POD},
        },
        # Those of the operator begin with the name of the DeviceConfig.
        by_ending={
            "daemonset-name": {
                "-device-plugin": _PLUGIN,
                "-node-labeller": _LABELLER_POD,
                "-metrics-exporter": _EXPORTER,
                "-test-runner": "amd-test-runner",
                "-dra-driver": "amd-dra-driver",
            }
        },
        device_plugins=(_PLUGIN,),
    ),
    software=SOFTWARE,
    ways=(whole_cards(gettext_noop("AMD device plugin"), NAME, owns, profiles=True),),
)
