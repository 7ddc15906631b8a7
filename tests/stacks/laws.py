"""What holds for the account of every node, and values that are no good."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from kube.objects import Node, Pod
from kube.quantity import INT64_MAX
from stacks.engine.base import Allocation, Context, NodeReport
from stacks.engine.node_report import node_report
from stacks.engine.trim import trim_pod
from stacks.engine.trim_node import trim_node
from tests.stacks.build import as_listed

few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
patient = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

texts = st.one_of(
    st.text(max_size=12), st.sampled_from(["0", "1", "-1", "true", "false", "1e400", "GiB", "16384MiB", "{}", "["])
)
quantities = st.one_of(st.integers(0, 40).map(str), st.integers(-3, 40), texts, st.just("1" * 40))
json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)


def decoded(node: Any, some: Any) -> tuple[Node, list[Pod]]:
    """Node and pods of what a cluster answers."""
    return msgspec.convert(node, Node), msgspec.convert(some, list[Pod])


def held(found: NodeReport) -> list[Allocation]:
    """All that is held of the node."""
    return [item for card in found.cards for item in card.allocations] + list(found.unplaced)


def promised(found: NodeReport) -> Counter[str]:
    """Resource → units that are held."""
    counter: Counter[str] = Counter()
    for item in held(found):
        counter[item.resource] += item.quantity
    return counter


def adds_up(found: NodeReport) -> None:
    """An account has sums that are those of its parts, and fits the tables."""
    keys = [card.card.key for card in found.cards]
    assert len(set(keys)) == len(keys)
    assert found.cards_total is None or found.cards_total == len(keys)
    assert all(item.card == card.card.key for card in found.cards for item in card.allocations)
    assert all(item.card is None and item.evidence == "count-only" for item in found.unplaced)
    holders = [
        (item.pod_uid, item.namespace, item.pod, item.container, item.resource, item.card) for item in held(found)
    ]
    assert len(set(holders)) == len(holders)
    sums = (found.memory_total_bytes, found.memory_allocated_bytes, found.memory_unplaced_bytes, found.cards_allocated)
    assert all(value is None or 0 <= value <= INT64_MAX for value in sums)
    if found.memory_allocated_bytes is not None:
        assert found.memory_allocated_bytes == sum(item.memory_bytes or 0 for item in held(found))


def is_the_same_of_what_is_kept(node: Node, pods: list[Pod], context: Context) -> None:
    """The mirror keeps what the account needs."""
    kept = [found for pod in pods if (found := trim_pod(as_listed(pod), context)) is not None]
    assert node_report(trim_node(node), kept, context) == node_report(node, pods, context)
