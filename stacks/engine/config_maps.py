"""Which ConfigMaps are read, and what the mirror keeps of them: never more than the systems declare.

Which there are is told by the DaemonSets of the device plugins, which name what they take their settings from. Nothing of a ConfigMap
that no system asks for is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kube.config_maps import ConfigMap, changed_at
from kube.objects import DaemonSet, Metadata
from stacks.engine.base import Context, ReadConfigMap, Selection
from stacks.engine.names import LONGEST_ANNOTATION, OVERSIZE
from stacks.engine.registry import registry
from stacks.engine.stack import Stack

#: Places that are watched for one cluster at most: each takes a connection.
MOST_PLACES = 16
#: Texts that are kept of a ConfigMap at most.
_MOST_KEYS = 64
#: A name as the API server admits it. What a DaemonSet refers to need not be one, and it becomes part of a selector.
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")

#: (namespace, name, label); of a beginning of names the API server knows nothing, so all of the namespace are asked for.
Place = tuple[str, str, str]


def place(selection: Selection) -> Place:
    """(namespace, name, label): where it is looked."""
    return selection.namespace, selection.name, selection.label


def selections(daemonsets: tuple[DaemonSet, ...]) -> tuple[Selection, ...]:
    """What is to be read of ConfigMaps, by the DaemonSets of a cluster. Sorted, and of at most MOST_PLACES places."""
    found = {one for stack in registry.stacks for one in _wanted(stack, daemonsets) if _is_valid(one)}
    places = sorted({place(one) for one in found})[:MOST_PLACES]
    return tuple(sorted(one for one in found if place(one) in places))


def _wanted(stack: Stack, daemonsets: tuple[DaemonSet, ...]) -> Iterable[Selection]:
    return stack.config_maps.wanted(daemonsets) if stack.config_maps is not None else ()


def _is_valid(selection: Selection) -> bool:
    ways = [way for way in (selection.name, selection.label, selection.prefix) if way]
    named = selection.name == "" or _NAME.fullmatch(selection.name) is not None
    return len(ways) == 1 and named and _NAME.fullmatch(selection.namespace) is not None


def trim_config_map(found: ConfigMap, chosen: tuple[Selection, ...]) -> ReadConfigMap | None:
    """A copy with only what systems read; None where none reads it."""
    said: dict[str, dict[str, str]] = {}
    node = ""
    for stack in registry.stacks:
        mine = [one for one in chosen if one.stack == stack.name and selects(one, found.metadata)]
        if mine and stack.config_maps is not None:
            keys = tuple(sorted({key for one in mine for key in one.keys}))
            texts = _kept(stack.config_maps.kept(found, keys))
            if texts or any(
                one.name for one in mine
            ):  # of one that was asked for by its name it counts that it is there
                said[stack.name] = texts
                node = node or stack.config_maps.node_of(found)
    metadata = found.metadata
    kept = Metadata(
        name=metadata.name,
        namespace=metadata.namespace,
        uid=metadata.uid,
        creationTimestamp=metadata.creationTimestamp,
    )
    return ReadConfigMap(kept, node, "" if node else changed_at(found), said) if said else None


def selects(selection: Selection, metadata: Metadata) -> bool:
    """Whether a ConfigMap is one of those that are selected."""
    if selection.namespace != metadata.namespace:
        return False
    if selection.name:
        return selection.name == metadata.name
    if selection.prefix:
        return metadata.name.startswith(selection.prefix)
    key, _, value = selection.label.partition("=")
    return (metadata.labels or {}).get(key) == value


def _kept(texts: dict[str, str]) -> dict[str, str]:
    return {
        key: text if len(text) <= LONGEST_ANNOTATION else f"{OVERSIZE}{len(text)}"
        for key, text in sorted(texts.items())[:_MOST_KEYS]
    }


def found_in(context: Context, stack: str, namespace: str, name: str) -> ReadConfigMap | None:
    """The ConfigMap of which a system reads something; None where the mirror does not have it."""
    for one in context.config_maps:
        if (one.metadata.namespace, one.metadata.name) == (namespace, name) and stack in one.said:
            return one
    return None


def said_of_node(context: Context, stack: str, node: str) -> dict[str, str] | None:
    """What a system reads of the ConfigMap that speaks of a node; None where the mirror has none."""
    return next((one.said[stack] for one in context.config_maps if one.node == node and stack in one.said), None)
