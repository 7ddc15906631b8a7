"""The answer: which nodes take the request now, the tightest first, and why the others do not, counted and grouped.

A node is asked for what keeps any pod off it, then by the rule of each way in which its systems can be asked. Nine reads of
the tables whatever their size; no name of a pod is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from inventory.condition import in_step, sync_of
from inventory.models import Cluster
from inventory.placement.finder import nodes, rows
from inventory.placement.finder.request import WAYS, BadRequest, Request
from inventory.placement.finder.rows import Figures, OneCard, Place, Rows
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
#: Nodes that a reason tells as examples.
EXAMPLES = 5


class Taking(msgspec.Struct, frozen=True):
    """A node that takes the request. answer: of the way; cards: those that would take it, the scheduler's own order first."""

    cluster: str
    node: str
    way: Way
    answer: Answer
    cards: tuple[OneCard, ...]
    figures: Figures


class Refusing(msgspec.Struct, frozen=True):
    """A node that does not. about: a taint, a label, a system; "" for nothing."""

    cluster: str
    node: str
    code: str
    about: str = ""


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


def find(request: Request, now: datetime | None = None) -> Found:
    """Raises BadRequest when there is no cluster of an asked name. now: as `condition.sync_of` takes it."""
    chosen = _clusters(request)
    believed = {one.pk for one in chosen if in_step(sync_of(one.watches.all(), now))}
    names = {one.pk: one.name for one in chosen}
    read = rows.read(names)
    context = stack_context()
    taking: list[Taking] = []
    refusing: list[Refusing] = []
    for place in sorted({*read.nodes, *read.figures}, key=lambda one: (names[one[0]], one[1])):
        found = _of_node(request, read, place, context) if place[0] in believed else (nodes.STALE, "")
        if isinstance(found, tuple):
            refusing.append(Refusing(names[place[0]], place[1], *found))
        else:
            taking.append(_taking(names[place[0]], read, place, *found.pair))
    taking.sort(key=_rank)
    return Found(
        request=request,
        clusters=tuple(names.values()),
        taking=tuple(taking),
        refusing=tuple(refusing),
        reasons=_grouped(refusing),
        without_gpu=read.without_gpu,
        stacks=frozenset(name for one in read.figures.values() for name in one.stacks),
    )


class _Fits(msgspec.Struct, frozen=True):
    pair: tuple[Way, Answer]


def _clusters(request: Request) -> list[Cluster]:
    every = {one.name: one for one in querysets.clusters()}
    unknown = [name for name in request.clusters if name not in every]
    if unknown:
        known = ", ".join(every) or "none yet"
        raise BadRequest({"cluster": [f"There is no cluster {unknown[0][:64]!r}. There are: {known}."]})
    return [every[name] for name in dict.fromkeys(request.clusters)] or list(every.values())


def _of_node(request: Request, read: Rows, place: Place, context: Context) -> _Fits | nodes.Why:
    told, figures = read.nodes.get(place), read.figures.get(place)
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
    asked = set(request.stacks or WAYS)
    ways = [(name, way) for name in figures.stacks if name in _STACKS for way in _STACKS[name].ways]
    if not any(way.name in asked for _, way in ways):
        return (nodes.OTHER_STACK, "") if ways and request.stacks else (nodes.NO_RULE, ", ".join(figures.stacks))
    answers: list[tuple[Way, Answer]] = []
    spots: dict[str, Spot] = {}
    for name, way in ways:
        if way.name in asked:
            if name not in spots:
                spots[name] = _spot(read, place, told.node, name, context)
            answer = way.place(request.want, spots[name])
            if answer is not None and not answer.why:
                return _mixed(request, cards, name) or _Fits((way, answer))
            answers += [(way, answer)] if answer is not None else []
    if answers:
        return _nearest([answer.why for _, answer in answers])
    if request.stacks:
        return nodes.OTHER_STACK, ""
    return (nodes.NO_RULE, ", ".join(figures.stacks)) if cards else (fitting.NOT_OFFERED, "")


def _nearest(whys: list[str]) -> nodes.Why:
    order = {why: rank for rank, why in enumerate(_NEAREST)}
    return min(whys, key=lambda why: order.get(why, len(order))), ""


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


def _spot(read: Rows, place: Place, node: objects.Node, stack: str, context: Context) -> Spot:
    figures, cards = read.figures[place], read.cards.get(place, ())
    # What a system holds that has cards of its own there is on none of these.
    others = {one.stack for one in cards} - {stack}
    return Spot(
        node=node,
        context=context,
        stack=stack,
        cards=tuple(one.piece for one in cards if one.stack == stack),
        held=read.held.get(place, {}),
        open=tuple(one for one in read.open.get(place, ()) if one.stack not in others),
        unit=figures.unit,
        cards_known=figures.cards_total is not None,
    )


def _taking(cluster: str, read: Rows, place: Place, way: Way, answer: Answer) -> Taking:
    by_id = {one.piece.id: one for one in read.cards.get(place, ())}
    cards = tuple(by_id[one] for one in answer.cards)
    return Taking(cluster, place[1], way, answer, cards, read.figures[place])


def _rank(one: Taking) -> tuple[bool, float, float, str, str]:
    """What is certain before what is not; the tightest first, so that large pieces stay for who needs them."""
    doubtful = bool({fitting.CARD_NOT_KNOWN, fitting.MAY_BE_UNHEALTHY} & set(one.answer.notes))
    gap, free = one.figures.largest_gap, one.figures.cards_free
    far = float("inf")
    return doubtful, far if gap is None else gap, far if free is None else free, one.cluster, one.node


def _grouped(refusing: list[Refusing]) -> tuple[Reason, ...]:
    """The most frequent first."""
    groups: dict[tuple[str, str], list[Refusing]] = {}
    for one in refusing:
        groups.setdefault((one.code, one.about), []).append(one)
    made = [Reason(code, about, len(found), tuple(found[:EXAMPLES])) for (code, about), found in groups.items()]
    return tuple(sorted(made, key=lambda one: (-one.nodes, one.code, one.about)))


def all_reasons() -> Iterator[str]:
    """Every code that an answer may have."""
    yield from nodes.REASONS
    yield from fitting.REASONS
