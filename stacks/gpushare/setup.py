"""gpushare's setup: plugin, scheduler extender, their rights, and what kube-scheduler and the hosts need.

Sources: the manifests and the installation guide of AliyunContainerService/gpushare-scheduler-extender (c0b6141) and
gpushare-device-plugin (45fb8b8), and what later versions of Kubernetes changed beneath them (KEP-785; kubeadm 1.24).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kube.objects import Node
from stacks.engine.makers import below_driver, chosen, linux_nodes, maker, of_others, removal, to_remove
from stacks.engine.names import labels_of
from stacks.engine.rendering import label_commands, names, script, yaml_text
from stacks.engine.setup import (
    COMMANDS,
    OBJECTS,
    File,
    Found,
    Json,
    Label,
    Plan,
    Setup,
    Wanted,
    at,
    named,
    offers,
    option_of,
)
from stacks.engine.versions import Version
from stacks.gpushare.scheduler_files import NODE_PORT, RESOURCE, control_plane, role_label, scheduler_files, wiring
from stacks.shared.taints import toleration, tolerations
from wording.said import sentence

NAME, MAKER = "gpushare", "NVIDIA"
NAMESPACE = "kube-system"
PLUGIN, EXTENDER = "gpushare-device-plugin", "gpushare-schd-extender"
DAEMONSET = "gpushare-device-plugin-ds"
_REGISTRY = "registry.cn-hangzhou.aliyuncs.com/acs"
_PORT = 12345
_READ = ["get", "list", "watch"]
_FLOOR, _DRIVER = Version(1, 11), Version(384, 81)
_UNITS = ("GiB", "MiB")
_ACK_MODE = "ack.node.gpu.schedule"


def reads(found: Found) -> Iterator[Wanted]:
    for name in (PLUGIN, EXTENDER):
        yield Wanted("ServiceAccount", NAMESPACE, name)
        yield Wanted("ClusterRole", "", name)
        yield Wanted("ClusterRoleBinding", "", name)
    yield Wanted("Deployment", NAMESPACE, EXTENDER)
    yield Wanted("Service", NAMESPACE, EXTENDER)
    for node in control_plane(found):
        yield Wanted("Pod", NAMESPACE, f"kube-scheduler-{node.metadata.name}")


def render(found: Found) -> Plan:
    made = maker(MAKER)
    picked = chosen(_nodes(found), NAME, MAKER)
    nodes = picked.mine
    label = Label("gpushare", "true", nodes)
    rights = [
        thing
        for name, rules in ((PLUGIN, _PLUGIN_RULES), (EXTENDER, _EXTENDER_RULES))
        for thing in _account(name, rules)
    ]
    plugin, extender, service = _daemonset(found, nodes), _deployment(found), _service()
    rivals = made.rivals(found, nodes)
    files = (
        _objects(
            "gpushare-rbac.yaml",
            rights,
            sentence("Service accounts and permissions of the plugin and the scheduler extender."),
        ),
        _objects(
            "gpushare-device-plugin.yaml",
            [plugin],
            sentence("The device plugin, on each node with the label {label}.", label="gpushare=true"),
        ),
        _objects(
            "gpushare-schd-extender.yaml",
            [extender, service],
            sentence("The scheduler extender, on a control plane node."),
        ),
        *scheduler_files(found),
        *made.host_files(nodes),
        _commands(label, removal(rivals)),
    )
    why = sentence("it offers the cards that {stack} allocates", stack="gpushare")
    return Plan(
        files=files,
        objects=(*rights, plugin, extender, service),
        labels=(label,),
        seen=(*to_remove(rivals, why), *wiring(found)),
        warnings=(*_warnings(found, nodes), *of_others(picked, NAME, "gpushare=true")),
        nodes=nodes,
    )


SETUP = Setup(
    name=NAME,
    renders=sentence(
        "Permissions, device plugin, scheduler extender, kube-scheduler's file and flag, default runtime, node labels."
    ),
    render=render,
    reads=reads,
)


def _nodes(found: Found) -> tuple[Node, ...]:
    """Those with cards; a node that Alibaba Cloud manages only where it has the label already."""
    has_card, managed = maker(MAKER).has_card, {node.metadata.name for node in _managed(found)}
    nodes = linux_nodes(found.nodes, lambda node: has_card(node) or offers(node, RESOURCE))
    return tuple(
        node for node in nodes if node.metadata.name not in managed or labels_of(node).get("gpushare") == "true"
    )


def _managed(found: Found) -> list[Node]:
    return [node for node in named(found.nodes) if labels_of(node).get(_ACK_MODE)]


def _objects(name: str, things: Iterable[Json], why: str) -> File:
    return File(name, yaml_text(*things), OBJECTS, why)


# Accounts and rights.


def _rule(group: str, resources: list[str], verbs: list[str]) -> Json:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


_PLUGIN_RULES = [
    _rule("", ["nodes", "nodes/proxy"], _READ),
    _rule("", ["nodes/status"], ["patch", "update"]),
    _rule("", ["events"], ["create", "patch"]),
    _rule("", ["pods"], [*_READ, "patch", "update"]),
]
_EXTENDER_RULES = [
    # Without configmaps its caches never fill, and it does not start.
    _rule("", ["nodes", "configmaps"], _READ),
    _rule("", ["events"], ["create", "patch"]),
    _rule("", ["pods"], [*_READ, "patch", "update"]),
    _rule("", ["bindings", "pods/binding"], ["create"]),
]


def _account(name: str, rules: list[Json]) -> list[Json]:
    api = "rbac.authorization.k8s.io"
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": NAMESPACE}},
        {"apiVersion": f"{api}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules},
        {
            "apiVersion": f"{api}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}],
        },
    ]


# The plugin.


def _unit(found: Found) -> str:
    """The memory unit: that of the plugin that is there, since another one would change what pods have asked for."""
    there = found.of("DaemonSet", NAMESPACE, DAEMONSET)
    unit = option_of(there, "memory-unit") if there is not None else None
    return unit if unit in _UNITS else _UNITS[0]


def _daemonset(found: Found, nodes: Iterable[Node]) -> Json:
    labels = {"component": PLUGIN, "app": NAME, "name": DAEMONSET}
    container = {
        "name": NAME,
        "image": f"{_REGISTRY}/k8s-gpushare-plugin:v2-1.11-aff8a23",
        "command": ["gpushare-device-plugin-v2", "-logtostderr", "--v=5", f"--memory-unit={_unit(found)}"],
        "env": [
            {"name": "KUBECONFIG", "value": "/etc/kubernetes/kubelet.conf"},
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ],
        "resources": {"limits": {"cpu": "1", "memory": "300Mi"}, "requests": {"cpu": "1", "memory": "300Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "device-plugins", "mountPath": "/var/lib/kubelet/device-plugins"}],
    }
    spec: Json = {
        "serviceAccountName": PLUGIN,
        "hostNetwork": True,
        "nodeSelector": {"gpushare": "true"},
        "containers": [container],
        "volumes": [{"name": "device-plugins", "hostPath": {"path": "/var/lib/kubelet/device-plugins"}}],
    }
    if tolerated := tolerations(nodes):
        spec["tolerations"] = tolerated
    template = _critical(found, {"metadata": {"labels": labels}, "spec": spec})
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": DAEMONSET, "namespace": NAMESPACE, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def _critical(found: Found, template: Json) -> Json:
    """The kubelet evicts such a pod last: by its class, before Kubernetes 1.16 by an annotation."""
    if found.kubernetes >= (1, 16):
        template["spec"]["priorityClassName"] = "system-node-critical"
    else:
        template["metadata"]["annotations"] = {"scheduler.alpha.kubernetes.io/critical-pod": ""}
    return template


# The extender.


def _deployment(found: Found) -> Json:
    labels = {"app": NAME, "component": EXTENDER}
    role, nodes = role_label(found), control_plane(found)
    values = Counter(labels_of(node)[role] for node in nodes).most_common(1)
    container = {
        "name": EXTENDER,
        "image": f"{_REGISTRY}/k8s-gpushare-schd-extender:1.11-d170d8a",
        "env": [{"name": "PORT", "value": str(_PORT)}],
    }
    always = (toleration(role), toleration("node.cloudprovider.kubernetes.io/uninitialized"))
    spec = {
        "serviceAccountName": EXTENDER,
        "hostNetwork": True,
        # k3s writes "true" where kubeadm writes nothing.
        "nodeSelector": {role: values[0][0] if values else ""},
        "tolerations": tolerations(nodes, *always),
        "containers": [container],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": EXTENDER, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": labels},
            "template": _critical(found, {"metadata": {"labels": labels}, "spec": spec}),
        },
    }


def _service() -> Json:
    labels = {"app": NAME, "component": EXTENDER}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": EXTENDER, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "type": "NodePort",
            "selector": labels,
            "ports": [{"name": "http", "port": _PORT, "targetPort": _PORT, "nodePort": NODE_PORT}],
        },
    }


# The rest.


def _commands(label: Label, removals: list[str]) -> File:
    lines = ["# NVIDIA's plugin offers the same cards: remove it first.", *removals] if removals else []
    lines += ["# The plugin runs on nodes with this label.", *label_commands(label)]
    if not label.nodes:
        lines += ["# No node reports an NVIDIA card. For each that has one: kubectl label node NODE gpushare=true"]
    lines += [
        "kubectl apply -f gpushare-rbac.yaml",
        "kubectl apply -f gpushare-schd-extender.yaml",
        "kubectl apply -f gpushare-device-plugin.yaml",
    ]
    return File(
        "commands.sh",
        script(lines),
        COMMANDS,
        sentence("Run `sh commands.sh` in this folder, after the files on hosts are in place."),
    )


def _warnings(found: Found, nodes: tuple[Node, ...]) -> Iterator[str]:
    version = found.kubernetes
    if version < _FLOOR:
        yield sentence(
            "{stack} needs Kubernetes {floor} or newer. This cluster has {version}. Update Kubernetes first.",
            stack="gpushare",
            floor=_FLOOR.short,
            version=version.short,
        )
    yield from below_driver(nodes, _DRIVER, "gpushare", MAKER)
    if found.nodes and not control_plane(found):
        yield sentence(
            "No node has the label {label}, so the extender stays pending. A managed control plane runs no kube-scheduler that "
            "you can configure: run a second scheduler, or another stack.",
            label=role_label(found),
        )
    if managed := _managed(found):
        yield sentence(
            "Alibaba Cloud manages the cards of these nodes (label {label}): {nodes}. Do not install gpushare beside it; use the "
            "component ack-ai-installer.",
            label=_ACK_MODE,
            nodes=names(managed),
        )
    there = found.of("Deployment", NAMESPACE, EXTENDER)
    if there is not None and at(there, "status", "availableReplicas") in (None, 0):
        yield sentence(
            "The installed extender is not available: pods that request {resource} cannot be scheduled. Run `kubectl describe "
            "deployment {name} -n {namespace}`.",
            resource=RESOURCE,
            name=EXTENDER,
            namespace=NAMESPACE,
        )
