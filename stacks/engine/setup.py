"""What a stack needs in a cluster before its cards can be allocated: what it is rendered from, and what is rendered.

A stack that can be set up has a `Setup` in its `STACK`; `preparing` renders it and compares it with what is there. Pure: nothing is
read or applied here. What a cluster says may be anything: `at` and `text_at` read it without trust, and `rendering` quotes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from kube import quantity
from kube.objects import Node
from stacks.engine.names import labels_of
from stacks.engine.versions import NEWEST, Version, version_of

Json: TypeAlias = dict[str, Any]

OBJECTS, HOST, VALUES, COMMANDS = "objects", "host", "values", "commands"
#: Manifests for `kubectl apply`; parts of files on hosts; values for Helm or parts of pods; commands to run.
FILE_KINDS = (OBJECTS, HOST, VALUES, COMMANDS)

PRESENT, MISSING, DIFFERS, REMOVE, HIDDEN = "present", "missing", "differs", "to remove", "not visible"

_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?")


class Key(NamedTuple):
    """An object. namespace: "" for what is in none."""

    kind: str
    namespace: str
    name: str


class Wanted(NamedTuple):
    """What is read of a cluster: one object by its name, or with the name "" all of a kind.

    api, plural: of a kind that Kubernetes does not have, such as "/apis/example.com/v1", "gadgets".
    """

    kind: str
    namespace: str = ""
    name: str = ""
    api: str = ""
    plural: str = ""

    @property
    def key(self) -> Key:
        return Key(self.kind, self.namespace, self.name)


#: Where a kind is read: group and version, plural, whether it is in a namespace.
_PLACES = {
    "Namespace": ("/api/v1", "namespaces", False),
    "Pod": ("/api/v1", "pods", True),
    "Service": ("/api/v1", "services", True),
    "ServiceAccount": ("/api/v1", "serviceaccounts", True),
    "ConfigMap": ("/api/v1", "configmaps", True),
    "DaemonSet": ("/apis/apps/v1", "daemonsets", True),
    "Deployment": ("/apis/apps/v1", "deployments", True),
    "ClusterRole": ("/apis/rbac.authorization.k8s.io/v1", "clusterroles", False),
    "ClusterRoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "clusterrolebindings", False),
}
#: Kinds whose group was another one before.
_OLD_PLACES = {"DaemonSet": ((1, 9), "/apis/extensions/v1beta1"), "Deployment": ((1, 9), "/apis/extensions/v1beta1")}


def place_of(wanted: Wanted, version: Version | None) -> str:
    """The path of the API where it is read."""
    base, plural, namespaced = _PLACES.get(wanted.kind, (wanted.api, wanted.plural, bool(wanted.namespace)))
    since, old = _OLD_PLACES.get(wanted.kind, ((0, 0), ""))
    if version is not None and version < since:
        base = old
    inside = f"/namespaces/{wanted.namespace}" if namespaced and wanted.namespace else ""
    return f"{base}{inside}/{plural}" + (f"/{wanted.name}" if wanted.name else "")


def plural_of(wanted: Wanted) -> str:
    """What kubectl calls the kind."""
    if wanted.kind in _PLACES:
        return _PLACES[wanted.kind][1]
    return ".".join((wanted.plural, *wanted.api.split("/")[2:3]))


@dataclass(frozen=True, kw_only=True)
class Found:
    """What is known of a cluster.

    version: as the server tells it, "" when it is not known. nodes: all of them. objects: those that were read; None where nothing
    was, so that what is there is not known. hidden: what may not be read.
    """

    version: str = ""
    nodes: Sequence[Node] = ()
    objects: Mapping[Key, Json] | None = None
    hidden: tuple[Wanted, ...] = ()

    @property
    def kubernetes(self) -> Version:
        """NEWEST where it is not known."""
        return version_of(self.version) or NEWEST

    def of(self, kind: str, namespace: str, name: str) -> Json | None:
        """None: it is not there, or not known."""
        return (self.objects or {}).get(Key(kind, namespace, name))

    def all(self, kind: str) -> list[tuple[Key, Json]]:
        """Those of a kind, ordered; those alone that are called as objects are, since their names go into commands."""
        found = [item for item in (self.objects or {}).items() if item[0].kind == kind]
        return sorted((item for item in found if all(map(is_name, item[0][1:]))), key=lambda item: item[0])

    def hides(self, key: Key) -> bool:
        """Whether it may not be read, so that its absence says nothing."""
        return any(one.key == key or (one.kind == key.kind and not one.name) for one in self.hidden)


class File(NamedTuple):
    """name: of a file, letters that any shell takes. kind: one of FILE_KINDS. why: what it is for and what to do with it.

    shows: of a file on hosts, the command that shows what is there now.
    """

    name: str
    text: str
    kind: str
    why: str
    shows: str = ""


class Difference(NamedTuple):
    """What is there beside what is wanted. what: an object, a label or a setting. state: PRESENT, MISSING, … says: in
    words, or ""."""

    what: str
    state: str
    says: str = ""


class Label(NamedTuple):
    """A label that nodes need. nodes: all that need it, whether they have it or not."""

    key: str
    value: str
    nodes: tuple[Node, ...]

    @property
    def lacking(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if labels_of(node).get(self.key) != self.value)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a stack needs here.

    objects: what is compared with what is there, whole manifests or the parts of objects of others that matter. labels: of nodes.
    seen: what was found besides. warnings: sentences. optional: of `objects`, those that need not be there. nodes: those whose
    cards the stack would allocate.
    """

    files: tuple[File, ...]
    objects: tuple[Json, ...] = ()
    labels: tuple[Label, ...] = ()
    seen: tuple[Difference, ...] = ()
    warnings: tuple[str, ...] = ()
    optional: tuple[Key, ...] = ()
    nodes: tuple[Node, ...] = ()


def _nothing_more(found: Found) -> Iterable[Wanted]:
    return ()


class Rival(NamedTuple):
    """A plugin that offers cards which another stack is to allocate. commands: take it off the nodes; none where that is done."""

    key: Key
    commands: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Maker:
    """What the stack of the cards' maker knows, for other stacks that allocate the same cards. name: of the maker, for people.

    has_card: whether something says that a node has such cards. labelled: the label that says so, in words; "" where none does.
    ruled_out: whether the node was looked at, and has none. rivals: the maker's own plugins that run on these nodes.
    host_files: what makes the cards visible in the containers of other plugins on these nodes.
    """

    name: str
    has_card: Callable[[Node], bool]
    labelled: Callable[[Node], str]
    ruled_out: Callable[[Node], bool]
    rivals: Callable[[Found, Sequence[Node]], list[Rival]]
    host_files: Callable[[Sequence[Node]], list[File]]


@dataclass(frozen=True, kw_only=True)
class Setup:
    """How a stack is set up. name: the word of `cluster prepare --stack`. renders: what its files are, in a sentence.

    render: what it needs here. reads: what is looked up in the cluster for it, once the DaemonSets are known; objects by name.
    maker: where the stack is that of the cards' maker.
    """

    name: str
    renders: str
    render: Callable[[Found], Plan]
    reads: Callable[[Found], Iterable[Wanted]] = field(default=_nothing_more)
    maker: Maker | None = None


def at(value: Any, *path: str | int) -> Any:
    """What lies at a path of an object that anybody may have written; None where there is nothing."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def text_at(value: Any, *path: str | int) -> str:
    """The same of a text; "" where there is none."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def list_at(value: Any, *path: str | int) -> list[Any]:
    """The same of a list; empty where there is none."""
    found = at(value, *path)
    return found if isinstance(found, list) else []


def texts_at(value: Any, *path: str | int) -> dict[str, str]:
    """The same of a mapping of texts, such as labels."""
    found = at(value, *path)
    return {name: text for name, text in found.items() if isinstance(text, str)} if isinstance(found, dict) else {}


def words_of(thing: Json) -> list[str]:
    """The words of all command lines of a DaemonSet's, Deployment's or pod's containers."""
    spec = at(thing, "spec", "template", "spec") or at(thing, "spec")
    containers = [one for one in list_at(spec, "containers") if isinstance(one, dict)]
    parts = [part for one in containers for name in ("command", "args") for part in list_at(one, name)]
    return [word for part in parts if isinstance(part, str) for word in part.split()]


def option_of(thing: Json, name: str) -> str | None:
    """The value of an option of the command line; the last one counts. None: it is not there."""
    value, words = None, words_of(thing)
    for place, word in enumerate(words):
        flag, equals, rest = word.lstrip("-").partition("=")
        if word.startswith("-") and flag == name:
            value = rest if equals else words[place + 1] if place + 1 < len(words) else ""
    return value


def offers(node: Node, *beginnings: str) -> bool:
    """Whether the node states a resource of such a name, and not 0 of it."""
    capacity = (node.status.capacity if node.status else None) or {}
    return any(name.startswith(beginnings) and quantity.count(str(value)) for name, value in capacity.items())


def named(nodes: Iterable[Node]) -> list[Node]:
    """Those whose names are names of nodes, by name: no other stands in a command."""
    return sorted((node for node in nodes if is_name(node.metadata.name)), key=lambda node: node.metadata.name)


def is_name(text: str) -> bool:
    """Whether an object or a release of Helm can be called so; "" too, the namespace of what is in none. None begins with a dash."""
    return not text or _NAME.fullmatch(text) is not None
