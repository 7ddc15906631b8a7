"""The cheapest pods to move for a request to fit on one node, or for a node to be free, and where they would go. Pure.

What fits is judged by the finder's own rules (`finder.of_node`), of the node that is freed and of each node that a pod would go to.
Costs are compared in this order: pods, allocated memory, the highest priority, bare pods, owners; of equal ones the node's name.

A moved pod goes only to a node of the same cluster, stacks and card model that has no taint which its present node does not have:
tolerations, selectors and affinity of pods are not synced.

The search takes sets of pods by rising cost from all nodes at once, so the first that can be placed is the cheapest. `exact` is False
where it was cut: after MOST checks, or on a node with so many pods that not all sets are tried.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, count, groupby
from math import comb
from typing import Any, NamedTuple, TypeGuard

from inventory.placement.finder import nodes
from inventory.placement.finder.finder import Fits, Looked, Wanted, of_node
from inventory.placement.finder.request import WAYS, Request, Toleration
from inventory.placement.finder.rows import NodeKey, Rows
from inventory.placement.moves.pods import Asks, Pod, arrived, by_place, fewest_owners, owners, without
from inventory.queries.availability import taints_of
from stacks import STACKS
from stacks.engine import fitting
from stacks.engine.base import WHOLE

#: Nodes that are judged before the search is cut (about a second); sets of one size of a node's pods.
MOST, MOST_SETS = 10_000, 3_000
#: Nodes whose pods are read at once, where the next ones cost more.
AT_ONCE = 100
#: What can change when pods leave.
_BY_PODS = frozenset(
    (*(fitting.TOO_FEW_FREE, fitting.NO_BLOCK, fitting.NO_SLOTS, fitting.NO_CORES, fitting.OCCUPANCY_UNKNOWN),
     *(nodes.LITTLE_CPU, nodes.LITTLE_HOST_MEMORY))
)  # fmt: skip
_WAYS = {stack.name: tuple(way.name for way in stack.ways if way.name in WAYS) for stack in STACKS}


class Cost(NamedTuple):
    """Of a set of pods, in the order in which costs are compared. priority: the highest; bare: pods that no controller creates."""

    pods: int
    memory: int
    priority: int
    bare: int
    owners: int


class Move(NamedTuple):
    """A pod, and the node that has room for it."""

    pod: Pod
    to: NodeKey


class Plan(NamedTuple):
    """The node that is freed, and what moves."""

    place: NodeKey
    moves: tuple[Move, ...]
    cost: Cost


class Planned(NamedTuple):
    """already: a node that needs no move. candidates: nodes where moves would help; checks: nodes that were judged."""

    already: NodeKey | None
    plan: Plan | None
    exact: bool
    candidates: int
    checks: int


def plan(
    looked: Looked,
    request: Request,
    pods_of: Callable[[Sequence[NodeKey]], Iterable[Pod]],
    *,
    whole_node: bool = False,
    most: int = MOST,
) -> Planned:
    """pods_of: gives the pods with cards of these nodes; it is asked for the nodes where moves would help.

    whole_node: no pod with cards is to stay on the node, besides that the request fits there.
    """
    return _Search(looked, request, pods_of, whole_node, most).run()


def cost_of(pods: Sequence[Pod]) -> Cost:
    return Cost(
        len(pods),
        sum(one.memory for one in pods),
        max((one.priority for one in pods), default=0),
        sum(one.bare for one in pods),
        owners(pods),
    )


class _Cut(Exception):
    """No more nodes are judged."""


class _Search:
    def __init__(
        self,
        looked: Looked,
        request: Request,
        pods_of: Callable[[Sequence[NodeKey]], Iterable[Pod]],
        whole_node: bool,
        most: int,
    ) -> None:
        self.looked, self.wanted, self.pods_of, self.whole_node = looked, Wanted(request), pods_of, whole_node
        self.pods: Mapping[NodeKey, list[Pod]] = {}
        self.left, self.most, self.exact = most, most, True
        #: Those that are known to have room, and those that were not judged yet.
        self._options: dict[Any, tuple[list[NodeKey], Iterator[NodeKey]]] = {}
        self._wanted: dict[Any, Wanted] = {}
        self._pools: dict[Any, list[NodeKey]] = {}

    def run(self) -> Planned:
        candidates: list[NodeKey] = []
        for place in self.looked.places:
            found = self.looked.judged(self.wanted, place)
            if isinstance(found, Fits) and not (self.whole_node and any(self.looked.read.held.get(place, {}).values())):
                return Planned(place, None, True, 0, 0)
            if isinstance(found, Fits) or found[0] in _BY_PODS:
                candidates.append(place)
        best = None
        try:
            for some in self._in_turn(candidates):
                self.pods = by_place(self.pods_of(some))
                if (best := self._best(some)) is not None:
                    break
        except _Cut:
            best, self.exact = None, False
        return Planned(None, best, self.exact, len(candidates), self.most - self.left)

    def _in_turn(self, candidates: list[NodeKey]) -> Iterator[list[NodeKey]]:
        """All at once; of whole nodes those with the fewest pods first, since all pods of a node move and pods cost most."""
        if not self.whole_node:
            yield candidates
            return
        some: list[NodeKey] = []
        number = {place: self.looked.read.figures[place].pods for place in candidates}
        for _pods, places in groupby(sorted(candidates, key=number.__getitem__), number.__getitem__):
            some += places
            if len(some) >= AT_ONCE:
                yield some
                some = []
        if some:
            yield some

    def _best(self, candidates: list[NodeKey]) -> Plan | None:
        number = count()
        heap: list[tuple[Any, ...]] = []
        for place in candidates:
            if (bound := self._bound(place)) is not None:
                heap.append((bound, *self._named(place), next(number), place, None, None))
        heapq.heapify(heap)
        while heap:
            _cost, _cluster, _node, _number, place, chosen, more = heapq.heappop(heap)
            if chosen is not None and (moves := self._placed(chosen, place)) is not None:
                return Plan(place, moves, cost_of(chosen))
            more = self._sets(place) if more is None else more
            if (after := next(more, None)) is not None:
                heapq.heappush(heap, (cost_of(after), *self._named(place), next(number), place, after, more))
        return None

    def _named(self, place: NodeKey) -> tuple[str, str]:
        return self.looked.names[place[0]], place[1]

    def _moving(self, place: NodeKey) -> list[Pod]:
        return [one for one in self.pods.get(place, ()) if one.asks is not None]

    def _bound(self, place: NodeKey) -> Cost | None:
        """No set of the node's pods costs less; None where no set will do."""
        moving = self._moving(place)
        if self.whole_node:
            return cost_of(moving) if moving and len(moving) == len(self.pods[place]) else None
        size = self._fewest(place, moving)
        if not 0 < size <= len(moving):
            return None
        priorities = sorted(one.priority for one in moving)
        bare = max(0, size - sum(not one.bare for one in moving))
        return Cost(
            size,
            sum(sorted(one.memory for one in moving)[:size]),
            priorities[size - 1],
            bare,
            fewest_owners(moving, size),
        )

    def _fewest(self, place: NodeKey, moving: list[Pod]) -> int:
        """Not more than the pods that have to leave: each clears at most the cards that it is on. 0: no number will do."""
        request = self.wanted.request
        fine = sum(
            one.piece.unheld or one.piece.doubtful or (one.piece.mode != WHOLE and (one.piece.free or 0) >= (request.memory or 0))
            for one in self.looked.read.cards.get(place, ())
        )  # fmt: skip
        missing, size = request.cards - fine, 0
        for cards in sorted((max(len(one.holds), sum(h.quantity for h in one.holds)) for one in moving), reverse=True):
            if size and missing <= 0:
                return size
            missing, size = missing - cards, size + 1
        return size if missing <= 0 else 0

    def _sets(self, place: NodeKey) -> Iterator[list[Pod]]:
        """Of the node's pods, those sets after which it is as is wanted, the cheapest first."""
        every = self._moving(place)
        if not self._fits(place, every):
            return
        moving = [one for one in every if self._has_room_elsewhere(one)]
        if len(moving) < len(every) and (self.whole_node or not self._fits(place, moving)):
            return
        fewest = self._fewest(place, moving)
        if self.whole_node or fewest == len(moving):
            yield moving
            return
        # A pod without which the rest is not enough is in every set: only the others are combined.
        needed = [one for one in moving if not self._fits(place, [other for other in moving if other is not one])]
        optional = [one for one in moving if all(one is not other for other in needed)]
        for size in range(max(0, fewest - len(needed)), len(optional)):
            some = optional
            if comb(len(some), size) > MOST_SETS:
                self.exact = False
                some = sorted(optional, key=lambda one: (-one.memory, one.priority, one.uid))
                while comb(len(some), size) > MOST_SETS and len(some) > size:
                    some = some[:-1]
            sets = sorted(([*needed, *one] for one in combinations(some, size)), key=cost_of)
            yield from (one for one in sets if self._fits(place, one))
        yield moving

    def _has_room_elsewhere(self, pod: Pod) -> bool:
        """Whether any node would take it alone: else it is in no set, and most nodes of a full pool are done with here."""
        assert pod.asks is not None
        rooms = self._where(pod, pod.asks, self._request(pod, pod.asks))
        return any(one != pod.place for one in rooms)

    def _fits(self, place: NodeKey, leaving: Sequence[Pod]) -> bool:
        rows = without(self.looked.read, place, self.pods[place], {one.uid for one in leaving})
        return isinstance(self._judged(self.wanted, rows, place), Fits)

    def _judged(self, wanted: Wanted, rows: Rows, place: NodeKey) -> Fits | nodes.Why:
        if self.left <= 0:
            raise _Cut
        self.left -= 1
        return of_node(wanted, rows, place, self.looked.context)

    def _placed(self, pods: Sequence[Pod], target: NodeKey) -> tuple[Move, ...] | None:
        """Where they go, all of them at once: the largest first, with backtracking where the next has no room."""
        order = sorted(pods, key=lambda one: (-(one.asks.cards if one.asks else 0), -one.memory, one.uid))
        return self._from(order, target, {}, ())

    def _from(
        self, pods: Sequence[Pod], target: NodeKey, changed: dict[NodeKey, Rows], moves: tuple[Move, ...]
    ) -> tuple[Move, ...] | None:
        if not pods:
            return moves
        pod, asks = pods[0], pods[0].asks
        assert asks is not None
        wanted = self._request(pod, asks)
        for place in self._where(pod, asks, wanted):
            rows = changed.get(place, self.looked.read)
            found = self._judged(wanted, rows, place) if place != target else None
            after = arrived(rows, place, asks, pod, found) if found is not None and _same(found, asks) else None
            if after is not None:
                rest = self._from(pods[1:], target, {**changed, place: after}, (*moves, Move(pod, place)))
                if rest is not None:
                    return rest
        return None

    def _request(self, pod: Pod, asks: Asks) -> Wanted:
        """As the finder is asked, with the taints of its node tolerated."""
        told = self.looked.read.nodes.get(pod.place)
        taints = taints_of(told.node) if told is not None and told.node is not None else ()
        tolerated = tuple(sorted({(one.key, one.value or "", one.effect) for one in taints}))
        key = asks, tolerated
        if key not in self._wanted:
            self._wanted[key] = Wanted(
                Request(
                    cards=asks.cards,
                    memory=asks.memory,
                    cpu_millis=asks.cpu_millis or None,
                    host_memory=asks.host_memory or None,
                    stacks=_WAYS.get(asks.stack, ()),
                    tolerations=tuple(Toleration(*one) for one in tolerated),
                )
            )
        return self._wanted[key]

    def _where(self, pod: Pod, asks: Asks, wanted: Wanted) -> Iterator[NodeKey]:
        """Nodes of its pool that have room for it now, the tightest first; each is judged once, and only if it is come to."""
        pool = self._pool(pod.place)
        key = pool, wanted.request
        if key not in self._options:
            self._options[key] = [], iter(self._of_pool(pool) if _WAYS.get(asks.stack) else ())
        known, rest = self._options[key]
        for number in count():
            if number == len(known):
                more = next((one for one in rest if _same(self._judged(wanted, self.looked.read, one), asks)), None)
                if more is None:
                    return
                known.append(more)
            yield known[number]

    def _pool(self, place: NodeKey) -> Any:
        figures = self.looked.read.figures[place]
        return place[0], figures.stacks, figures.model

    def _of_pool(self, pool: Any) -> list[NodeKey]:
        if not self._pools:
            for place in self.looked.read.figures:
                if place[0] in self.looked.believed:
                    self._pools.setdefault(self._pool(place), []).append(place)
            for places in self._pools.values():
                places.sort(key=self._tight)
        return self._pools.get(pool, [])

    def _tight(self, place: NodeKey) -> tuple[int, int, str, str]:
        figures = self.looked.read.figures[place]
        return figures.cards_free or 0, figures.memory_free or 0, *self._named(place)


def _same(found: Fits | nodes.Why, asks: Asks) -> TypeGuard[Fits]:
    """Whether it fits, by the resource that the pod requests."""
    return isinstance(found, Fits) and asks.resource in found.answer.limits
