"""Which cards and nodes are suspect: those on which more workloads fail than chance explains. Pure.

The rule: workloads (an owner in a namespace; a bare pod is its own) are counted once per card, or node, on which they had a pod. A
workload that fails everywhere therefore makes failures more expected everywhere. If failures had nothing to do with the card, the
failed ones would be spread at random over all of its model in the cluster (Fisher's exact test, one-sided). A card is suspect if

- its failed workloads are of at least MIN_NAMESPACES namespaces, and
- so many on it would occur by chance, on any card of the model, with a probability of at most CHANCE (Bonferroni: times the cards).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import exp, lgamma
from typing import Any, NamedTuple

MIN_NAMESPACES = 2
CHANCE = 0.01


class Use(NamedTuple):
    """A workload that failed on a card or node. subject: which; group: of those that are compared. failed: its pods that did."""

    subject: Any
    group: Any
    owner: tuple[str, str, str]
    failed: frozenset[str]
    days: frozenset[str] = frozenset()

    @property
    def namespace(self) -> str:
        return self.owner[0]


class Suspicion(NamedTuple):
    """workloads, failed: on it, and of these those that failed; namespaces: of the failed. pods: failed there; of_pods: in the group.

    chance: the probability that any of the group has so many by chance. days: on which they failed.
    """

    subject: Any
    workloads: int
    failed: int
    namespaces: int
    pods: int
    of_pods: int
    chance: float
    days: int


def suspicions(workloads: Mapping[Any, Mapping[Any, int]], failed: Iterable[Use]) -> list[Suspicion]:
    """The least likely by chance first. workloads: group → subject → how many it had; failed: those that failed, once each."""
    groups: dict[Any, dict[Any, list[Use]]] = {}
    for one in failed:
        groups.setdefault(one.group, {}).setdefault(one.subject, []).append(one)
    found = [one for group, subjects in groups.items() for one in _of_group(workloads[group], subjects)]
    return sorted(found, key=lambda one: (one.chance, -one.failed, str(one.subject)))


def _of_group(workloads: Mapping[Any, int], subjects: Mapping[Any, list[Use]]) -> Iterable[Suspicion]:
    every, failed = sum(workloads.values()), sum(map(len, subjects.values()))
    pods = len(frozenset().union(*(use.failed for uses in subjects.values() for use in uses)))
    for subject, bad in subjects.items():
        namespaces = len({use.namespace for use in bad})
        if namespaces < MIN_NAMESPACES:
            continue
        had = workloads[subject]
        chance = min(1.0, len(workloads) * tail(every, failed, had, len(bad)))
        if chance <= CHANCE:
            here = frozenset().union(*(use.failed for use in bad))
            days = frozenset().union(*(use.days for use in bad))
            yield Suspicion(subject, had, len(bad), namespaces, len(here), pods, chance, len(days))


def tail(every: int, failed: int, drawn: int, least: int) -> float:
    """Of `every` of which `failed` are marked, `drawn` at random: the probability of at least `least` marked among them."""
    low, high = max(least, drawn + failed - every), min(drawn, failed)
    whole = _log_comb(every, drawn)
    return min(
        1.0, sum(exp(_log_comb(failed, k) + _log_comb(every - failed, drawn - k) - whole) for k in range(low, high + 1))
    )


def _log_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
