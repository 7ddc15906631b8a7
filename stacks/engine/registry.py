"""The tables that are made of all declarations, and the questions that are asked of them.

`stacks` fills the registry once, when it is imported, as Django fills that of its apps; so whatever of the machinery
is used, it is filled. Must not know any system by name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from kube.objects import Node
from stacks.engine.base import Context
from stacks.engine.names import OVERRIDE_PREFIX
from stacks.engine.software.base import SoftwareOf
from stacks.engine.stack import Entry, NodeLabels, Recognised, Stack


class Names:
    """What is recognised under one set of settings.

    annotations: what annotations of pods that are kept begin with. pod_labels: names of labels of pods that are kept for stacks
    and for apps above; label_prefixes: what further ones begin with.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        kept = [stack.kept for stack in registry.stacks]
        self.annotations = _shortest(
            prefix for item in kept for prefix in (*item.pod_annotations, *item.written_annotations(context))
        )
        # So many letters of a name, and what they are of those that are kept: a look-up spares nearly all comparisons.
        self.head = min(map(len, self.annotations), default=0)
        self.heads = frozenset(prefix[: self.head] for prefix in self.annotations)
        self.label_prefixes = tuple(prefix for item in kept for prefix in item.pod_label_prefixes)
        self.pod_labels = frozenset((*(name for item in kept for name in item.pod_labels), *context.pod_labels))
        # Resource names are few and asked for once per container, so the answers are kept; the bound is for hostile names.
        self.owner = lru_cache(maxsize=4096)(self._owner)
        self.relevant = lru_cache(maxsize=4096)(self._relevant)

    def _owner(self, resource: str) -> str | None:
        return next((stack.name for stack in registry.stacks if stack.understands(resource, self._context)), None)

    def _relevant(self, resource: str) -> bool:
        return looks_like_gpu(resource) or self._owner(resource) is not None


def _shortest(beginnings: Iterable[str]) -> tuple[str, ...]:
    """The same without those that begin with another: each is tried on every annotation of every pod."""
    found: list[str] = []
    for text in sorted(set(beginnings)):
        if not text.startswith(tuple(found)):
            found.append(text)
    return tuple(found)


class Registry:
    """All declarations. stacks: those that are read, by name. labels: in the order in which labels are believed.

    common_labels: those of writers that are no stack, which speak of all cards of a node.
    """

    def __init__(self) -> None:
        self.stacks: tuple[Stack, ...] = ()
        self.by_context: tuple[Stack, ...] = ()
        self.labels: tuple[NodeLabels, ...] = ()
        self.common_labels: tuple[NodeLabels, ...] = ()
        self.prefixes: tuple[str, ...] = ()
        self.words: tuple[str, ...] = ()
        self.software: tuple[Recognised, ...] = ()
        self.node_components: frozenset[str] = frozenset()
        self.optional_components: frozenset[str] = frozenset()
        self.schedulers: frozenset[str] = frozenset()
        self.components: dict[str, dict[str, str]] = {}
        self.divided: dict[str, tuple[str, Mapping[str, str]]] = {}
        self.endings: dict[str, tuple[tuple[str, str], ...]] = {}
        self.device_plugins: frozenset[str] = frozenset()
        self.commands: frozenset[str] = frozenset()
        self.readers: dict[str, tuple[str, ...]] = {}
        self.uncounted: tuple[str, ...] = ()
        self.in_bytes: frozenset[str] = frozenset()
        self.vendor_words: frozenset[str] = frozenset()
        self.label_prefixes: tuple[str, ...] = ()
        self.label_names: frozenset[str] = frozenset()
        self.labels_dropped: frozenset[str] = frozenset()
        self.node_annotations: tuple[str, ...] = ()
        self.node_annotations_dropped: tuple[str, ...] = ()
        self.env: frozenset[str] = frozenset()
        self.env_endings: tuple[str, ...] = ()
        self.env_of_interest: frozenset[str] = frozenset()
        #: One of those names anywhere in an environment that is not decoded yet.
        self.env_marks = re.compile(rb"(?!)")

    def populate(self, declared: tuple[Recognised, ...]) -> None:
        """Make all tables. declared: in the order in which their labels are believed."""
        self.stacks = tuple(sorted((item for item in declared if isinstance(item, Stack)), key=lambda item: item.name))
        self.by_context = tuple(stack for stack in self.stacks if stack.concerns is not None)
        self.labels = tuple(item.node_labels for item in declared)
        self.common_labels = tuple(item.node_labels for item in declared if not isinstance(item, Stack))
        self.prefixes = tuple(prefix for item in declared for prefix in item.resource_prefixes)
        self.words = tuple(word for item in declared for word in item.resource_words)
        self.in_bytes = frozenset(name for stack in self.stacks for name in stack.in_bytes)
        self.vendor_words = frozenset(word for item in self.labels for word in item.vendor_words)
        self.uncounted = tuple(prefix for stack in self.stacks for prefix in stack.uncounted_resources)
        self.label_prefixes = tuple(prefix for item in self.labels for prefix in item.prefixes)
        self.label_names = frozenset(name for item in self.labels for name in item.names)
        self.labels_dropped = frozenset(name for item in self.labels for name in item.dropped)
        kept = [stack.kept for stack in self.stacks]
        self.node_annotations = (OVERRIDE_PREFIX, *(name for item in kept for name in item.node_annotations))
        self.node_annotations_dropped = tuple(name for item in kept for name in item.node_annotations_dropped)
        self.env = frozenset(name for item in kept for name in item.env)
        self.env_endings = tuple(ending for item in kept for ending in item.env_endings)
        self.env_of_interest = frozenset(name for item in kept for name in item.env_of_interest)
        names = sorted(re.escape(name.encode()) for name in self.env_of_interest)
        self.env_marks = re.compile(b"|".join(names) or rb"(?!)")
        self._populate_components(declared)
        _names.cache_clear()

    def _populate_components(self, declared: tuple[Recognised, ...]) -> None:
        parts = [item.components for item in declared]
        self.software = tuple(item for item in declared if item.software != SoftwareOf())
        parts_of_nodes = [part for item in self.software for part in item.software.node]
        self.node_components = frozenset(part.name for part in parts_of_nodes)
        self.optional_components = frozenset(part.name for part in parts_of_nodes if part.optional)
        self.schedulers = frozenset(name for item in self.software for name in item.software.schedulers)
        self.components = {}
        self.divided = {name: found for part in parts for name, found in part.divided.items()}
        for part in parts:
            for key, values in part.by_label.items():
                self.components.setdefault(key, {}).update(values)
        self.endings = {key: tuple(found.items()) for part in parts for key, found in part.by_ending.items()}
        for key in self.endings:
            self.components.setdefault(key, {})
        self.device_plugins = frozenset(name for part in parts for name in part.device_plugins)
        self.commands = frozenset(name for part in parts for name in part.commands)
        read = {name for part in parts for name in part.daemonsets}
        self.readers = {
            name: tuple(stack.name for stack in self.stacks if name in stack.components.daemonsets) for name in read
        }

    def settings(self) -> dict[str, str]:
        """Name of each setting of a system (without GPUDASH_) → its default."""
        return {name: default for stack in self.stacks for name, default in stack.settings.items()}

    def findings(self) -> dict[str, Entry]:
        """Codes of findings that one system gives → their entries."""
        return {code: entry for stack in self.stacks for code, entry in stack.findings.items()}

    def signature(self) -> str:
        """Changes when the mirror keeps something else of the same objects: a system was added, or keeps more."""
        kept = [(stack.name, stack.resources, stack.kept) for stack in self.stacks]
        values = repr(
            [
                _plain(kept),
                sorted(self.components.items()),
                sorted(self.divided.items()),
                [_plain(labels) for labels in self.labels],
                self.prefixes,
                self.words,
            ]
        )
        return hashlib.blake2b(values.encode(), digest_size=8).hexdigest()


def _plain(value: object) -> object:
    """Without functions, whose texts are others in each process."""
    if callable(value):
        return ""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    fields = getattr(value, "__dataclass_fields__", None)
    return {name: _plain(getattr(value, name)) for name in fields} if fields else value


registry = Registry()


@lru_cache(maxsize=16)
def _names(settings: tuple[tuple[str, str], ...], pod_labels: tuple[str, ...]) -> Names:
    return Names(Context(now=0.0, settings=settings, pod_labels=pod_labels))


def names(context: Context) -> Names:
    """The names under the settings of a context."""
    return _names(context.settings, context.pod_labels)


def looks_like_gpu(resource: str) -> bool:
    """Whether an extended resource name reads like a GPU or an accelerator that is given out like one."""
    if "/" not in resource:
        return False
    name = resource.lower()
    # Quota keys ("requests.example.com/gpu") and huge pages are no extended resources of a node.
    return "gpu" in name or name.startswith(registry.prefixes) or any(word in name for word in registry.words)


def owner(resource: str, context: Context) -> str | None:
    """Name of the stack that understands this extended resource; None when none does."""
    return names(context).owner(resource)


def relevant_resource(resource: str, context: Context) -> bool:
    """Whether pods that ask for this resource are mirrored: a stack owns it, or it looks like a GPU."""
    return names(context).relevant(resource)


def marked(node: Node) -> list[Stack]:
    """The stacks whose own mark the node carries."""
    return [stack for stack in registry.stacks if stack.marks is not None and stack.marks(node)]


def concerned(node: Node, resources: Iterable[str], context: Context) -> list[Stack]:
    """The stacks to ask about a node: those that own one of the resources seen there or divide its cards, those whose mark
    it carries, and those of which something is in the context."""
    owner_of, resources = names(context).owner, set(resources)
    wanted = {owner_of(resource) for resource in resources} | {stack.name for stack in marked(node)}
    wanted |= {stack.name for stack in registry.by_context if stack.concerns is not None and stack.concerns(context)}
    return [stack for stack in registry.stacks if stack.name in wanted or not resources.isdisjoint(stack.divides)]


def readers(components: Iterable[str]) -> set[str]:
    """Names of the stacks whose answer a DaemonSet of these components may change."""
    return {name for part in components for name in registry.readers.get(part, ())}
