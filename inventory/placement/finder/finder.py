"""The answer: which nodes take the request now, and why the others do not, counted and grouped.

A node is asked for what keeps any pod off it, then by the rule of each way in which its systems can be asked. Six reads of
the tables whatever their size; no name of a pod is read.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

import msgspec

from inventory.condition import in_step, sync_of
from inventory.models import Cluster
from inventory.pieces import OneCard
from inventory.placement.finder import nodes, rows
from inventory.placement.finder.request import WAYS, BadRequest, Request
from inventory.placement.finder.rows import Figures, NodeKey, Rows
from inventory.queries import rows as querysets
from inventory.stack_context import stack_context
from kube import objects
from stacks import STACKS
from stacks.engine import fitting
from stacks.engine.base import Context
from stacks.engine.fitting import Answer, Spot, Way
from stacks.engine.registry import looks_like_gpu

_STACKS = {stack.name: stack for stack in STACKS}
#: Of several ways in which a node refuses, that which came nearest is told.
_NEAREST = (
    *(fitting.TOO_FEW_FREE, fitting.NO_BLOCK, fitting.UNHEALTHY_CARDS, fitting.NO_SLOTS, fitting.NO_CORES),
    *(fitting.MIXED_CARDS, fitting.OCCUPANCY_UNKNOWN, fitting.MEMORY_UNKNOWN, fitting.UNIT_UNKNOWN),
    *(
        fitting.CARDS_UNKNOWN,
        fitting.LAYOUT_UNKNOWN,
        fitting.NOT_METERED,
        fitting.ONE_CARD,
        fitting.TOO_SMALL,
        fitting.FEW_CARDS,
    ),
)
_DOUBTS = frozenset((fitting.CARD_NOT_KNOWN, fitting.MAY_BE_UNHEALTHY))
_FAR = float("inf")
#: (the name of a stack, a way to ask it): all, and those that are asked.
_Ways: TypeAlias = tuple[list[tuple[str, Way]], list[tuple[str, Way]]]
#: Nodes that a reason tells as examples.
EXAMPLES = 5


class Taking(msgspec.Struct, frozen=True):
    """A node that takes the request. answer: of the way; cards: those that would take it, the scheduler's own order first.

    facts: what the node says of itself. notes: codes of what is to be known of it.
    """

    cluster: str
    node: str
    way: Way
    answer: Answer
    cards: tuple[OneCard, ...]
    figures: Figures
    facts: objects.Node
    notes: tuple[str, ...] = ()


class Refusing(msgspec.Struct, frozen=True):
    """A node that does not. about: a taint, a label, a system; "" for nothing. figures: None where they are not known."""

    cluster: str
    node: str
    code: str
    about: str = ""
    figures: Figures | None = None


class Reason(msgspec.Struct, frozen=True):
    """So many nodes refuse for this. examples: the first of them."""

    code: str
    about: str
    nodes: int
    examples: tuple[Refusing, ...]


class Found(msgspec.Struct, frozen=True):
    """without_gpu: nodes that have none, and are among no others. clusters: names of those that were looked at.

    stacks: names of the systems that their nodes have.
    """

    request: Request
    clusters: tuple[str, ...]
    taking: tuple[Taking, ...]
    refusing: tuple[Refusing, ...]
    reasons: tuple[Reason, ...]
    without_gpu: int
    stacks: frozenset[str] = frozenset()

    @property
    def nodes(self) -> int:
        """Nodes with a GPU."""
        return len(self.taking) + len(self.refusing)

    @property
    def ways(self) -> list[Way]:
        """Those that the answer goes by: the asked ones, else those of the nodes that take it."""
        asked = self.request.stacks or sorted({one.way.name for one in self.taking})
        return [WAYS[name] for name in asked]


class Looked(msgspec.Struct, frozen=True):
    """What an answer goes by. names: of the clusters, by id; believed: ids of those that are in sync."""

    names: dict[int, str]
    believed: frozenset[int]
    read: Rows
    context: Context

    @property
    def places(self) -> list[NodeKey]:
        """All nodes with a GPU, by name."""
        return sorted({*self.read.nodes, *self.read.figures}, key=lambda one: (self.names[one[0]], one[1]))

    def judged(self, wanted: Wanted, place: NodeKey) -> Fits | nodes.Why:
        return of_node(wanted, self.read, place, self.context) if place[0] in self.believed else (nodes.STALE, "")


def look(request: Request, now: datetime | None = None) -> Looked:
    """Raises BadRequest when there is no cluster of an asked name. now: as `condition.sync_of` takes it."""
    chosen = clusters_of(request)
    believed = frozenset(one.pk for one in chosen if in_step(sync_of(one.watches.all(), now)))
    names = {one.pk: one.name for one in chosen}
    return Looked(names, believed, rows.read(names), stack_context())


def find(request: Request, now: datetime | None = None, looked: Looked | None = None) -> Found:
    """As `look`, or by what it has read."""
    looked = looked or look(request, now)
    names, read, wanted = looked.names, looked.read, Wanted(request)
    taking: list[Taking] = []
    refusing: list[Refusing] = []
    for place in looked.places:
        found = looked.judged(wanted, place)
        if isinstance(found, tuple):
            refusing.append(Refusing(names[place[0]], place[1], *found, read.figures.get(place)))
        else:
            taking.append(_taking(names[place[0]], read, place, found, request))
    taking.sort(key=lambda one: rank(one, request))
    return Found(
        request=request,
        clusters=tuple(names.values()),
        taking=tuple(taking),
        refusing=tuple(refusing),
        reasons=_grouped(refusing),
        without_gpu=read.without_gpu,
        stacks=frozenset(name for one in read.figures.values() for name in one.stacks),
    )


class Fits(msgspec.Struct, frozen=True):
    """A node takes the request in this way."""

    way: Way
    answer: Answer
    facts: objects.Node


class Wanted:
    """The request, and by which ways the stacks of a node can be asked for it: nodes are alike."""

    def __init__(self, request: Request) -> None:
        self.request, self.want = request, request.want
        self._asked, self._ways = set(request.stacks or WAYS), dict[tuple[str, ...], _Ways]()

    def ways(self, stacks: tuple[str, ...]) -> _Ways:
        """(the name of a stack, a way) of all ways of these stacks, and of those among them that are asked."""
        found = self._ways.get(stacks)
        if found is None:
            every = [(name, way) for name in stacks if name in _STACKS for way in _STACKS[name].ways]
            found = self._ways[stacks] = every, [one for one in every if one[1].name in self._asked]
        return found


def clusters_of(request: Request) -> list[Cluster]:
    every = {one.name: one for one in querysets.clusters()}
    unknown = [name for name in request.clusters if name not in every]
    if unknown:
        known = ", ".join(every) or "none yet"
        raise BadRequest({"cluster": [f"There is no cluster {unknown[0][:64]!r}. There are: {known}."]})
    return [every[name] for name in dict.fromkeys(request.clusters)] or list(every.values())


def of_node(wanted: Wanted, read: Rows, place: NodeKey, context: Context) -> Fits | nodes.Why:
    """One node by these rows. Pure."""
    request, told, figures = wanted.request, read.nodes.get(place), read.figures.get(place)
    if figures is None:
        return nodes.NOT_COUNTED, ""
    if told is None or told.node is None:
        return nodes.NODE_UNKNOWN, ""
    if (why := nodes.keeps_off(told, told.node, request)) is not None:
        return why
    cards = read.cards.get(place, [])
    if (why := _of_model(request, cards, figures)) is not None:
        return why
    if not figures.stacks and not any(
        map(looks_like_gpu, told.node.status.allocatable or ()) if told.node.status else ()
    ):
        return fitting.NOT_OFFERED, ""  # labels alone speak of its cards
    every, asked = wanted.ways(figures.stacks)
    if not asked:
        return (nodes.OTHER_STACK, "") if every and request.stacks else (nodes.NO_RULE, ", ".join(figures.stacks))
    whys: list[str] = []
    spots: dict[str, Spot] = {}
    for name, way in asked:
        if name not in spots:
            spots[name] = _spot(read, place, told.node, name, context)
        answer = way.place(wanted.want, spots[name])
        if answer is not None and not answer.why:
            why = _mixed(request, cards, name) or nodes.of_host(figures, request)
            return why or Fits(way, answer, told.node)
        whys += [answer.why] if answer is not None else []
    if whys:
        return _nearest(whys)
    if request.stacks:
        return nodes.OTHER_STACK, ""
    return (nodes.NO_RULE, ", ".join(figures.stacks)) if cards else (fitting.NOT_OFFERED, "")


_ORDER = {why: place for place, why in enumerate(_NEAREST)}


def _nearest(whys: list[str]) -> nodes.Why:
    return min(whys, key=lambda why: _ORDER.get(why, len(_ORDER))), ""


def _of_model(request: Request, cards: list[OneCard], figures: Figures) -> nodes.Why | None:
    if not request.models:
        return None
    known = [one.model for one in cards if one.model] or [figures.model]
    if any(_is(request, model) for model in known):
        return None
    return (nodes.OTHER_MODEL, "") if any(known) else (nodes.MODEL_UNKNOWN, "")


def _mixed(request: Request, cards: list[OneCard], stack: str) -> nodes.Why | None:
    """Which of its cards a node gives nobody can ask for, so all must be of the model."""
    mine = [one for one in cards if one.stack == stack]
    wrong = request.models and any(not _is(request, one.model) for one in mine)
    return (fitting.MIXED_CARDS, "") if wrong else None


def _is(request: Request, model: str) -> bool:
    return any(part in model.lower() for part in request.models)


def _spot(read: Rows, place: NodeKey, node: objects.Node, stack: str, context: Context) -> Spot:
    figures, cards, open_ = read.figures[place], read.cards.get(place, ()), read.open.get(place, ())
    # What a system holds that has cards of its own there is on none of these.
    others = {one.stack for one in cards} - {stack} if open_ else ()
    return Spot(
        node=node,
        context=context,
        stack=stack,
        cards=tuple(one.piece for one in cards if one.stack == stack),
        held=read.held.get(place, {}),
        open=tuple(one for one in open_ if one.stack not in others),
        unit=figures.unit,
        cards_known=figures.cards_total is not None,
    )


def _taking(cluster: str, read: Rows, place: NodeKey, found: Fits, request: Request) -> Taking:
    figures = read.figures[place]
    notes = (*found.answer.notes, *nodes.notes_of_host(figures, request))
    by_id = {one.piece.id: one for one in read.cards.get(place, ())}
    cards = tuple(by_id[one] for one in found.answer.cards)
    return Taking(cluster, place[1], found.way, found.answer, cards, figures, found.facts, notes)


def rank(one: Taking, request: Request) -> tuple[bool, bool, bool, float, float, str, str]:
    """What serves the request as it was typed comes first: GPUs before NPUs, which need other programs, and where several
    cards are wanted, cards before slices of cards, of which a process uses one.

    Among equals what is certain before what is not, then the tightest, so that large pieces stay for who needs them.
    """
    doubtful = not _DOUBTS.isdisjoint(one.answer.notes)
    gap, free = one.figures.largest_gap, one.figures.cards_free
    tight = _FAR if gap is None else gap, _FAR if free is None else free
    return one.answer.npu, in_slices(one, request), doubtful, *tight, one.cluster, one.node


def in_slices(one: Taking, request: Request) -> bool:
    """Whether several cards are wanted and the node gives slices of cards instead, of which a process uses one."""
    return one.answer.parts and request.cards > 1


def _grouped(refusing: list[Refusing]) -> tuple[Reason, ...]:
    """The most frequent first."""
    groups: dict[tuple[str, str], list[Refusing]] = {}
    for one in refusing:
        groups.setdefault((one.code, one.about), []).append(one)
    made = [Reason(code, about, len(found), tuple(found[:EXAMPLES])) for (code, about), found in groups.items()]
    return tuple(sorted(made, key=lambda one: (-one.nodes, one.code, one.about)))
