"""The DirectX device plugins of TensorWorks (now with Azure): `directx.microsoft.com/compute` and `/display`.

Capacity is adapters × multitenancy, and multitenancy is in the environment of the plugin, not on the node; a ConfigMap that the
environment takes it from is mirrored. Compute is given out for adapters that cannot display, display for those that can, so no
adapter is both and their numbers add up. Where a file says it, the number of adapters is not known. Source: the settings table, the
adapter enumeration and the deployments of the plugins, version 0.0.1 (TensorWorks/DirectX-Device-Plugins 5862bd7).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inventory.stacks.engine.base import WARNING, Context, Finding, Selection, StackReport
from inventory.stacks.engine.components import component
from inventory.stacks.engine.devices import Device
from inventory.stacks.engine.offers import Offer
from inventory.stacks.engine.requests import holds
from inventory.stacks.engine.stack import Components, ConfigMaps, Kept, Stack
from inventory.stacks.shared.directx import Adapters, adapter, held_by, offered, share
from inventory.stacks.shared.plugin_daemonsets import containers, of
from inventory.stacks.shared.plugin_settings import UNSET, Reader, Stated, of_keys, started_at, stated, unread, wanted
from inventory.stacks.shared.ways import shares_of_cards
from kube.objects import Container, DaemonSet, Node, Pod
from kube.quantity import count
from wording.said import sentence

NAME = "directx-tensorworks"
#: Ids of the two plugins as components.
MCDM, WDDM = "directx-mcdm-device-plugin", "directx-wddm-device-plugin"
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
            findings.append(unread(sentence("How often {name} is given out for each card", name=name), said))
    return Adapters(numbers, "capacity ÷ multitenancy", apart=True, findings=tuple(findings))


def _indivisible(resource: str, slots: int, tenants: int) -> Finding:
    text = sentence(
        "{resource}: capacity {slots} is no multiple of the plugin's multitenancy {tenants}, so the number "
        "of cards is not known. Restart the plugin on this node if its setting was changed.",
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


STACK = Stack(
    name=NAME,
    label="TensorWorks DirectX",
    resources=RESOURCES,
    read=read,
    resource_words=("directx",),
    components=Components(
        by_label={"app": {"device-plugin-mcdm": MCDM, "device-plugin-wddm": WDDM}},
        device_plugins=(MCDM, WDDM),
        daemonsets=(MCDM, WDDM),
    ),
    kept=Kept(env_endings=("_DEVICE_PLUGIN_MULTITENANCY", "_DEVICE_PLUGIN_CONFIG_FILE")),
    config_maps=ConfigMaps(
        wanted=_wanted, kept=of_keys, read_for="how many cards lie behind the devices of TensorWorks' DirectX plugins"
    ),
    ways=(shares_of_cards("TensorWorks DirectX", NAME, RESOURCES),),
)
