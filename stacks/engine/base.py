"""What every stack gets and gives: the card model, in plain structs.

A *stack* is one stack, such as a device plugin or a scheduler with its records. It reads a node and the pods bound to
it and says which cards there are, who holds what of them, and what is wrong. Stacks are pure: no Django, no I/O, no clock.
Memory is in bytes. None means unknown; it is never written as 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from kube.claims import DeviceTaintRule, ResourceClaim, ResourceSlice
from kube.devices import Device
from kube.objects import DaemonSet, Metadata

# Evidence: where a card of an allocation comes from, best first. A deduction from the node's own numbers cannot be late; an
# exporter's label is as old as its last scrape.
CLAIM = "claim"
DEVICE_STATUS = "device-status"  # containerStatuses[].allocatedResourcesStatus
ANNOTATION_V2 = "annotation-v2"
ANNOTATION_V1 = "annotation-v1"
ANNOTATION = "annotation"
ONLY_CARD = "only-card"  # no other card can be meant
ALL_CARDS = "all-cards"  # the container holds every one there is
EXPORTER = "exporter"
COUNT_ONLY = "count-only"

HEALTHY, DEGRADED, UNHEALTHY, HEALTH_UNKNOWN = "healthy", "degraded", "unhealthy", "unknown"
ERROR, WARNING, INFO = "error", "warning", "info"

# How a card is given out.
WHOLE = "whole"  # one holder, the full card
MEMORY = "memory"  # by memory units
SHARES = "shares"  # n holders, memory not metered (time-slicing)
PARTS = "parts"  # parts of the memory, made before they are asked for


class HealthReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one source says of the health of a card, or of a node.

    source: who says it: "kubelet", "device-plugin", a stack, an exporter's format, who sets a condition. level: HEALTHY, DEGRADED,
    UNHEALTHY, or HEALTH_UNKNOWN where it says something that tells nothing of the card's health. code: what it is, stable. says:
    the same as an English sentence, the key of its translation. text: as the source wrote it. since: unix seconds; None: not
    known. action: what to do, a key of `inventory.health.words.ACTIONS`; "" for nothing. lost_at: since when the source says
    nothing any more, so that this is the last that it said; None: it says so now. wording: how `text` was made, as it is stored.
    codes: what other sources of the same fact repeat too: "xid-79" for an Xid error, DCGM's error codes.
    """

    source: str
    level: str
    code: str
    says: str
    text: str = ""
    since: float | None = None
    action: str = ""
    lost_at: float | None = None
    wording: dict[str, Any] | None = None
    codes: tuple[str, ...] = ()


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """One GPU as a user would point at it.

    key: stable within the node: the UUID where it is known, else the index as text.
    memory_total_bytes: what the stack gives out. memory_physical_bytes: what the card has.
    memory_source, model_source: the label, annotation or table that said so, in words for the page ("" when unknown).
    shares: how many holders the stack admits; None when it does not count holders.
    units: the card's total in the stack's own memory unit.
    profile: of a slice (a part of a card that is given out by itself), what kind of slice it is, such as "1g.5gb"; "" for a
    whole card. parent: what the card of a slice is called; None when nothing says which it is.
    resource: the extended resource that gives it out; "" when the stack's resources all mean the same cards.
    health: as the stack sees it: HEALTHY, UNHEALTHY or HEALTH_UNKNOWN; told: who says so.
    """

    key: str
    stack: str
    mode: str = WHOLE
    index: int | None = None
    uuid: str | None = None
    model: str | None = None
    model_source: str = ""
    health: str = HEALTH_UNKNOWN
    memory_total_bytes: int | None = None
    memory_physical_bytes: int | None = None
    memory_source: str = ""
    shares: int | None = None
    units: int | None = None
    profile: str = ""
    parent: str | None = None
    resource: str = ""
    told: tuple[HealthReport, ...] = ()


class Allocation(msgspec.Struct, frozen=True, kw_only=True):
    """One container's hold on one card (or on "any card of this node": card None).

    quantity: in the resource's own unit, the part that falls on this card. memory_bytes: None when not metered or not known.
    with_pod: uid of a pod that holds the same card, where this is all that is known of which one it is; "" else.
    """

    pod_uid: str
    namespace: str
    pod: str
    container: str
    resource: str
    quantity: int
    evidence: str
    stack: str
    card: str | None = None
    memory_bytes: int | None = None
    core_percent: int | None = None
    #: One of WHOLE, MEMORY, SHARES, PARTS.
    mode: str = WHOLE
    with_pod: str = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong that the mirror shows. `text` says what it is and what to do. `pod` is "namespace/name"."""

    code: str
    severity: str
    text: str
    card: str | None = None
    pod: str | None = None


class MeasuredCard(msgspec.Struct, frozen=True, kw_only=True):
    """A card, or a slice of one, as an exporter on the node names it now.

    index: the exporter's. instance: of a slice, its number. holders: (namespace, pod, container) of those it is labelled with.
    """

    uuid: str
    index: int | None = None
    instance: str = ""
    holders: tuple[tuple[str, str, str], ...] = ()


class ReadConfigMap(msgspec.Struct, frozen=True, omit_defaults=True):
    """What systems read of a ConfigMap. said: name of the system → key → text, as its declaration keeps it.

    node: of which node it speaks; "" where it speaks of no single one. changed_at: RFC 3339; "" where it is not known, and of one
    that speaks of a node: its plugin writes it all the time.
    """

    metadata: Metadata
    node: str = ""
    changed_at: str = ""
    said: dict[str, dict[str, str]] = {}


class Selection(msgspec.Struct, frozen=True, order=True):
    """ConfigMaps that a system reads: the one of this name, those with this label ("key=value"), or those whose names begin so
    (prefix), in one namespace.

    keys: of which texts; the system's declaration may need none.
    """

    stack: str
    namespace: str
    name: str = ""
    label: str = ""
    prefix: str = ""
    keys: tuple[str, ...] = ()


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What a stack may know besides the node and its pods.

    now: unix seconds. daemonsets: those of device plugins, cluster-wide. slices, claims: those of the node, and those that are of no
    node; taint_rules: all of them. claims_read: whether the cluster lets both be read. config_maps: those of the node, and those that
    are of no node. selections: which ConfigMaps are read. device: what an agent says of the node's cards. known_uuids: UUIDs of this
    node's cards seen before.
    settings: (name, value) of the settings that stacks declare; one that is missing has its default.
    measured: cards of the node as its exporter names them now; empty where there is none.
    pod_labels: labels of pods that apps above want to be kept. taken: resources that on this node are those of another stack
    than of their owner; the engine sets it.
    """

    now: float
    daemonsets: tuple[DaemonSet, ...] = ()
    slices: tuple[ResourceSlice, ...] = ()
    taint_rules: tuple[DeviceTaintRule, ...] = ()
    claims: tuple[ResourceClaim, ...] = ()
    claims_read: bool = False
    config_maps: tuple[ReadConfigMap, ...] = ()
    selections: tuple[Selection, ...] = ()
    device: Device | None = None
    known_uuids: tuple[str, ...] = ()
    measured: tuple[MeasuredCard, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    pod_labels: tuple[str, ...] = ()
    taken: frozenset[str] = frozenset()
    assume_timeout_s: int = 300


class Fit(msgspec.Struct, frozen=True):
    """How many more slices of one profile there is room for, if no other is placed. profile: "" for the card as a whole.

    sure: so many fit wherever the slices that are there lie; most: more than these fit in no case. memory_bytes: of each.
    """

    profile: str
    sure: int
    most: int
    memory_bytes: int | None = None


#: Why the numbers of a `Room` are bounds, or missing.
STARTS, PARENTS, NO_TABLE, STRANGE_PROFILE, CARDS_UNKNOWN, CONTRADICTION, COUNTERS = (
    *("starts", "parents", "no-table", "strange-profile", "cards-unknown", "contradiction", "counters"),
)


class Slices(NamedTuple):
    """So many slices of one profile. profile: "" for the card as a whole."""

    profile: str
    number: int


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """What would still fit on a card that is cut into slices, beside those that are there.

    card: key of the card; "" for what is said of the cards of the node that are cut. cards: how many these are, None when not
    known. each: slices and fits are those of each of them, else of all together. slices: what is there: of a fixed layout all that
    were made. on_demand: the driver cuts as it is asked for, so that what is there is what is held, and a pod can have what fits.
    made: what fits are slices that are there and free: a pod can have each of them, whatever becomes of the others.
    source: by what it is known, in words. unknown: why the numbers are bounds, or missing; "" where they are exact.
    """

    card: str = ""
    cards: int | None = 1
    each: bool = True
    on_demand: bool = False
    made: bool = False
    slices: tuple[Slices, ...] = ()
    fits: tuple[Fit, ...] = ()
    source: str = ""
    unknown: str = ""


class StackReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one stack says of one node.

    unit: "GiB" or "MiB" where the stack counts memory in units, else None; unit_source: how that is known.
    recheck_at: unix seconds at which the same input would give another answer, or None.
    total_units: node total (allocatable) in the stack's own memory unit, for reports; None where memory is not counted in units.
    memory_total_bytes: what the stack can give out on this node (allocatable); None when not known or not metered.
    cards_known: False when the stack gives out cards of this node but cannot say how many there are.
    explained: a finding of the stack says why the node offers less than its labels let expect, or nothing.
    physical_cards: how many cards there are, whole or cut into slices; None when not known. It is looked at where cards has slices,
    and where the report is explained.
    vendor: whose cards they are, where no other system here gives out cards of that vendor; "" where several may give out the
    same. Cards of different vendors are never taken for the same card.
    beside: what it gives out are parts of cards that another system offers, and that knows of it.
    instead: uids of pods whose holds in other reports do not count, since allocations of this report are in their place.
    others: of a system that gives out cards of several vendors, the reports of the further ones.
    rooms: what would still fit on cards that are cut.
    """

    stack: str
    cards: tuple[Card, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    findings: tuple[Finding, ...] = ()
    unit: str | None = None
    unit_source: str = ""
    recheck_at: float | None = None
    total_units: int | None = None
    memory_total_bytes: int | None = None
    cards_known: bool = True
    explained: bool = False
    physical_cards: int | None = None
    vendor: str = ""
    beside: bool = False
    instead: tuple[str, ...] = ()
    others: tuple[StackReport, ...] = ()
    rooms: tuple[Room, ...] = ()


class NodeReport(msgspec.Struct, frozen=True, kw_only=True):
    """All stacks of one node, joined. This is what is written to the tables.

    cards_total: all that is given out by itself, whole cards and slices. physical_cards: boards, of which slices are parts.
    cards_allocated: cards with a holder; None where only shares are counted and no card is known.
    memory_*: None as soon as one part of the sum is not known or not metered. unplaced: on the node, card unknown.
    total_units: what can be given out in the memory unit of the stack, for reports; None where no stack counts in units.
    """

    stacks: tuple[str, ...] = ()
    unit: str | None = None
    unit_source: str = ""
    cards: tuple[CardReport, ...] = ()
    unplaced: tuple[Allocation, ...] = ()
    findings: tuple[Finding, ...] = ()
    cards_total: int | None = 0
    cards_allocated: int | None = 0
    memory_total_bytes: int | None = None
    memory_allocated_bytes: int | None = None
    memory_unplaced_bytes: int | None = 0
    recheck_at: float | None = None
    total_units: int | None = None
    physical_cards: int | None = 0
    rooms: tuple[Room, ...] = ()


class CardReport(msgspec.Struct, frozen=True, kw_only=True):
    """A card with its holders. memory_allocated_bytes: None when not known (count only) or not metered (shares)."""

    card: Card
    allocations: tuple[Allocation, ...] = ()
    memory_allocated_bytes: int | None = None
