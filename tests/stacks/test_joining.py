"""Cards of several sharing systems on one node: which of them are the same."""

from __future__ import annotations

import msgspec

from stacks.engine.base import COUNT_ONLY, DEVICE_STATUS, HEALTHY, WHOLE, Allocation, Card, HealthReport, StackReport
from stacks.engine.findings import two_stacks
from stacks.engine.joining import _filled, join


def share(stack: str, vendor: str, cards: int, held: str | None = None) -> StackReport:
    """A share of whole cards of 16 GiB with one holder; held: the key of its card."""
    return StackReport(
        stack=stack,
        vendor=vendor,
        cards=tuple(Card(key=str(index), stack=stack, memory_total_bytes=16 << 30) for index in range(cards)),
        allocations=(
            Allocation(
                pod_uid=stack,
                namespace="default",
                pod=stack,
                container="main",
                resource=f"{stack}.example/gpu",
                quantity=1,
                evidence=COUNT_ONLY if held is None else DEVICE_STATUS,
                stack=stack,
                card=held,
                mode=WHOLE,
            ),
        ),
        memory_total_bytes=cards * 16 << 30,
    )


def test_cards_of_one_vendor_are_the_same() -> None:
    shares = [share("a", "", 2, "0"), share("b", "", 2, "1")]
    joined = join(shares)
    assert list(joined.cards) == ["0", "1"]
    assert [item.card for item in joined.allocations] == ["0", "1"]
    assert [finding.code for finding in two_stacks(shares, joined)] == ["two-stacks-one-card"]


def test_cards_of_different_vendors_are_not() -> None:
    shares = [share("a", "", 1, "0"), share("b", "acme", 2, "0"), share("c", "other", 1)]
    joined = join(shares)
    assert list(joined.cards) == ["0", "acme-0", "1", "other-0"]
    assert all(card.key == key for key, card in joined.cards.items())
    assert [item.card for item in joined.allocations] == ["0", "acme-0", "other-0"]
    assert two_stacks(shares, joined) == []


def test_a_system_with_cards_of_two_vendors_has_two_kinds_of_cards() -> None:
    shares = [share("a", "acme", 1, "0"), share("a", "other", 1, "0"), share("b", "acme", 1, "0")]
    joined = join(shares)
    assert list(joined.cards) == ["0", "other-0"]
    assert [item.card for item in joined.allocations] == ["0", "0", "other-0"]
    assert joined.memory_total == 32 << 30
    assert "a and b independently offer" in two_stacks(shares, joined)[0].text


def test_what_gives_out_parts_of_the_cards_of_another_has_those_of_the_only_vendor() -> None:
    parts = msgspec.structs.replace(share("a", "", 2, "1"), beside=True)
    joined = join([parts, share("b", "acme", 2)])
    assert list(joined.cards) == ["0", "1"]
    assert [(item.stack, item.card) for item in joined.allocations] == [("b", None), ("a", "1")]
    assert list(join([parts, share("b", "acme", 2), share("c", "other", 2)]).cards) == [
        *("0", "1"),
        *("acme-0", "acme-1"),
        *("other-0", "other-1"),
    ]


def test_a_card_is_the_same_by_its_uuid() -> None:
    first, second = share("a", "acme", 0), share("b", "acme", 2, "1")
    listed = tuple(Card(key=f"GPU-{name}", stack="a", uuid=f"GPU-{name}", index=0) for name in "xy")
    known = (second.cards[0], msgspec.structs.replace(second.cards[1], uuid="GPU-x"))
    joined = join([msgspec.structs.replace(first, cards=listed), msgspec.structs.replace(second, cards=known)])
    assert list(joined.cards) == ["GPU-x", "GPU-y"]
    assert [item.card for item in joined.allocations] == [None, "GPU-x"]


def test_no_shares_are_no_cards() -> None:
    assert join([]).cards == {}


#: Fields of a card that the first stack alone decides; every other one is taken from the second where the first does not know it.
OF_THE_FIRST = {"key", "stack", "mode", "memory_total_bytes", "shares", "units", "profile", "parent", "resource"}


def test_what_only_the_second_stack_knows_of_a_card_is_kept() -> None:
    """Also of a field that is new: it is filled in `_filled`, or stands above."""
    told = (HealthReport(source="condition", level=HEALTHY, code="x", says="x"),)
    known = Card(
        key="0",
        stack="b",
        index=3,
        uuid="GPU-x",
        model="T4",
        model_source="label",
        health=HEALTHY,
        memory_physical_bytes=16,
        memory_source="label",
        told=told,
    )
    unknown = Card(key="0", stack="a")
    joined = _filled(unknown, known)
    for name in set(Card.__struct_fields__) - OF_THE_FIRST:
        assert getattr(joined, name) == getattr(known, name) != getattr(unknown, name), name
