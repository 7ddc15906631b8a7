"""NVIDIA's setup: values for the Helm chart of the GPU Operator, by what the nodes and the operator's version need.

Sources: deployments/gpu-operator of NVIDIA/gpu-operator (v22.9 to v26.7.0) and its pages of platform support; issues 473 and 432
for k3s and RKE2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kube.objects import Node
from stacks.engine.makers import linux_nodes, removal, to_remove, with_others
from stacks.engine.names import labels_of
from stacks.engine.node_system import os_of, runtime_of
from stacks.engine.rendering import label_commands, names, script, yaml_text
from stacks.engine.setup import (
    COMMANDS,
    REMOVE,
    VALUES,
    Difference,
    File,
    Found,
    Json,
    Key,
    Label,
    Plan,
    Setup,
    Wanted,
    at,
    is_name,
    offers,
    texts_at,
)
from stacks.engine.shell import command
from stacks.engine.versions import Version, version_of
from stacks.nvidia.maker import DEPLOYED, MAKER, has_card, plugins, rivals
from stacks.shared.rancher import rancher
from stacks.shared.taints import toleration, tolerations
from wording.said import sentence

NAME = "nvidia"
_NAMESPACES = ("gpu-operator", "nvidia-gpu-operator", "gpu-operator-resources")
_RELEASE = "gpu-operator"
_POLICIES = ("/apis/nvidia.com/v1", "clusterpolicies")
#: Kubernetes → the newest release of the operator that was validated with it.
_RELEASES = ((Version(1, 32), "v26.7.0"), (Version(1, 23), "v24.9.2"), (Version(1, 16), "v22.9.2"))
_SUPPORTED, _FLOOR, _OLDEST = Version(1, 33), Version(1, 16), Version(26, 3)
_MIG, _PRODUCT = "nvidia.com/mig.capable", "nvidia.com/gpu.product"
_MIG_PRODUCTS = ("a100", "a30", "h100", "h200", "h20", "b200", "b300", "gb200", "gb300", "gh200")
_DRIVER_LABEL = "nvidia.com/gpu.deploy.driver"
_WORKLOAD = "nvidia.com/gpu.workload.config"


def reads(found: Found) -> Iterator[Wanted]:
    for namespace in _NAMESPACES:
        yield Wanted("Deployment", namespace, "gpu-operator")
    yield Wanted("ClusterPolicy", "", "", *_POLICIES)


def render(found: Found) -> Plan:
    nodes = linux_nodes(found.nodes, has_card)
    release, namespace, operator = _operator(found)
    own = {plugin.key for plugin in plugins(found) if plugin.by == "operator"}
    others = [rival for rival in rivals(found, nodes) if rival.key not in own]
    values = _values(found, nodes, namespace, version_of(operator) or Version(26, 7))
    elsewhere = tuple(node for node in with_others(nodes, NAME) if not _of_machines(node))
    labels = (Label(DEPLOYED, "false", elsewhere),) if elsewhere else ()
    files = (
        File(
            "values.yaml",
            yaml_text(values),
            VALUES,
            sentence(
                "Values for chart {name} {version}; all others keep their defaults.",
                name="gpu-operator",
                version=operator,
            ),
        ),
        _commands(found, release, namespace, operator, removal(others), labels),
    )
    why = sentence("the operator installs its own plugin, and two plugins would offer nvidia.com/gpu")
    return Plan(
        files=files,
        objects=tuple(_objects(found, nodes, values, release, namespace)),
        labels=labels,
        seen=(*to_remove(others, why), *_two_discoveries(found)),
        warnings=(*_warnings(found, nodes, operator), *_elsewhere(elsewhere)),
        nodes=nodes,
    )


SETUP = Setup(
    name=NAME,
    renders=sentence("Values and command for the Helm chart of NVIDIA's GPU Operator."),
    render=render,
    reads=reads,
    maker=MAKER,
)


def _operator(found: Found) -> tuple[str, str, str]:
    """(release, namespace, version): of the one that is there, else those for this Kubernetes."""
    for key, thing in found.all("Deployment"):
        if key.name == "gpu-operator":
            version = version_of(texts_at(thing, "metadata", "labels").get("app.kubernetes.io/version", ""))
            release = texts_at(thing, "metadata", "annotations").get("meta.helm.sh/release-name", _RELEASE)
            release = release if is_name(release) and release else _RELEASE
            return release, key.namespace, f"v{version}" if version else _release_for(found.kubernetes)
    return _RELEASE, _NAMESPACES[0], _release_for(found.kubernetes)


def _release_for(version: Version) -> str:
    return next((release for since, release in _RELEASES if version >= since), _RELEASES[-1][1])


def _values(found: Found, nodes: Sequence[Node], namespace: str, operator: Version) -> Json:
    # The charts' own toleration, which a list of ours takes the place of.
    tolerated = tolerations(nodes, toleration("nvidia.com/gpu"))
    control_plane = [toleration(f"node-role.kubernetes.io/{role}") for role in ("control-plane", "master")]
    worker = [*control_plane, *(one for one in tolerated if one not in control_plane)]
    values: Json = {}
    if _other_discovery(found, namespace):
        values["nfd"] = {"enabled": False}
    else:
        values["node-feature-discovery"] = {"worker": {"tolerations": worker}}
    if operator < (25, 3):
        values["operator"] = {"defaultRuntime": _runtime(nodes)}
    values["daemonsets"] = {"tolerations": tolerated}
    values["driver"] = {"enabled": not (nodes and all(_pre_installed(found, node) for node in nodes))}
    if env := _toolkit_env(nodes, operator):
        values["toolkit"] = {"env": env}
    mig = _mig(nodes)
    if mig is not None:
        values["migManager"] = {"enabled": mig}
    if operator >= (25, 10):
        # With NRI, CDI and the toolkit must be on, and containerd must have NRI.
        values["cdi"] = {"enabled": True} | ({"nriPluginEnabled": False} if operator >= (26, 3) else {})
    if any(map(_of_machines, nodes)):
        values["sandboxWorkloads"] = {"enabled": True}
    return values


def _of_machines(node: Node) -> bool:
    """Whether its cards are for virtual machines."""
    return labels_of(node).get(_WORKLOAD, "").startswith("vm-")


def _pre_installed(found: Found, node: Node) -> bool:
    """Whether the node has a driver that the operator did not bring."""
    if labels_of(node).get(_DRIVER_LABEL) == "pre-installed":
        return True
    return offers(node, "nvidia.com/") and found.objects is not None and not _brings_driver(found)


def _brings_driver(found: Found) -> bool:
    if any(one.kind == "DaemonSet" for one in found.hidden):
        return True  # it may, so nothing is concluded
    labels = [texts_at(thing, "spec", "template", "metadata", "labels") for _, thing in found.all("DaemonSet")]
    return any(
        one.get("app", "").startswith("nvidia-driver-daemonset")
        or one.get("app.kubernetes.io/component") == "nvidia-driver"
        for one in labels
    )


def _runtime(nodes: Sequence[Node]) -> str:
    """The runtime that most of the nodes have: the operator knows one for the whole cluster."""
    counted = Counter(name for node in nodes if (name := _RUNTIMES.get(runtime_of(node)[0])))
    return counted.most_common(1)[0][0] if counted else "containerd"


_RUNTIMES = {"containerd": "containerd", "docker": "docker", "cri-o": "crio"}


def _rancher(nodes: Sequence[Node]) -> set[str]:
    return {name for node in nodes if (name := rancher(node))}


def _toolkit_env(nodes: Sequence[Node], operator: Version) -> list[Json]:
    """k3s and RKE2 have containerd's configuration and socket in places of their own.

    Older toolkits write the whole file, so they get the template that it is made from; newer ones add a file beside it.
    """
    found = sorted(_rancher(nodes))
    if not found:
        return []
    folder = f"/var/lib/rancher/{found[0]}/agent/etc/containerd"
    template = "config.toml" if operator >= (25, 10) else "config.toml.tmpl"
    return [
        {"name": "CONTAINERD_CONFIG", "value": f"{folder}/{template}"},
        {"name": "CONTAINERD_SOCKET", "value": "/run/k3s/containerd/containerd.sock"},
    ]


def _mig(nodes: Sequence[Node]) -> bool | None:
    """Whether a card can be divided by MIG; None where no label says so yet."""
    said = [labels_of(node) for node in nodes]
    if any(labels.get(_MIG) == "true" for labels in said):
        return True
    if any(part in labels.get(_PRODUCT, "").lower() for labels in said for part in _MIG_PRODUCTS):
        return True
    return False if said and all(_MIG in labels or _PRODUCT in labels for labels in said) else None


# What is there.


def _discoveries(found: Found) -> list[Key]:
    """DaemonSets of workers of Node Feature Discovery, but those that go with a chart that is to be removed."""
    workers = []
    removed = {(plugin.release, plugin.key.namespace) for plugin in plugins(found) if plugin.release}
    for key, thing in found.all("DaemonSet"):
        labels = texts_at(thing, "spec", "template", "metadata", "labels")
        if (labels.get("app.kubernetes.io/instance", ""), key.namespace) in removed:
            continue
        chart = labels.get("app.kubernetes.io/name") == "node-feature-discovery" and labels.get("role") == "worker"
        if chart or labels.get("app") == "nfd-worker":
            workers.append(key)
    return workers


def _other_discovery(found: Found, namespace: str) -> bool:
    return any(key.namespace != namespace for key in _discoveries(found))


def _two_discoveries(found: Found) -> Iterator[Difference]:
    workers = _discoveries(found)
    for key in workers[1:]:
        why = sentence(
            "Node Feature Discovery is installed twice, also as {name}: keep one",
            name=f"{workers[0].namespace}/{workers[0].name}",
        )
        yield Difference(f"DaemonSet {key.namespace}/{key.name}", REMOVE, why)


def _objects(found: Found, nodes: Sequence[Node], values: Json, release: str, namespace: str) -> Iterator[Json]:
    """What matters of the chart's objects. What is more than needed does no harm, and what is absent has its default."""
    yield {"kind": "Deployment", "metadata": {"name": "gpu-operator", "namespace": namespace}}
    policy, there = next(((key.name, thing) for key, thing in found.all("ClusterPolicy")), ("cluster-policy", {}))
    spec: Json = {part: values[part] for part in ("toolkit", "sandboxWorkloads", "operator") if part in values}
    for part in ("driver", "migManager"):
        if values.get(part) == {"enabled": True} and at(there, "spec", part, "enabled") is False:
            spec[part] = values[part]
    tolerated = [one for one in tolerations(nodes) if one["key"] != "nvidia.com/gpu"]
    if tolerated:
        spec["daemonsets"] = {"tolerations": tolerated}
    yield {"kind": "ClusterPolicy", "metadata": {"name": policy}, "spec": spec}
    workers = _discoveries(found) or [Key("DaemonSet", namespace, f"{release}-node-feature-discovery-worker")]
    yield {
        "kind": "DaemonSet",
        "metadata": {"name": workers[0].name, "namespace": workers[0].namespace},
        "spec": {"template": {"spec": {"tolerations": tolerations(nodes)}}},
    }


# The rest.


def _commands(
    found: Found, release: str, namespace: str, operator: str, removals: list[str], labels: tuple[Label, ...]
) -> File:
    lines = (
        ["# The operator installs its own NVIDIA plugin: remove the other one first.", *removals] if removals else []
    )
    if labels:
        lines += ["# The operator's plugin must not offer cards that another stack allocates."]
        lines += [line for label in labels for line in label_commands(label)]
    if found.kubernetes >= (1, 23):
        lines += [
            "# Its pods are privileged. The namespace must allow them.",
            f"{command('kubectl', 'create', 'namespace', namespace, '--dry-run=client', '-o', 'yaml')} | kubectl "
            "apply -f -",
            command(
                "kubectl",
                "label",
                "namespace",
                namespace,
                "pod-security.kubernetes.io/enforce=privileged",
                "--overwrite",
            ),
        ]
    lines += [
        command("helm", "repo", "add", "nvidia", "https://helm.ngc.nvidia.com/nvidia"),
        command("helm", "repo", "update", "nvidia"),
        command(
            *("helm", "upgrade", "--install", release, "nvidia/gpu-operator", "-n", namespace, "--create-namespace"),
            *("--version", operator, "-f", "values.yaml"),
        ),
    ]
    return File("commands.sh", script(lines), COMMANDS, sentence("Run `sh commands.sh` in this folder."))


def _elsewhere(nodes: tuple[Node, ...]) -> Iterator[str]:
    if nodes:
        yield sentence(
            "Other stacks allocate the cards of these nodes: {nodes}. The operator's plugin is switched off there by the label "
            "{label}.",
            nodes=names(nodes),
            label=f"{DEPLOYED}=false",
        )


def _warnings(found: Found, nodes: tuple[Node, ...], operator: str) -> Iterator[str]:
    version = found.kubernetes
    if version < _FLOOR:
        yield sentence(
            "The GPU Operator needs Kubernetes {floor} or newer. This cluster has {version}. Update Kubernetes first.",
            floor=_FLOOR.short,
            version=version.short,
        )
    elif version < _SUPPORTED:
        yield sentence(
            "NVIDIA supports its GPU Operator on Kubernetes {floor} and newer. This cluster has {version}; the files are for "
            "{operator}. Update Kubernetes, then the operator.",
            floor=_SUPPORTED.short,
            version=version.short,
            operator=operator,
        )
    if (release := version_of(operator)) is not None and release < _OLDEST and version >= _SUPPORTED:
        yield sentence(
            "NVIDIA supports releases {floor} and newer of its GPU Operator. This cluster has {operator}. Update it, one major "
            "release at a time.",
            floor=_OLDEST.short,
            operator=operator,
        )
    if not nodes:
        yield sentence(
            "No node reports an NVIDIA card. Node Feature Discovery finds them once the operator is installed."
        )
    installed = [node for node in nodes if _pre_installed(found, node)]
    if installed and len(installed) < len(nodes):
        yield sentence(
            "{number} of {all} nodes have their own driver: {nodes}. The operator's driver manager leaves these alone.",
            number=len(installed),
            all=len(nodes),
            nodes=names(installed),
        )
    if nodes and _mig(nodes) is None:
        yield sentence(
            "MIG support of the cards is unknown: no label {label}. The MIG manager keeps the chart's default.",
            label=_MIG,
        )
    if len({runtime_of(node)[0] for node in nodes} & _RUNTIMES.keys()) > 1:
        yield sentence("The nodes have several container runtimes. The operator configures one for the whole cluster.")
    if len(_rancher(nodes)) > 1:
        yield sentence("The nodes are of k3s and of RKE2. The paths in toolkit.env are for k3s only.")
    if any("node.openshift.io/os_id" in labels_of(node) for node in found.nodes):
        yield sentence(
            "This is OpenShift: install the operator from OperatorHub and put the values into its ClusterPolicy."
        )
    if any(os_of(node) == "windows" and has_card(node) for node in found.nodes):
        yield sentence("The GPU Operator does not run on Windows nodes; they are left out.")
