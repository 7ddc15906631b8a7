"""Nothing is told of data that is stale, lost or missing, whatever else is there."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from inventory.catalogue import CATALOGUE
from inventory.compared import entries
from inventory.compared.rules import GIB, Card, Holder, Idle, Node, claims, unknown
from inventory.compared.steady import GRACE_S, step
from stacks.engine import base

NOW = 1_790_000_000.0
memory = st.one_of(st.none(), st.integers(0, 200 * GIB))
holders = st.lists(st.builds(Holder, st.sampled_from(["a/a", "b/b"]), memory, memory), max_size=3).map(tuple)
moments = st.one_of(st.none(), st.floats(NOW - 5000, NOW))


def cards(fresh: st.SearchStrategy[bool]) -> st.SearchStrategy[Card]:
    return st.builds(
        Card,
        key=st.sampled_from(["0", "1", "2"]),
        label=st.just("card 0"),
        mode=st.sampled_from([base.WHOLE, base.MEMORY, base.SHARES, base.PARTS]),
        physical_bytes=memory,
        allocated_bytes=memory,
        free=st.booleans(),
        holders=holders,
        hidden=st.booleans(),
        fresh=fresh,
        used=memory,
        total=memory,
        reserved=st.integers(0, 4 * GIB),
        named=st.lists(st.sampled_from(["a/a", "c/c"]), max_size=2).map(tuple),
        legitimate=st.booleans(),
        lost_at=moments,
    )


def nodes(fresh: st.SearchStrategy[bool], **fixed: Any) -> st.SearchStrategy[Node]:
    found = {
        "name": st.just("gpu-1"),
        "ready": st.booleans(),
        "windows": st.booleans(),
        "cards": st.lists(cards(fresh), max_size=3, unique_by=lambda card: card.key).map(tuple),
        "unplaced": st.integers(0, 2),
        "boards": st.one_of(st.none(), st.integers(0, 9)),
        "named_boards": st.one_of(st.none(), st.integers(0, 9)),
        "elsewhere": st.integers(0, 9),
    }
    return st.builds(Node, **(found | fixed))


@given(nodes(st.booleans(), idle=st.just(())))
def test_a_claim_of_a_card_is_of_figures_of_now(node: Node) -> None:
    by_key = {card.key: card for card in node.cards}
    for key, claim in claims(node).items():
        assert key.code in CATALOGUE
        if not key.card:
            continue
        card = by_key[key.card]
        assert card.fresh
        assert (card.used if key.code != entries.MEMORY else card.total) is not None or key.pod
        # The same without what it speaks of is not told.
        for lost in (msgspec.structs.replace(card, fresh=False), _blind(card)):
            others = tuple(lost if one is card else one for one in node.cards)
            assert key not in claims(msgspec.structs.replace(node, cards=others))
        assert claim.what
        assert claim.action


def _blind(card: Card) -> Card:
    unseen = tuple(Holder(one.pod, one.memory_bytes) for one in card.holders)
    return msgspec.structs.replace(card, used=None, total=None, holders=unseen)


@given(nodes(st.just(False), elsewhere=st.just(0), named_boards=st.none(), idle=st.just(())))
def test_where_nothing_is_measured_nothing_is_told(node: Node) -> None:
    """Also not that its exporter is silent or missing: that nothing is measured anywhere is said of the cluster."""
    assert claims(node) == {}


@given(st.lists(nodes(st.booleans()), min_size=1, max_size=12))
def test_what_is_told_was_so_in_rounds_that_follow_each_other_and_was_lately(seen: list[Node]) -> None:
    """A look each minute, whatever each of them finds."""
    states: dict[Any, Any] = {}
    held: dict[Any, list[int]] = {}
    for number, node in enumerate(seen):
        now = NOW + 60.0 * number
        found = claims(node, frozenset(states))
        states = step(states, found, lambda key, node=node: unknown(node, key), now, now)  # type: ignore[misc]
        for key in found:
            held.setdefault(key, []).append(number)
        for key, state in states.items():
            if not state.told:
                continue
            assert 60 * (number - held[key][-1]) <= GRACE_S + 60
            assert now - state.first >= (0 if key.code == entries.IDLE else GRACE_S)
            if key.code not in (entries.SILENT, entries.IDLE):
                assert len(held[key]) >= 5


@given(
    st.lists(
        st.builds(Idle, st.text(max_size=300), st.just(""), memory, memory, st.floats(NOW - 5000, NOW), st.booleans()),
        max_size=9,
    )
)
def test_a_text_is_bounded_whatever_the_names_are(idle: list[Idle]) -> None:
    for state in step({}, claims(Node(name="n", idle=tuple(idle))), lambda _: False, NOW, NOW).values():
        assert len(state.text) <= 4000
        assert len(state.exact) <= 4000
