"""Settings of HAMi's device plugin: what its resources are called, and by how much it stretches the memory of cards.

The register has memory as it is stretched; the card's own is that divided by the factor. The settings of the node (`config.json`)
count before those of all (`device-config.yaml`); both are ConfigMaps that the plugin has as files. Whether an option of the command
line counts differs from version to version: with one, the factor is not known.
Source: Project-HAMi/HAMi v2.10.0 (charts/hami, cmd/device-plugin/nvidia/vgpucfg.go, pkg/device/nvidia).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from kube.config_maps import ConfigMap
from kube.objects import DaemonSet, Pod
from stacks.engine.base import Context, Selection
from stacks.engine.components import component
from stacks.engine.config_maps import found_in
from stacks.engine.names import too_long
from stacks.engine.requests import holds
from stacks.engine.stack import ConfigMaps
from stacks.shared.plugin_daemonsets import file_at, of, option
from stacks.shared.plugin_settings import started_at
from stacks.shared.yaml_text import mapping, read, sequence, word
from wording.said import gettext_noop

NAME, PLUGIN = "hami", "hami-device-plugin"
#: Where the chart puts the two files.
_FILES = ("/device-config.yaml", "/config/config.json")
_ALL, _NODES = "device-config.yaml", "config.json"
_NAMES = (
    "resourceCountName",
    "resourceMemoryName",
    "resourceMemoryPercentageName",
    "resourceCoreName",
    "resourcePriorityName",
)
_SCALING, _OPTION = "deviceMemoryScaling", "device-memory-scaling"
_LEAST, _MOST = 0.1, 100.0
_LONGEST_NAME = 253


class Settings(msgspec.Struct, frozen=True):
    """names: of the resources that count cards, ask for memory, for a part of it, for cores, and the priority; "" where not said.

    scaling: memory that is given out ÷ memory that there is; None where it is not known.
    """

    names: tuple[str, ...] = ("",) * len(_NAMES)
    scaling: float | None = None

    @property
    def count(self) -> str:
        return self.names[0]

    @property
    def memory(self) -> str:
        return self.names[1]


NOTHING = Settings()


def settings(context: Context, node: str, pods: Iterable[Pod] = ()) -> Settings:
    """Of the plugin on a node. Nothing where several DaemonSets say different things.

    pods: those of the node; what was changed after its plugin had started is not what that goes by.
    """
    since = started_at(pod for pod in pods if component(pod) == PLUGIN and holds(pod))
    found = {_of(daemonset, context, node, since) for daemonset in of(context.daemonsets, PLUGIN)}
    return found.pop() if len(found) == 1 else NOTHING


def _of(daemonset: DaemonSet, context: Context, node: str, since: str) -> Settings:
    for_all, of_node = (_text(daemonset, context, path, since) for path in _FILES)
    told = _decoded(for_all) if for_all is not None else {}
    names = tuple(_name(told.get(name)) for name in _NAMES)
    if for_all is None or option(daemonset, _OPTION) is not None:
        return Settings(names)
    nodes = _decoded(of_node) if of_node is not None else {}
    if of_node is None and file_at(daemonset, _FILES[1]) is not None:
        return Settings(names)  # what it says of this node is not known
    return Settings(names, _number(nodes.get(node) or told.get(_SCALING) or "1"))


def _text(daemonset: DaemonSet, context: Context, path: str, since: str) -> str | None:
    """What is kept of the ConfigMap behind a file; None where the mirror does not have it, or not as the plugin has."""
    file = file_at(daemonset, path)
    there = found_in(context, NAME, file.namespace, file.name) if file is not None else None
    if file is None or there is None or "" < since < there.changed_at:
        return None
    text = there.said[NAME].get(file.key)
    return None if text is None or too_long(text) else text


def _number(text: str) -> float | None:
    try:
        number = float(text) if len(text) <= 20 else math.nan
    except ValueError:
        return None
    return number if _LEAST <= number <= _MOST else None


def _name(value: str | None) -> str:
    text = value or ""
    return text if "/" in text and len(text) <= _LONGEST_NAME and text.isascii() and text.isprintable() else ""


@lru_cache(maxsize=64)
def _decoded(text: str) -> dict[str, str]:
    try:
        return msgspec.json.decode(text, type=dict[str, str])
    except msgspec.MsgspecError:
        return {}


def _wanted(daemonsets: tuple[DaemonSet, ...]) -> Iterable[Selection]:
    for found in of(daemonsets, PLUGIN):
        for path in _FILES:
            if (file := file_at(found, path)) is not None and file.key in (_ALL, _NODES):
                yield Selection(NAME, file.namespace, file.name, keys=(file.key,))


def _kept(found: ConfigMap, keys: tuple[str, ...]) -> dict[str, str]:
    """Names and factor; of the settings of nodes the factors."""
    data, kept = found.data or {}, {}
    if _ALL in keys and _ALL in data:
        told = mapping(mapping(read(data[_ALL])).get("nvidia"))
        kept[_ALL] = _encoded({name: word(told.get(name)) for name in (*_NAMES, _SCALING)})
    if _NODES in keys and _NODES in data:
        nodes = [mapping(one) for one in sequence(mapping(read(data[_NODES])).get("nodeconfig"))]
        factors = {word(one.get("name")): word(one.get("devicememoryscaling")) for one in nodes}
        kept[_NODES] = _encoded({name: factor for name, factor in factors.items() if name and _number(factor)})
    return kept


def _encoded(values: dict[str, str]) -> str:
    return msgspec.json.encode({name: value for name, value in sorted(values.items()) if value}).decode()


CONFIG_MAPS = ConfigMaps(
    wanted=_wanted,
    kept=_kept,
    read_for=gettext_noop("the resource names of HAMi, and the real memory of cards whose memory HAMi scales"),
)
