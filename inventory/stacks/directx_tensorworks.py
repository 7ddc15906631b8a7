"""The DirectX device plugins of TensorWorks (now with Azure): `directx.microsoft.com/compute` and `/display`.

Capacity is adapters × multitenancy, and multitenancy is in the environment of the plugin, not on the node. Compute is given out for
adapters that cannot display, display for those that can, so no adapter is both and their numbers add up. Where the environment
takes the value from a ConfigMap, which is not mirrored, the number of adapters is not known. Source: the settings table and the
adapter enumeration of the plugins, version 0.0.1.
"""

from __future__ import annotations

from collections.abc import Iterable

from inventory.stacks.engine.base import WARNING, Context, Finding, StackReport
from inventory.stacks.engine.components import component, component_of
from inventory.stacks.engine.devices import Device
from inventory.stacks.engine.offers import Offer
from inventory.stacks.engine.requests import holds
from inventory.stacks.engine.stack import Components, Kept, Stack
from inventory.stacks.shared.directx import Adapters, adapter, held_by, offered, share
from kube.objects import Container, Node, Pod
from kube.quantity import count

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
        tenants = _multitenancy(name, pods, context)
        numbers[name] = found.slots // tenants if tenants and found.slots % tenants == 0 else None
        findings += [_indivisible(name, found.slots, tenants)] if tenants and numbers[name] is None else []
    return Adapters(numbers, "capacity ÷ multitenancy", apart=True, findings=tuple(findings))


def _indivisible(resource: str, slots: int, tenants: int) -> Finding:
    text = (
        f"{resource}: capacity {slots} is no multiple of the plugin's multitenancy {tenants}, so the number of cards is not "
        "known. Restart the plugin on this node if its setting was changed."
    )
    return Finding(code="labels-disagree", severity=WARNING, text=text)


def _multitenancy(resource: str, pods: list[Pod], context: Context) -> int | None:
    """Devices per adapter: of the plugin's pod on this node, else of its DaemonSets where they agree. None: not known."""
    plugin, prefix = _PLUGINS[resource]
    here = {
        _stated((pod.spec.containers if pod.spec else None) or (), prefix)
        for pod in pods
        if component(pod) == plugin and holds(pod)
    }
    if here:
        return here.pop() if len(here) == 1 else None
    templates = [
        (item.metadata.labels, item.spec.template) for item in context.daemonsets if item.spec and item.spec.template
    ]
    found = {
        _stated((template.spec.containers if template.spec else None) or (), prefix)
        for labels, template in templates
        if plugin in (component_of(labels), component_of(template.metadata.labels))
    }
    return found.pop() if len(found) == 1 else None


def _stated(containers: Iterable[Container], prefix: str) -> int | None:
    """What the environment says; 0 means 1, and so does silence. None when it comes from a file or a ConfigMap."""
    env = {item.name: item.value for container in containers for item in container.env or ()}
    if f"{prefix}MULTITENANCY" in env:
        value = env[f"{prefix}MULTITENANCY"]
        number = count(value) if value is not None else None
        return None if number is None else max(number, 1)
    return None if f"{prefix}CONFIG_FILE" in env else 1


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
)
