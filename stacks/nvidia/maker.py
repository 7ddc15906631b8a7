"""What other stacks ask of NVIDIA's: which nodes report its cards, its plugins that stand in their way, and the default runtime.

Sources: the labels of Node Feature Discovery, GPU Feature Discovery and clouds; the manifests and charts of NVIDIA/k8s-device-plugin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kube.objects import Node
from stacks.engine.names import labels_of
from stacks.engine.setup import Found, Json, Key, Maker, Rival, is_name, list_at, named, text_at, texts_at
from stacks.engine.shell import command, label_node
from stacks.nvidia.default_runtime import host_files
from stacks.nvidia.evidence import evidence, labelled, ruled_out

DEPLOYED = "nvidia.com/gpu.deploy.device-plugin"


def has_card(node: Node) -> bool:
    return bool(evidence(node))


class Plugin(NamedTuple):
    """A DaemonSet of NVIDIA's plugin. by: "manifest", "chart" or "operator". release: of Helm, "" where it is not
    known."""

    key: Key
    by: str
    release: str = ""


def plugins(found: Found) -> list[Plugin]:
    """Those that were found, by name."""
    known = ((key, _plugin(key, thing)) for key, thing in found.all("DaemonSet"))
    return [plugin for _, plugin in known if plugin is not None]


def _plugin(key: Key, thing: Json) -> Plugin | None:
    labels = texts_at(thing, "spec", "template", "metadata", "labels")
    if labels.get("app") == "nvidia-device-plugin-daemonset" or (
        key.name == "nvidia-device-plugin-daemonset" and _owned_by_operator(thing)
    ):
        return Plugin(key, "operator")
    if labels.get("name") == "nvidia-device-plugin-ds":
        return Plugin(key, "manifest")
    if labels.get("app.kubernetes.io/name") == "nvidia-device-plugin":
        release = labels.get("app.kubernetes.io/instance", "")
        return Plugin(key, "chart", release if is_name(release) else "")
    return None


def _owned_by_operator(thing: Json) -> bool:
    return any(text_at(one, "kind") == "ClusterPolicy" for one in list_at(thing, "metadata", "ownerReferences"))


def rivals(found: Found, nodes: Sequence[Node]) -> list[Rival]:
    """All of them."""
    return [Rival(plugin.key, tuple(_removal(plugin, nodes))) for plugin in plugins(found)]


def _removal(plugin: Plugin, nodes: Sequence[Node]) -> Iterator[str]:
    """The commands that take it off these nodes."""
    where = ("-n", plugin.key.namespace)
    if plugin.by == "operator":
        for node in named(nodes):
            if labels_of(node).get(DEPLOYED) != "false":
                yield label_node(node, (DEPLOYED, "false"), overwrite=True)
    elif plugin.by == "chart" and plugin.release:
        yield command("helm", "uninstall", plugin.release, *where)
    else:
        yield command("kubectl", "delete", "daemonset", plugin.key.name, *where)


MAKER = Maker(
    name="NVIDIA",
    has_card=has_card,
    labelled=labelled,
    ruled_out=ruled_out,
    rivals=rivals,
    host_files=host_files,
)
