"""HAMi's setup: values for its Helm chart, the label of its nodes, and the default runtime of their hosts.

Sources: charts/hami of Project-HAMi/HAMi (2.10.0), its README, and the issues named beside the values.
"""

from __future__ import annotations

from collections.abc import Iterator

from kube.objects import Node
from stacks.engine.makers import below_driver, chosen, linux_nodes, maker, of_others, removal, to_remove
from stacks.engine.names import labels_of
from stacks.engine.rendering import label_commands, script, yaml_text
from stacks.engine.setup import (
    COMMANDS,
    VALUES,
    File,
    Found,
    Json,
    Label,
    Plan,
    Setup,
    Wanted,
    list_at,
    text_at,
    texts_at,
)
from stacks.engine.shell import command
from stacks.engine.versions import Version, version_of
from stacks.shared.taints import toleration, tolerations
from wording.said import sentence, series

NAME, MAKER = "hami", "NVIDIA"
NAMESPACE = "kube-system"
_CHART = "2.10.0"
_FLOOR, _CHART_FLOOR, _DRIVER = Version(1, 23), Version(1, 18), Version(440, 0)
#: With it the chart finds the tag of kube-scheduler itself, and the value has another name (issue 1991).
_FINDS_TAG, _NEW_NAME = Version(2, 10), Version(2, 9)
_SCHEDULER_IMAGE = "registry.cn-hangzhou.aliyuncs.com/google_containers/kube-scheduler"


def reads(found: Found) -> Iterator[Wanted]:
    release, namespace, _ = _release(found)
    yield Wanted("Deployment", namespace, f"{release}-scheduler")


def render(found: Found) -> Plan:
    made = maker(MAKER)
    picked = chosen(linux_nodes(found.nodes, made.has_card), NAME, MAKER)
    nodes = picked.mine
    release, namespace, chart = _release(found)
    label = Label("gpu", "on", nodes)
    rivals = made.rivals(found, nodes)
    tolerated = tolerations(nodes, toleration("nvidia.com/gpu"))
    values = _values(found, chart, tolerated)
    files = (
        File(
            "values.yaml",
            yaml_text(values),
            VALUES,
            sentence("Values for chart {name} {version}; all others keep their defaults.", name=NAME, version=chart),
        ),
        *made.host_files(nodes),
        _commands(label, release, namespace, chart, removal(rivals)),
    )
    why = sentence("it offers the cards that {stack} allocates", stack="HAMi")
    return Plan(
        files=files,
        objects=(_plugin(release, namespace, tolerations(nodes)), _scheduler(found, release, namespace)),
        labels=(label,),
        seen=tuple(to_remove(rivals, why)),
        warnings=(*_warnings(found, nodes, chart), *of_others(picked, "HAMi", "gpu=on")),
        nodes=nodes,
    )


SETUP = Setup(
    name=NAME,
    renders=sentence("Values and command for HAMi's Helm chart, default runtime, node labels."),
    render=render,
    reads=reads,
)


def _release(found: Found) -> tuple[str, str, str]:
    """(release, namespace, version of the chart): of the one that is there, else those that are usual."""
    for key, thing in found.all("DaemonSet"):
        labels = texts_at(thing, "metadata", "labels")
        if (
            labels.get("app.kubernetes.io/component") == "hami-device-plugin"
            and labels.get("app.kubernetes.io/name") == NAME
        ):
            chart = version_of(labels.get("helm.sh/chart", "").removeprefix("hami-"))
            # The labels of two releases would differ; a name that ends otherwise was given by hand.
            release = key.name.removesuffix("-device-plugin")
            return release, key.namespace, str(chart) if chart else _CHART
    return NAME, NAMESPACE, _CHART


def _values(found: Found, chart: str, tolerated: list[Json]) -> Json:
    values: Json = {}
    version = version_of(chart) or _FINDS_TAG
    if version < _FINDS_TAG or _has_suffix(found):
        tag = f"v{found.kubernetes}"
        image = {"image": {"tag": tag}} if version >= _NEW_NAME else {"imageTag": tag}
        values["scheduler"] = {"kubeScheduler": image}
    plugin: Json = {"tolerations": tolerated}
    if _operator_toolkit(found):
        plugin["gpuOperatorToolkitReady"] = {"enabled": True}
    return values | {"devicePlugin": plugin}


def _has_suffix(found: Found) -> bool:
    """A version such as v1.30.4-eks-1 or v1.30.4+k3s1: no image of kube-scheduler has such a tag."""
    return any(mark in found.version for mark in "-+")


def _operator_toolkit(found: Found) -> bool:
    return any(
        texts_at(thing, "spec", "template", "metadata", "labels").get("app") == "nvidia-container-toolkit-daemonset"
        for _, thing in found.all("DaemonSet")
    )


def _plugin(release: str, namespace: str, tolerated: list[Json]) -> Json:
    """What matters of the chart's DaemonSet."""
    spec = {"nodeSelector": {"gpu": "on"}, "tolerations": tolerated}
    return {
        "kind": "DaemonSet",
        "metadata": {"name": f"{release}-device-plugin", "namespace": namespace},
        "spec": {"template": {"spec": spec}},
    }


def _scheduler(found: Found, release: str, namespace: str) -> Json:
    """The same of its Deployment: kube-scheduler must be of the cluster's version, from whichever registry."""
    name = f"{release}-scheduler"
    there = found.of("Deployment", namespace, name)
    image = next((one for one in _images(there) if "kube-scheduler" in one), "") if there is not None else ""
    repository = image.rpartition(":")[0] if ":" in image.rpartition("/")[2] else image
    container = {"name": "kube-scheduler", "image": f"{repository or _SCHEDULER_IMAGE}:v{found.kubernetes}"}
    return {
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


def _images(thing: Json) -> list[str]:
    return [text_at(one, "image") for one in list_at(thing, "spec", "template", "spec", "containers")]


def _commands(label: Label, release: str, namespace: str, chart: str, removals: list[str]) -> File:
    lines = ["# NVIDIA's plugin offers the same cards: remove it first.", *removals] if removals else []
    lines += ["# The plugin runs on nodes with this label.", *label_commands(label)]
    if not label.nodes:
        lines += ["# No node reports an NVIDIA card. For each that has one: kubectl label node NODE gpu=on"]
    lines += [
        command("helm", "repo", "add", "hami-charts", "https://project-hami.github.io/HAMi/"),
        command("helm", "repo", "update", "hami-charts"),
        command(
            "helm",
            "upgrade",
            "--install",
            release,
            "hami-charts/hami",
            "-n",
            namespace,
            "--version",
            chart,
            "-f",
            "values.yaml",
        ),
    ]
    return File(
        "commands.sh",
        script(lines),
        COMMANDS,
        sentence("Run `sh commands.sh` in this folder, after the files on hosts are in place."),
    )


def _warnings(found: Found, nodes: tuple[Node, ...], chart: str) -> Iterator[str]:
    version = found.kubernetes
    if version < _FLOOR:
        needs = sentence(
            "{stack} needs Kubernetes {floor} or newer. This cluster has {version}. Update Kubernetes first.",
            stack="HAMi",
            floor=_FLOOR.short,
            version=version.short,
        )
        refused = sentence("Its chart is refused below {floor}.", floor=_CHART_FLOOR.short)
        yield series((needs, refused)) if version < _CHART_FLOOR else needs
    yield from below_driver(nodes, _DRIVER, "HAMi", MAKER)
    known = {node.metadata.name for node in nodes}
    away = [node for node in found.nodes if labels_of(node).get("gpu") == "on" and node.metadata.name not in known]
    if away:
        yield sentence(
            "{number} nodes have the label {label} and report no NVIDIA card yet: the plugin runs there too and shows whether "
            "they have one.",
            number=len(away),
            label="gpu=on",
        )
