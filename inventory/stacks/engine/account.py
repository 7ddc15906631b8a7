"""The account of one node: all stacks run, their cards joined, holders placed, sums and findings.

This is what the mirror writes. Pure: the same node, pods and context give the same account. It must not know any stack by name.
"""

from __future__ import annotations

import msgspec

from inventory.stacks.engine import findings, node_findings, sums
from inventory.stacks.engine.base import Allocation, CardAccount, Context, Finding, NodeAccount, Share
from inventory.stacks.engine.joining import Pool, join, merged
from inventory.stacks.engine.node_findings import Seen
from inventory.stacks.engine.overrides import overrides
from inventory.stacks.engine.registry import concerned, marked
from kube.objects import Node, Pod


def account(node: Node, pods: list[Pod], context: Context) -> NodeAccount:
    """Who holds what of the node's cards. pods: those bound to the node, holding or not. Never raises.

    For a node without any GPU the account is empty: no stacks, no cards, cards_total 0.
    """
    seen = node_findings.look(node, pods, context)
    shares = _shares(node, pods, context, seen)
    if not shares and not seen.worth_a_look:
        return _EMPTY
    pool = merged(join(shares))
    unplaced = tuple(item for item in pool.allocations if item.card is None)
    cards = sums.card_accounts(pool, unplaced)
    return _account(node, pods, shares, seen, pool, cards, unplaced)


_EMPTY = NodeAccount()


def _shares(node: Node, pods: list[Pod], context: Context, seen: Seen) -> list[Share]:
    """What each stack says; one that has nothing to say is left out where another has."""
    if taken := frozenset(name for stack in marked(node) for name in stack.takes):
        context = msgspec.structs.replace(context, taken=taken)
    said = (stack.read(node, pods, context) for stack in concerned(node, seen.names, context))
    shares = [share for share in said if share is not None]
    if len(shares) < 2:
        return shares
    speaking = [
        share for share in shares if share.cards or share.allocations or share.findings or not share.cards_known
    ]
    return speaking or shares[:1]


def _account(
    node: Node,
    pods: list[Pod],
    shares: list[Share],
    seen: Seen,
    pool: Pool,
    cards: tuple[CardAccount, ...],
    unplaced: tuple[Allocation, ...],
) -> NodeAccount:
    primary = pool.primary
    total = None if seen.uncounted_cards or not (shares or seen.countable) else sums.cards_total(pool, shares)
    counted = not seen.unreadable_holders and not seen.uncounted_cards
    return NodeAccount(
        stacks=tuple(sorted(share.stack for share in shares)),
        unit=primary.unit if primary else None,
        unit_source=primary.unit_source if primary else "",
        cards=cards,
        unplaced=unplaced,
        findings=_findings(node, pods, shares, seen, pool, cards, unplaced),
        cards_total=total,
        cards_allocated=sums.cards_allocated(cards, unplaced) if counted and seen.countable else None,
        memory_total_bytes=sums.memory_total(pool) if not seen.uncounted_cards else None,
        memory_allocated_bytes=sums.memory_allocated(pool, total is not None) if counted else None,
        memory_unplaced_bytes=sums.total(item.memory_bytes for item in unplaced) if counted else None,
        recheck_at=min((share.recheck_at for share in shares if share.recheck_at is not None), default=None),
        total_units=primary.total_units if primary else None,
    )


def _findings(
    node: Node,
    pods: list[Pod],
    shares: list[Share],
    seen: Seen,
    pool: Pool,
    cards: tuple[CardAccount, ...],
    unplaced: tuple[Allocation, ...],
) -> tuple[Finding, ...]:
    found = [finding for share in shares for finding in share.findings]
    found += overrides(node).findings
    found += findings.over_committed(shares, pool, cards, unplaced)
    found += findings.promised_twice(cards, unplaced)
    found += findings.two_stacks(shares, pool)
    found += node_findings.findings(node, pods, seen)
    return tuple(dict.fromkeys(found))
