"""Cards of several sharing systems on one node: which of them are the same."""

from __future__ import annotations

from inventory.stacks.engine.base import COUNT_ONLY, DEVICE_STATUS, WHOLE, Allocation, Card, StackReport
from inventory.stacks.engine.findings import two_stacks
from inventory.stacks.engine.joining import join


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


def test_no_shares_are_no_cards() -> None:
    assert join([]).cards == {}
