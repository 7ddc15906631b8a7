"""What a stack declares of itself. Whatever is said of one system anywhere is said here, in its own module.

A module of `stacks` has `STACK` (a system that is read) or `RECOGNISED` (names that are known without a system that
reads them: a vendor's resources, the labels of a cloud). `registry` checks the declarations and makes its tables of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from kube.config_maps import ConfigMap
from kube.objects import DaemonSet, Node, Pod
from stacks.engine.base import Context, Selection, StackReport
from stacks.engine.fitting import Way
from stacks.engine.setup import Setup
from stacks.engine.software.base import SoftwareOf

Value = TypeVar("Value")
Labels = Mapping[str, str]
#: Labels of a node → (value, who says so in words: "label example.com/gpu.product"); None when they do not say.
LabelReader = Callable[[Labels], tuple[Value, str] | None]


class Part(NamedTuple):
    """The part of a card that a machine has. model: of the card, and what part of it; memory_bytes: of the part, None: not known."""

    model: str
    memory_bytes: int | None


class Cuda(NamedTuple):
    """What labels say of CUDA on a node; "" where they say nothing.

    driver: of the node itself. newest: CUDA that this driver supports ("12.5"). capability: compute capability of the cards ("7.5").
    """

    driver: str = ""
    newest: str = ""
    capability: str = ""


class Entry(NamedTuple):
    """One code of a finding in the catalogue; severity is one of the severities of `base`."""

    title: str
    severity: str
    meaning: str
    action: str


class Refusal(NamedTuple):
    """What a system's own scheduler writes of a node that does not take a pod. pattern: a regular expression for the whole text.

    says, action: what it means and what to do, keys of their translations; groups of the pattern stand in them by name.
    """

    pattern: str
    says: str
    action: str


def no_memory(resource: str, unit: str, context: Context) -> None:
    """For a system whose resources are numbers of cards or shares."""
    return


def says_nothing(labels: Labels) -> None:
    """A LabelReader for what a system writes no labels about."""
    return


def no_cuda(labels: Labels) -> Cuda:
    """For a system whose labels say nothing of CUDA."""
    return Cuda()


@dataclass(frozen=True, kw_only=True)
class NodeLabels:
    """Labels that one writer puts on nodes, and what they say.

    prefixes, names: those that the mirror keeps; dropped: those of them that it does not, since they change all the time.
    present: with the value "true" the node has a GPU. naming: with any value it has.
    by_claims: with the value "true" its cards are given out by dynamic resource allocation, without a resource of the node.
    given_by: label → the component whose DaemonSet selects nodes by it, and which gives out their cards, now or when it is ready.
    vendor_words: values by which others name the vendor only, not a model.
    model, memory, driver: what the cards are; bytes of one card; the driver's version. cards: how many the node has, where labels
    speak of cards, not of what a plugin gives out. part: where the machine has only a part of a card, what part that is.
    cuda: what programs that use CUDA find there.
    """

    prefixes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()
    by_claims: tuple[str, ...] = ()
    given_by: Mapping[str, str] = field(default_factory=dict)
    vendor_words: tuple[str, ...] = ()
    model: LabelReader[str] = says_nothing
    memory: LabelReader[int] = says_nothing
    driver: LabelReader[str] = says_nothing
    cards: LabelReader[int] = says_nothing
    part: LabelReader[Part] = says_nothing
    cuda: Callable[[Labels], Cuda] = no_cuda


@dataclass(frozen=True, kw_only=True)
class Components:
    """Pods that belong to a system: its plugin, operator, scheduler.

    by_label: label key → label value → name of the component; the keys are those of `components.LABEL_KEYS`.
    by_ending: label key → what its value ends with → name, where people choose the beginning.
    divided: name → (a further label, its value → name), where one label is that of several components.
    device_plugins: ids without which a node gives out no devices. daemonsets: ids whose DaemonSets `read` looks at.
    commands: ids whose pods keep their command line, since `read` looks at it.
    """

    by_label: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    by_ending: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    divided: Mapping[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)
    device_plugins: tuple[str, ...] = ()
    daemonsets: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Recognised:
    """Names by which something of GPUs is recognised, whether it is read or not.

    name: unique, stands in tables, addresses and metrics. resource_prefixes, resource_words: what an extended resource that is
    taken for a GPU begins with, or has in it (in lower case); where no system owns it, it is said to be not understood.
    software: its components on nodes and in the cluster, and what is said of them.
    """

    name: str
    resource_prefixes: tuple[str, ...] = ()
    resource_words: tuple[str, ...] = ()
    node_labels: NodeLabels = field(default_factory=NodeLabels)
    components: Components = field(default_factory=Components)
    software: SoftwareOf = field(default_factory=SoftwareOf)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What the mirror keeps, because `read` reads it.

    pod_labels: names; pod_label_prefixes: beginnings of further ones.
    pod_annotations, node_annotations: beginnings; written_annotations: further beginnings of annotations of
    pods, which settings decide. node_annotations_dropped: those that it does not keep all the same (they change all the time).
    env: names of variables of containers, env_endings: what such names end with. env_of_interest: those of them for which a pod is
    kept though it asks for nothing.
    """

    pod_labels: tuple[str, ...] = ()
    pod_label_prefixes: tuple[str, ...] = ()
    pod_annotations: tuple[str, ...] = ()
    written_annotations: Callable[[Context], tuple[str, ...]] = lambda context: ()
    node_annotations: tuple[str, ...] = ()
    node_annotations_dropped: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    env_endings: tuple[str, ...] = ()
    env_of_interest: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ConfigMaps:
    """ConfigMaps that a system's plugin takes its settings from, or tells of its cards in.

    wanted: which, by the DaemonSets of the cluster; each carries the system's name. kept: (ConfigMap, the keys that were wanted) →
    what `read` reads of it, by key; nothing else of it is mirrored, so what may be secret is not kept. node_of: the node that it
    speaks of; "" where it is no single one. read_for: what is not known while they may not be read, in words.
    role: the file that grants the right to read them.
    """

    wanted: Callable[[tuple[DaemonSet, ...]], Iterable[Selection]]
    kept: Callable[[ConfigMap, tuple[str, ...]], dict[str, str]]
    read_for: str
    node_of: Callable[[ConfigMap], str] = lambda found: ""
    role: str = "deploy/watcher-role.yaml"


@dataclass(frozen=True, kw_only=True)
class ToolOutput:
    """What the system's own command line tool prints, for scripts that read it: `gpudash inspect -o NAME`.

    contains: what the mirrored JSON of its nodes and pods must contain. has: whether the tool lists a node of its own accord.
    text: (nodes, their pods, details?, context) → what is printed; cells end with tabs, their columns are aligned later.
    """

    contains: Callable[[Context], str]
    has: Callable[[Node, Context], bool]
    text: Callable[[list[Node], list[Pod], bool, Context], str]


@dataclass(frozen=True, kw_only=True)
class Stack(Recognised):
    """One stack.

    label: for people, as the table of the README begins its rows. resources: extended resources that it understands, as they
    are called where no setting says otherwise.
    read: (node, pods bound to it, holding or not, context) → what the system says of the node; None when the node is none of
    its own. Pure: no clock, no I/O. It never raises, and what it does not know is None, never 0.
    owns: whether it understands a resource; where it is left out, those of `resources`.
    marks: whether the node carries the system's own mark, so that it is asked even where none of its resources is seen.
    concerns: whether there is something of its own in the context, so that it is asked.
    counts_here: further resources that are its own on this node, which carries its mark: names that an administrator may change.
    takes: those of other systems that are its own where `counts_here` names them (`Context.taken`).
    divides: resources of other systems whose cards it gives out in parts, so that it is asked where one of them is seen.
    names_cards: UUIDs of cards of this node by the records of its pods, for those that know the cards by number only.
    in_bytes: those of its resources that are sizes, so no number of devices.
    slots: resources, its own or those that it takes, that are offered more often than there are cards, and of which each one that a
    container gets is of another card: no container gets more than there are cards.
    uncounted_resources: beginnings of resources whose cards nobody reads and that lie behind cards of this system: while a node
    offers one its sums are not known.
    settings: name of a setting (without GPUDASH_) → its default; `Context.settings` has the values.
    findings: codes that only this system gives → their entries in the catalogue.
    config_maps: what it reads of ConfigMaps.
    daemonsets_for: what is not known while DaemonSets may not be read, in words; "" when it is nothing.
    devices_for: what is not known while Device objects may not be read, in words; "" when it is nothing.
    terminating: what its own scheduler makes of a pod that is being deleted and still holds, in a sentence; "" when nothing else.
    refusals: what its own scheduler says of nodes that do not take a pod.
    memory_of: (resource, unit that a node counts in: "GiB", "MiB" or "" for not known, context) → bytes of one of it; None for what
    is no memory, or where nobody knows.
    ways: how it is asked for cards; none where how it places is not known here, so that its nodes are never said to have room.
    setup: what it needs in a cluster, for `cluster prepare`; None where that is not known here.
    """

    label: str
    resources: tuple[str, ...]
    read: Callable[[Node, list[Pod], Context], StackReport | None]
    owns: Callable[[str, Context], bool] | None = None
    marks: Callable[[Node], bool] | None = None
    concerns: Callable[[Context], bool] | None = None
    takes: tuple[str, ...] = ()
    counts_here: Callable[[Node, Context], tuple[str, ...]] | None = None
    divides: tuple[str, ...] = ()
    names_cards: Callable[[Node, list[Pod]], tuple[str, ...]] | None = None
    in_bytes: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    uncounted_resources: tuple[str, ...] = ()
    kept: Kept = field(default_factory=Kept)
    settings: Mapping[str, str] = field(default_factory=dict)
    findings: Mapping[str, Entry] = field(default_factory=dict)
    config_maps: ConfigMaps | None = None
    daemonsets_for: str = ""
    devices_for: str = ""
    terminating: str = ""
    refusals: tuple[Refusal, ...] = ()
    memory_of: Callable[[str, str, Context], int | None] = no_memory
    ways: tuple[Way, ...] = ()
    report: ToolOutput | None = None
    setup: Setup | None = None

    def understands(self, resource: str, context: Context) -> bool:
        """Whether this extended resource name is one that the system understands."""
        return self.owns(resource, context) if self.owns is not None else resource in self.resources

    def taken(self, node: Node, context: Context) -> frozenset[str]:
        """Resources of other systems that are its own on this node, which carries its mark."""
        here = self.counts_here(node, context) if self.counts_here is not None else ()
        return frozenset(self.takes).intersection(here)
