"""Which node of a group that failed is it? Pairs of one suspected and one good node say so, no single run of the group does. Pure.

A node that was in a group that passed is good. One that failed beside two different good nodes is at fault: after one such failure it
may be what is between the two. Where no good node is known, halves of the group are tested: one that passes gives good nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

#: Good partners beside which a node must fail.
CONFIRMED = 2
#: Runs that are planned at once.
MOST = 8


class GroupResult(NamedTuple):
    """A run of a group that said something: its nodes, and whether they passed together."""

    nodes: frozenset[str]
    passed: bool


class Bisection(NamedTuple):
    """faulty, cleared, open: nodes of the group that failed, each in one of them. next: groups to test, in this order."""

    faulty: tuple[str, ...]
    cleared: tuple[str, ...]
    open: tuple[str, ...]
    next: tuple[tuple[str, ...], ...]


def bisect(group: Sequence[str], good: Iterable[str], tested: Iterable[GroupResult]) -> Bisection:
    """group: nodes of the run that failed. good: other nodes, known to be good, best first. tested: runs since it."""
    known = list(tested)
    passed = {node for one in known if one.passed for node in one.nodes}
    partners = list(dict.fromkeys(node for node in (*good, *sorted(passed)) if node not in group or node in passed))
    failed_with = {node: _failed_with(node, partners, known) for node in group}
    cleared = tuple(node for node in group if node in passed)
    faulty = tuple(node for node in group if node not in passed and len(failed_with[node]) >= CONFIRMED)
    still = tuple(node for node in group if node not in (*cleared, *faulty))
    return Bisection(faulty, cleared, still, tuple(_next(still, partners, failed_with, known))[:MOST])


def _failed_with(node: str, partners: Iterable[str], known: Iterable[GroupResult]) -> set[str]:
    """Good nodes beside which it failed, alone with each."""
    failed = {one.nodes for one in known if not one.passed}
    return {other for other in partners if frozenset((node, other)) in failed}


def _next(
    still: Sequence[str], partners: Sequence[str], failed_with: dict[str, set[str]], known: Iterable[GroupResult]
) -> Iterable[tuple[str, ...]]:
    if not partners:
        seen = {one.nodes for one in known}
        half = (len(still) + 1) // 2
        for part in (still[:half], still[half:]):
            if len(part) > 1 and frozenset(part) not in seen:
                yield tuple(part)
        return
    for at, node in enumerate(still):
        # Another partner for each: a partner that is faulty after all fails one pair only.
        turn = [*partners[at % len(partners) :], *partners[: at % len(partners)]]
        other = next((one for one in turn if one not in failed_with[node]), None)
        if other is not None:
            yield (node, other)
