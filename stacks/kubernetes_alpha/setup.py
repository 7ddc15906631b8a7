"""The setup of the alpha GPU resource: a flag of the kubelet, a label, and the driver's folder in each pod.

Nothing runs in the cluster.

Sources: the kubelets of Kubernetes 1.3 to 1.10 (pull requests 57384 and 61498) and their page on scheduling GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from kube.objects import Node
from stacks.engine.makers import linux_nodes, maker
from stacks.engine.names import labels_of
from stacks.engine.node_system import kubelet_of, runtime_of
from stacks.engine.rendering import comment, names, on_nodes, script, some, yaml_text
from stacks.engine.setup import COMMANDS, HOST, MISSING, PRESENT, VALUES, Difference, File, Found, Plan, Setup, offers
from stacks.engine.shell import command
from stacks.engine.versions import Version, version_of
from wording.said import sentence, series

NAME, MAKER = "alpha", "NVIDIA"
RESOURCE = "alpha.kubernetes.io/nvidia-gpu"
LABEL = "alpha.kubernetes.io/nvidia-gpu-name"
_FIRST, _GATE, _GONE = Version(1, 3), Version(1, 6), Version(1, 11)


def render(found: Found) -> Plan:
    nodes = _nodes(found)
    flags = sorted({_flag(_version(found, node)) for node in nodes} or {_flag(found.kubernetes)})
    files = [_kubelet(flag) for flag in flags if flag]
    if files:
        files += [_pod(), _commands([node for node in nodes if LABEL not in labels_of(node)], nodes)]
    return Plan(
        files=tuple(files),
        seen=tuple(_seen(found, nodes)) if files else (),
        warnings=tuple(_warnings(found, nodes)),
        nodes=tuple(nodes),
    )


SETUP = Setup(
    name=NAME,
    renders=sentence(
        "The kubelet's flag, the node label, the part of a pod with the driver's folder (Kubernetes 1.3 to 1.10)."
    ),
    render=render,
)


def _nodes(found: Found) -> list[Node]:
    """Those with cards whose kubelets have the resource."""
    made = maker(MAKER)
    nodes = linux_nodes(found.nodes, lambda node: offers(node, RESOURCE) or made.has_card(node))
    return [node for node in nodes if _flag(_version(found, node))]


def _version(found: Found, node: Node) -> Version:
    """The kubelet's, since it has the flag."""
    return version_of(kubelet_of(node)) or found.kubernetes


def _flag(version: Version) -> str:
    """What the kubelet is started with; "" where it has no such cards."""
    if version < _FIRST or version >= _GONE:
        return ""
    return "--feature-gates=Accelerators=true" if version >= _GATE else "--experimental-nvidia-gpus=1"


def _kubelet(flag: str) -> File:
    gate = "gates" in flag
    versions = "1.6 to 1.10" if gate else "1.3 to 1.5"
    more = (
        sentence(
            "If --feature-gates is already set, add Accelerators=true to its list; Kubernetes 1.10 calls it deprecated."
        )
        if gate
        else sentence("It offers the first card only, /dev/nvidia0.")
    )
    text = comment(f"kubelet {versions}") + f'KUBELET_EXTRA_ARGS="{flag} --node-labels={LABEL}=MODEL"\n'
    return File(
        f"kubelet-{'gate' if gate else 'flag'}.env",
        text,
        HOST,
        sentence(
            "On each node with cards and a kubelet {versions}, flags of the kubelet (in kubeadm's packages in "
            "/etc/systemd/system/kubelet.service.d/): add them, replace MODEL with the card model, and restart the kubelet. "
            "{more}",
            versions=sentence("1.6 to 1.10") if gate else sentence("1.3 to 1.5"),
            more=more,
        ),
        "ps -o args= -C kubelet; nvidia-smi -L",
    )


def _pod() -> File:
    spec = {
        "spec": {
            "containers": [
                {
                    "name": "CONTAINER",
                    "resources": {"limits": {RESOURCE: 1}},
                    "volumeMounts": [{"name": "driver", "mountPath": "/usr/local/nvidia/lib64", "readOnly": True}],
                }
            ],
            "volumes": [{"name": "driver", "hostPath": {"path": "/usr/lib/nvidia-375"}}],
        }
    }
    return File(
        "pod-part.yaml",
        comment(
            "A part of each pod that requests cards. The path is that of the driver's libraries on the node: ls -d "
            "/usr/lib/nvidia-*"
        )
        + yaml_text(spec),
        VALUES,
        sentence(
            "Part of each pod that requests cards: the kubelet adds the devices, not the driver's libraries. LD_LIBRARY_PATH "
            "of the image must have the mount path, as in those of NVIDIA."
        ),
    )


def _commands(lacking: list[Node], nodes: list[Node]) -> File:
    lines = [
        "# Replace MODEL with the card model, for example Tesla-P100-PCIE-16GB: nvidia-smi -L on the node shows it."
    ]
    lines += [command("kubectl", "label", "node", node.metadata.name, f"{LABEL}=MODEL") for node in lacking]
    if not nodes:
        lines += [f"# No node reports cards yet. For each that has some: kubectl label node NODE {LABEL}=MODEL"]
    return File(
        "commands.sh",
        script(lines),
        COMMANDS,
        sentence("Labels the nodes so that pods can select a model. Replace MODEL with the model first."),
    )


def _seen(found: Found, nodes: list[Node]) -> Iterator[Difference]:
    offering = [node for node in nodes if offers(node, RESOURCE)]
    resource = sentence("resource {name}", name=RESOURCE)
    if nodes:
        lacking = [node for node in nodes if not offers(node, RESOURCE)]
        said = on_nodes(len(offering), len(nodes))
        if lacking:
            said = series((said, sentence("not on {nodes}", nodes=names(lacking))), "; ")
        yield Difference(resource, MISSING if lacking else PRESENT, said)
        unnamed = [node for node in nodes if LABEL not in labels_of(node)]
        said = on_nodes(len(unnamed) or len(nodes), len(nodes), names(unnamed))
        yield Difference(sentence("label {label}", label=LABEL), MISSING if unnamed else PRESENT, said)
    else:
        yield Difference(resource, MISSING, sentence("no node offers it"))


def _warnings(found: Found, nodes: list[Node]) -> Iterator[str]:
    if found.kubernetes < _FIRST:
        yield sentence(
            "The alpha GPU resource needs Kubernetes {floor} or newer. This cluster has {version}.",
            floor=_FIRST.short,
            version=found.kubernetes.short,
        )
    gone = [node for node in found.nodes if _version(found, node) >= _GONE]
    if found.kubernetes >= _GONE or gone:
        yield (
            sentence(
                "The kubelets of {nodes} have Kubernetes 1.11 or newer, which has no alpha GPU resource. Install the device "
                "plugin of the cards' maker.",
                nodes=names(gone),
            )
            if gone and found.kubernetes < _GONE
            else sentence(
                "This cluster has Kubernetes 1.11 or newer, which has no alpha GPU resource. Install the device plugin of the "
                "cards' maker."
            )
        )
    strange = [node for node in nodes if runtime_of(node)[0] not in ("docker", "")]
    if strange:
        runtimes = sorted({runtime_of(node)[0] for node in strange})
        yield sentence(
            "The alpha GPU resource needs Docker. These nodes have {runtimes}: {nodes}.",
            runtimes=some(runtimes),
            nodes=names(strange),
        )
