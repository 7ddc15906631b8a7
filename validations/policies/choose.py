"""Which of the due cards are tested now? Within the limits of the policy, and with what it keeps free. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

import msgspec

#: Why a due card is not tested now, besides the window: the codes of `held`.
CLUSTER_FULL, POOL_FULL, KEEP_FREE, PENDING_PODS, CARD_TIME, NODE_BUSY = (
    "cluster-limit",
    "pool-limit",
    "kept-free",
    "pending-pods",
    "card-time",
    "node-busy",
)
Place = tuple[int, str, str]
Pool = tuple[int, str]


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A card that may be tested. pool: (cluster id, name). since: when it became due, the oldest comes first."""

    place: Place
    pool: Pool
    since: datetime

    @property
    def node(self) -> tuple[int, str]:
        return self.place[:2]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Those of the policy. None: no limit. at_once: runs that are started in one go."""

    at_once: int
    per_cluster: int
    per_pool: int | None = None
    keep_cards: int = 0
    keep_nodes: int = 0
    card_s: float | None = None


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """What is there now. active: runs of the policy under way, by cluster and by pool. free_cards, free_nodes: of each pool, free
    for pods and without a run of anybody. whole: nodes of which all cards are so. pending: nodes on which a pending pod fits.
    spent: seconds that runs took of a card in the last 24 h.
    """

    active_in_cluster: Mapping[int, int]
    active_in_pool: Mapping[Pool, int]
    free_cards: Mapping[Pool, int]
    free_nodes: Mapping[Pool, int]
    whole: Collection[tuple[int, str]]
    pending: Collection[tuple[int, str]] = ()
    spent: Mapping[Place, float] = {}


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The cards to test, and how many others are held for which reason."""

    cards: list[Candidate]
    held: Counter[str]


def choose(candidates: Iterable[Candidate], limits: Limits, around: Around) -> Chosen:
    """The oldest first; of each node one at a time, since a run may change what the node has free."""
    cards, held = list[Candidate](), Counter[str]()
    clusters, pools = Counter(around.active_in_cluster), Counter(around.active_in_pool)
    taken_cards, taken_nodes, nodes = Counter[Pool](), Counter[Pool](), set[tuple[int, str]]()
    for one in sorted(candidates, key=lambda one: (one.since, one.place)):
        why = _why_not(one, limits, around, clusters, pools, taken_cards, taken_nodes, nodes)
        if why:
            held[why] += 1
            continue
        if len(cards) >= limits.at_once:
            break
        cards.append(one)
        nodes.add(one.node)
        clusters[one.place[0]] += 1
        pools[one.pool] += 1
        taken_cards[one.pool] += 1
        taken_nodes[one.pool] += one.node in around.whole
    return Chosen(cards=cards, held=held)


def _why_not(
    one: Candidate,
    limits: Limits,
    around: Around,
    clusters: Counter[int],
    pools: Counter[Pool],
    taken_cards: Counter[Pool],
    taken_nodes: Counter[Pool],
    nodes: set[tuple[int, str]],
) -> str:
    if limits.card_s is not None and around.spent.get(one.place, 0.0) >= limits.card_s:
        return CARD_TIME
    if one.node in around.pending:
        return PENDING_PODS
    if clusters[one.place[0]] >= limits.per_cluster:
        return CLUSTER_FULL
    if limits.per_pool is not None and pools[one.pool] >= limits.per_pool:
        return POOL_FULL
    if limits.keep_cards and around.free_cards.get(one.pool, 0) - taken_cards[one.pool] - 1 < limits.keep_cards:
        return KEEP_FREE
    nodes_left = around.free_nodes.get(one.pool, 0) - taken_nodes[one.pool] - 1
    if limits.keep_nodes and one.node in around.whole and nodes_left < limits.keep_nodes:
        return KEEP_FREE
    return NODE_BUSY if one.node in nodes else ""
