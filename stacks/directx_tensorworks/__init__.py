"""The DirectX device plugins of TensorWorks (now with Azure): `directx.microsoft.com/compute` and `/display`.

Capacity is adapters × multitenancy, and multitenancy is in the environment of the plugin, not on the node; a ConfigMap that the
environment takes it from is mirrored. Compute is given out for adapters that cannot display, display for those that can, so no
adapter is both and their numbers add up. Where a file says it, the number of adapters is not known. Source: the settings table, the
adapter enumeration and the deployments of the plugins, version 0.0.1 (TensorWorks/DirectX-Device-Plugins 5862bd7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from kube.objects import Container, DaemonSet, Node, Pod
from kube.quantity import count
from stacks.directx_tensorworks.setup import SETTING, SETTINGS, SETUP
from stacks.engine.base import WARNING, Context, Finding, Selection, StackReport
from stacks.engine.components import component
from stacks.engine.devices import Device
from stacks.engine.names import labels_of
from stacks.engine.node_system import WINDOWS_BUILD, is_windows, kubernetes_of, runtime_of
from stacks.engine.offers import Offer
from stacks.engine.requests import holds
from stacks.engine.shell import command
from stacks.engine.software.base import (
    MISSING,
    NOT_NEEDED,
    NOT_READY,
    OFFERS_NOTHING,
    OUTDATED,
    READY,
    WANTED,
    Expected,
    Here,
    Software,
    SoftwareOf,
    Statement,
)
from stacks.engine.software.base import Component as SoftwareComponent
from stacks.engine.stack import Components, ConfigMaps, Kept, Stack
from stacks.shared.directx import Adapters, adapter, held_by, offered, share
from stacks.shared.plugin_daemonsets import containers, of
from stacks.shared.plugin_settings import UNSET, Reader, Stated, of_keys, started_at, stated, unread, wanted
from stacks.shared.served import by_another, labelled_for_another
from stacks.shared.ways import shares_of_cards
from wording.said import gettext_noop, sentence

NAME = "directx-tensorworks"
#: Ids of the two plugins as components.
MCDM, WDDM = "directx-mcdm", "directx-wddm"
#: resource → (component id of its plugin, prefix of its environment).
_PLUGINS = {
    "directx.microsoft.com/compute": (MCDM, "MCDM_DEVICE_PLUGIN_"),
    "directx.microsoft.com/display": (WDDM, "WDDM_DEVICE_PLUGIN_"),
}
RESOURCES = tuple(_PLUGINS)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Shared cards and their holders. None when the node does not offer the resources and no pod holds one."""
    held, offers = held_by(pods, RESOURCES, _device), offered(node, RESOURCES)
    if not held and not offers:
        return None
    return share(NAME, node, offers, held, _adapters(offers, pods, context))


def _device(resource_id: str) -> Device | None:
    """The adapter of a device: "<PnP id>\\<n>", the n-th of those that the adapter is offered as."""
    name, _, ordinal = resource_id.rpartition("\\")
    return adapter(name) if ordinal.isdigit() else None


def _adapters(offers: dict[str, Offer], pods: list[Pod], context: Context) -> Adapters:
    numbers: dict[str, int | None] = {}
    findings: list[Finding] = []
    for name, found in offers.items():
        if not found.slots:
            continue
        said = _multitenancy(name, pods, context)
        tenants = _tenants(said) if said is not None else None
        numbers[name] = found.slots // tenants if tenants and found.slots % tenants == 0 else None
        findings += [_indivisible(name, found.slots, tenants)] if tenants and numbers[name] is None else []
        if said is not None and not said.known and said.place:
            findings.append(unread(sentence("The number of shares per card of {name}", name=name), said))
    return Adapters(numbers, "capacity ÷ multitenancy", apart=True, findings=tuple(findings))


def _indivisible(resource: str, slots: int, tenants: int) -> Finding:
    text = sentence(
        "{resource}: capacity {slots} is not a multiple of the multitenancy setting {tenants} of the plugin. The "
        "number of cards is unknown. If the setting changed, restart the plugin on this node.",
        resource=resource,
        slots=slots,
        tenants=tenants,
    )
    return Finding(code="labels-disagree", severity=WARNING, text=text)


def _multitenancy(resource: str, pods: list[Pod], context: Context) -> Stated | None:
    """Devices per adapter: of the plugin's pod on this node, else of its DaemonSets where they agree. None: they do not."""
    plugin, prefix = _PLUGINS[resource]
    sets = of(context.daemonsets, plugin)
    running = [pod for pod in pods if component(pod) == plugin and holds(pod)]
    since = started_at(running)
    here = {
        _stated(
            (pod.spec.containers if pod.spec else None) or (),
            prefix,
            Reader(context, NAME, pod.metadata.namespace, started_at([pod])),
        )
        for pod in running
    }
    # What a pod takes from whole ConfigMaps is not kept of it, but of its DaemonSet.
    if here and not (here == {UNSET} and any(one.envFrom for item in sets for one in containers(item))):
        return here.pop() if len(here) == 1 else None
    found = {_stated(containers(item), prefix, Reader(context, NAME, item.metadata.namespace, since)) for item in sets}
    return found.pop() if len(found) == 1 else None


def _stated(of_pod: Sequence[Container], prefix: str, reader: Reader) -> Stated:
    """What the environment says. A file may say it too, where one is named and the environment is silent."""
    found = stated(of_pod, f"{prefix}MULTITENANCY", reader)
    if found == UNSET and stated(of_pod, f"{prefix}CONFIG_FILE", reader) != UNSET:
        return Stated(False)
    return found


def _tenants(said: Stated) -> int | None:
    """0 means 1, and so does silence. None where it is not known, or no number."""
    if not said.known:
        return None
    number = count(said.text) if said.text is not None else 1
    return None if number is None else max(number, 1)


def _wanted(daemonsets: tuple[DaemonSet, ...]) -> Iterable[Selection]:
    for plugin, prefix in _PLUGINS.values():
        for item in of(daemonsets, plugin):
            yield from wanted(containers(item), (f"{prefix}MULTITENANCY",), item.metadata.namespace, NAME)


_WORD = "directx"
#: Builds after this one have other libraries, which the plugins are not built for.
_BUILD = "10.0.20348"
_CONTAINERD_FLOOR, _KUBERNETES_FLOOR = (1, 7, 0), (1, 22)


def concerns(node: Node, software: Software) -> bool:
    """Windows nodes, where one of the plugins is installed or the node offers what they offer."""
    if not is_windows(node):
        return False
    stated = (node.status.capacity if node.status else None) or {}
    return any(software.daemonsets.get(name) for name in (WDDM, MCDM)) or any(name in stated for name in RESOURCES)


def expected(node: Node, software: Software) -> Expected:
    """On each Windows node of no other stack: nothing says beforehand whether it has an adapter."""
    waits = labelled_for_another(node, software) and not by_another(node, lambda name: False)
    return (
        Statement(state=NOT_NEEDED, why=sentence("The cards of this node are for another plugin.")) if waits else WANTED
    )


def _refined(mine: str, other: str) -> Callable[[Statement, Here], Statement]:
    """mine, other: resources of the plugin and of its twin, which offers the adapters of the other kind."""

    def refine(made: Statement, here: Here) -> Statement:
        stated = (here.node.status.allocatable if here.node.status else None) or {}
        build = labels_of(here.node).get(WINDOWS_BUILD, "")
        if made.state == MISSING and (others := _of_another_plugin(stated)):
            why = sentence("Another plugin offers the cards of the node as {resource}.", resource=others[0])
            return Statement(state=NOT_NEEDED, why=why, source="node status")
        if made.state == MISSING and build and build != _BUILD and here.software.daemonsets:
            return msgspec.structs.replace(
                made,
                why=sentence(
                    "The Windows build is {build}. The plugin and its DaemonSet need {wanted}.",
                    build=build,
                    wanted=_BUILD,
                ),
                remedy=sentence(
                    "Use a Windows Server 2022 node. Do not widen the selector: the library fits no other build."
                ),
            )
        if made.reason == OFFERS_NOTHING and count(stated.get(other)):
            why = (
                sentence("It offers 0: all adapters can display, so none is compute-only.")
                if mine.endswith("compute")
                else sentence("It offers 0: all adapters are compute-only, so none can display.")
            )
            made = msgspec.structs.replace(made, state=READY, reason="", why=why, remedy="")
        elif made.reason == "CreateContainerConfigError":
            namespace = here.pod.metadata.namespace if here.pod is not None else "default"
            made = msgspec.structs.replace(
                made,
                remedy=command(
                    *("kubectl", "create", "configmap", SETTINGS, "-n", namespace, f"--from-literal={SETTING}=1")
                ),
            )
        return _with_floors(made, here.node)

    return refine


def _of_another_plugin(stated: Mapping[str, str | int | None]) -> list[str]:
    """Resources of DirectX that the node offers, and that are not of these plugins."""
    return sorted(name for name, value in stated.items() if _WORD in name and name not in RESOURCES and count(value))


def _with_floors(made: Statement, node: Node) -> Statement:
    name, version = runtime_of(node)
    kubernetes = kubernetes_of(node)
    warnings = list(made.warnings)
    if name == "containerd" and version and version < _CONTAINERD_FLOOR:
        warnings.append(
            sentence(
                "containerd {version} is below 1.7.0, which containers with these devices need.",
                version=str(version),
            )
        )
    elif name and name != "containerd":
        warnings.append(
            sentence("The container runtime {name} cannot run HostProcess containers. Use containerd.", name=name)
        )
    if kubernetes is not None and kubernetes < _KUBERNETES_FLOOR:
        warnings.append(
            sentence(
                "Kubernetes {version} is below 1.22, which HostProcess containers need.",
                version=kubernetes.short,
            )
        )
    wanted = made.state in (READY, OUTDATED, NOT_READY, MISSING)
    return msgspec.structs.replace(made, warnings=tuple(warnings)) if warnings and wanted else made


_DISPLAY, _COMPUTE = "directx.microsoft.com/display", "directx.microsoft.com/compute"
SOFTWARE = SoftwareOf(
    node=(
        SoftwareComponent(
            name=WDDM,
            expected=expected,
            main=("device-plugin-wddm",),
            offers=lambda name: name == _DISPLAY,
            refine=_refined(_DISPLAY, _COMPUTE),
        ),
        SoftwareComponent(
            name=MCDM,
            expected=expected,
            main=("device-plugin-mcdm",),
            offers=lambda name: name == _COMPUTE,
            refine=_refined(_COMPUTE, _DISPLAY),
        ),
    ),
    concerns=concerns,
)

STACK = Stack(
    name=NAME,
    label=gettext_noop("TensorWorks DirectX"),
    resources=RESOURCES,
    read=read,
    resource_words=(_WORD,),
    components=Components(
        by_label={"app": {"device-plugin-mcdm": MCDM, "device-plugin-wddm": WDDM}},
        device_plugins=(MCDM, WDDM),
        daemonsets=(MCDM, WDDM),
    ),
    software=SOFTWARE,
    kept=Kept(env_endings=("_DEVICE_PLUGIN_MULTITENANCY", "_DEVICE_PLUGIN_CONFIG_FILE")),
    config_maps=ConfigMaps(
        wanted=_wanted,
        kept=of_keys,
        read_for=gettext_noop("the number of cards behind the devices of the TensorWorks DirectX plugins"),
    ),
    ways=(shares_of_cards(gettext_noop("TensorWorks DirectX"), NAME, RESOURCES),),
    setup=SETUP,
)
