"""What a policy's row means: its rule, its windows, and which cards it covers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

import msgspec

from inventory.models import Cluster, Node
from kube import objects as kube
from kube.decoders import decoder
from validations.allowed_images import allowed_images
from validations.models import LevelChoice, Policy
from validations.options_key import covering_keys
from validations.policies.standing import Rule
from validations.policies.windows import Windows
from validations.suites import find
from validations.suites.engine.base import OptionError, Suite

#: Levels of a pass, least first, and for each level those that reach it.
_LEVELS = (LevelChoice.DETECTED.value, LevelChoice.RAN.value, LevelChoice.CHECKED.value)
_node = decoder(kube.Node)


class NoRule(Exception):
    """The policy can decide nothing any more: this version has no such suite, or not with these options."""


def suite_of(policy: Policy) -> Suite:
    """Raises NoRule."""
    suite = find(policy.suite)
    if suite is None:
        raise NoRule(policy.suite)
    return suite


def rule_of(policy: Policy) -> Rule:
    """Raises NoRule."""
    suite = suite_of(policy)
    try:
        image = str(suite.settle(policy.options)["image"])
    except OptionError as error:
        raise NoRule(str(error)) from None
    return Rule(
        max_age=timedelta(seconds=policy.max_age_s),
        image=allowed_images().pinned(image) if image else "",
        parser_version=suite.parser_version,
        void_on_driver=policy.void_on_driver,
        void_on_reboot=policy.void_on_reboot,
        void_on_machine=policy.void_on_machine,
        void_on_image=policy.void_on_image,
    )


def keys_of(policy: Policy) -> tuple[str, ...]:
    """The `options_key` of each run that tests what the policy wants, or more. Raises NoRule."""
    return covering_keys(suite_of(policy), policy.options) or ("",)


def levels_of(policy: Policy) -> tuple[str, ...]:
    """The levels on which a pass is enough."""
    return _LEVELS[_LEVELS.index(policy.level) :] if policy.level in _LEVELS else ()


def windows_of(policy: Policy) -> Windows:
    return Windows(cron=policy.window_cron, minutes=policy.window_minutes or 0, zone=policy.time_zone)


def clusters_of(policy: Policy) -> list[int]:
    """Ids of the clusters that it covers and that are in scope."""
    rows = Cluster.objects.filter(pk=policy.cluster_id) if policy.cluster_id else Cluster.objects.all()
    return list(rows.order_by("pk").values_list("pk", flat=True))


class Cover(NamedTuple):
    """Where a policy is. nodes: (cluster id, name) of those with its labels; None: all. More is said by its pool, model and stack."""

    clusters: list[int]
    nodes: set[tuple[int, str]] | None


def cover_of(policy: Policy) -> Cover:
    """With node labels all nodes of the clusters are read."""
    clusters = clusters_of(policy)
    return Cover(clusters, _with_labels(clusters, policy.node_labels) if policy.node_labels else None)


def _with_labels(clusters: Iterable[int], wanted: Mapping[str, Any]) -> set[tuple[int, str]]:
    """(cluster id, node) of the nodes that carry all of these labels with these values."""
    found = set()
    rows = Node.objects.filter(cluster_id__in=list(clusters), has_gpu=True).values_list("cluster_id", "name", "facts")
    for cluster, name, facts in rows.iterator(2000):
        try:
            labels = _node.decode(facts).metadata.labels or {}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if all(labels.get(label) == value for label, value in wanted.items()):
            found.add((cluster, name))
    return found
