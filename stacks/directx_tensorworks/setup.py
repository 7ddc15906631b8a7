"""The setup of TensorWorks' DirectX plugins: two DaemonSets in a namespace that admits pods of the host, and their settings.

Sources: deployments/ and README of TensorWorks/DirectX-Device-Plugins (5862bd7); the versions of Kubernetes with HostProcess
containers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kube.objects import Node
from stacks.engine.node_facts import node_facts
from stacks.engine.node_system import os_of, runtime_of
from stacks.engine.rendering import names, script, some, yaml_text
from stacks.engine.setup import (
    COMMANDS,
    DIFFERS,
    HOST,
    OBJECTS,
    Difference,
    File,
    Found,
    Json,
    Key,
    Plan,
    Setup,
    Wanted,
    at,
    list_at,
    named,
    text_at,
    texts_at,
)
from stacks.engine.versions import Version
from stacks.shared.taints import tolerations
from wording.said import sentence

NAME = "directx-tensorworks"
_NAMESPACE = "directx-device-plugins"
_BUILT_IN = ("default", "kube-system")
_PLUGINS = ("mcdm", "wddm")
BUILD = "10.0.20348"
SETTINGS, SETTING = "device-plugin-config", "multitenancy"
_FLOOR, _BETA, _CONTAINERD = Version(1, 22), Version(1, 23), Version(1, 7)
_GATE = "--feature-gates=WindowsHostProcessContainers=true"


def reads(found: Found) -> Iterator[Wanted]:
    namespace = _namespace(found)
    yield Wanted("Namespace", "", namespace)
    yield Wanted("ConfigMap", namespace, SETTINGS)


def render(found: Found) -> Plan:
    namespace, nodes = _namespace(found), _nodes(found)
    space, settings = _space(namespace), _settings(found, namespace)
    sets = [_daemonset(found, word, namespace, nodes) for word in _PLUGINS]
    files = [
        File(
            "namespace.yaml",
            yaml_text(space),
            OBJECTS,
            sentence("The namespace. Its label allows HostProcess pods."),
        ),
        File(
            "directx-device-plugins.yaml",
            yaml_text(*sets),
            OBJECTS,
            sentence(
                "The two device plugins: mcdm offers directx.microsoft.com/compute, wddm directx.microsoft.com/display. "
                "kube-apiserver must run with --allow-privileged=true, as kubeadm starts it, or it refuses them."
            ),
        ),
        File(
            "multitenancy-optional.yaml",
            yaml_text(settings),
            OBJECTS,
            sentence("Optional: the number of pods per card (default 1). Restart the plugins after a change."),
        ),
    ]
    if _FLOOR <= found.kubernetes < _BETA:
        files.append(_gate())
    files.append(_commands(namespace))
    return Plan(
        files=tuple(files),
        objects=(space, *map(_without_variable, sets), settings),
        seen=tuple(_settings_that_lack(found, namespace)),
        warnings=tuple(_warnings(found, nodes)),
        optional=(Key("ConfigMap", namespace, SETTINGS),),
        nodes=tuple(nodes),
    )


SETUP = Setup(
    name=NAME,
    renders=sentence("Namespace, two DaemonSets, an optional ConfigMap."),
    render=render,
    reads=reads,
)


def _nodes(found: Found) -> list[Node]:
    """Those that the plugins can run on."""
    return [node for node in named(found.nodes) if os_of(node) == "windows" and node_facts(node).windows_build == BUILD]


def _there(found: Found, word: str) -> tuple[Key, Json] | None:
    """The DaemonSet of a plugin, in whichever namespace it was applied."""
    app = f"device-plugin-{word}"
    for key, thing in found.all("DaemonSet"):
        if texts_at(thing, "spec", "template", "metadata", "labels").get("app") == app and key.name == app:
            return key, thing
    return None


def _namespace(found: Found) -> str:
    return next((there[0].namespace for word in _PLUGINS if (there := _there(found, word))), _NAMESPACE)


def _space(namespace: str) -> Json:
    labels = {"pod-security.kubernetes.io/enforce": "privileged"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels}}


def _settings(found: Found, namespace: str) -> Json:
    """With the value that is there: another one would change how many devices the nodes have."""
    value = text_at(found.of("ConfigMap", namespace, SETTINGS), "data", SETTING)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": SETTINGS, "namespace": namespace},
        "data": {SETTING: value if value.isascii() and value.isdigit() else "1"},
    }


def _variable(found: Found, word: str) -> Json:
    """How often each card is offered: as the plugin that is there says it where it says a number, else by the
    ConfigMap."""
    name = f"{word.upper()}_DEVICE_PLUGIN_MULTITENANCY"
    there = _there(found, word)
    for one in _env(there[1]) if there else ():
        value = text_at(one, "value")
        if text_at(one, "name") == name and value.isascii() and value.isdigit():
            return {"name": name, "value": value}
    return {"name": name, "valueFrom": {"configMapKeyRef": {"name": SETTINGS, "key": SETTING, "optional": True}}}


def _env(thing: Json) -> list[Json]:
    containers = list_at(thing, "spec", "template", "spec", "containers")
    return [one for container in containers for one in list_at(container, "env")]


def _daemonset(found: Found, word: str, namespace: str, nodes: Sequence[Node]) -> Json:
    name = f"device-plugin-{word}"
    labels = {"app": name}
    container = {
        "name": name,
        "image": f"index.docker.io/tensorworks/{word}-device-plugin:0.0.1",
        "imagePullPolicy": "Always",
        "env": [_variable(found, word)],
    }
    spec: Json = {
        "nodeSelector": {
            "kubernetes.io/os": "windows",
            "kubernetes.io/arch": "amd64",
            "node.kubernetes.io/windows-build": BUILD,
        },
        "securityContext": {"windowsOptions": {"hostProcess": True, "runAsUserName": r"NT AUTHORITY\SYSTEM"}},
        "hostNetwork": True,
        "containers": [container],
    }
    if tolerated := tolerations(nodes):
        spec["tolerations"] = tolerated
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def _without_variable(daemonset: Json) -> Json:
    """What is compared: without the variable a card is offered once, which is no mistake."""
    container = {
        name: value for name, value in daemonset["spec"]["template"]["spec"]["containers"][0].items() if name != "env"
    }
    template = daemonset["spec"]["template"]
    spec = {**template["spec"], "containers": [container]}
    return {**daemonset, "spec": {**daemonset["spec"], "template": {**template, "spec": spec}}}


def _settings_that_lack(found: Found, namespace: str) -> Iterator[Difference]:
    """A plugin that cannot start without a ConfigMap, which is not there."""
    key = Key("ConfigMap", namespace, SETTINGS)
    if found.objects is None or found.hides(key) or found.of(*key) is not None:
        return
    for word in _PLUGINS:
        there = _there(found, word)
        sources = [at(one, "valueFrom", "configMapKeyRef") for one in _env(there[1])] if there else []
        if any(text_at(one, "name") == SETTINGS and at(one, "optional") is not True for one in sources):
            what = f"DaemonSet {namespace}/device-plugin-{word}"
            yield Difference(
                what,
                DIFFERS,
                sentence(
                    "it needs the ConfigMap {name}, which does not exist: its pods do not start",
                    name=f"{namespace}/{SETTINGS}",
                ),
            )


def _gate() -> File:
    return File(
        "feature-gate.txt",
        f"kube-apiserver {_GATE}\nkubelet {_GATE}\n",
        HOST,
        sentence(
            "Kubernetes 1.22 runs HostProcess containers only with this gate: a flag of kube-apiserver (on each control plane "
            "node) and of the kubelet (on each Windows node). If --feature-gates is already set, add to its list."
        ),
        "cat /etc/kubernetes/manifests/kube-apiserver.yaml; on Windows: Get-CimInstance Win32_Process -Filter "
        "\"name='kubelet.exe'\" | Select-Object CommandLine",
    )


def _commands(namespace: str) -> File:
    lines = [
        "kubectl apply -f namespace.yaml",
        "# Only if several pods share a card. Set the number in the file first.",
        "# kubectl apply -f multitenancy-optional.yaml",
        "kubectl apply -f directx-device-plugins.yaml",
    ]
    return File("commands.sh", script(lines), COMMANDS, sentence("Run `sh commands.sh` in this folder."))


def _warnings(found: Found, nodes: Sequence[Node]) -> Iterator[str]:
    version = found.kubernetes
    if version < _FLOOR:
        yield sentence(
            "TensorWorks' DirectX plugins need Kubernetes {floor} or newer. This cluster has {version}. Update Kubernetes first.",
            floor=_FLOOR.short,
            version=version.short,
        )
    windows = [node for node in named(found.nodes) if os_of(node) == "windows"]
    others = [node for node in windows if node_facts(node).windows_build != BUILD]
    if others:
        builds = sorted({node_facts(node).windows_build or sentence("no label") for node in others})
        yield sentence(
            "The plugins are built for Windows build {build} (Server 2022). These nodes have {builds}: {nodes}. Use Server 2022 "
            "there; do not widen the selector.",
            build=BUILD,
            builds=some(builds),
            nodes=names(others),
        )
    if not windows:
        yield sentence("There is no Windows node. The plugins run once there is one of Server 2022.")
    docker = [node for node in nodes if runtime_of(node)[0] == "docker"]
    if docker:
        yield sentence(
            "The plugins need containerd {floor} or newer, never Docker. These nodes have Docker: {nodes}.",
            floor=_CONTAINERD.short,
            nodes=names(docker),
        )
    old = [
        node
        for node in nodes
        if runtime_of(node)[0] == "containerd" and (has := runtime_of(node)[1]) is not None and has < _CONTAINERD
    ]
    if old:
        yield sentence(
            "The plugins need containerd {floor} or newer. These nodes have an older one: {nodes}. Update containerd.",
            floor=_CONTAINERD.short,
            nodes=names(old),
        )
    if _namespace(found) in _BUILT_IN:
        yield sentence(
            "The plugins are in the namespace {namespace}, so its label admits privileged pods there. A namespace of their own "
            "is safer: delete the DaemonSets, then render again.",
            namespace=_namespace(found),
        )
