"""Filters and orders of every list, for pages and REST alike: named as the fields that they look at.

Knows nothing of REST, pages or validations.
"""

from __future__ import annotations

from typing import Any, ClassVar

import django_filters as df
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from inventory import querysets
from inventory.models import Allocation, Card, Cluster, Finding, NodeAccount, Pod
from inventory.models.account import CardState
from inventory.stacks.engine import base
from resources.filter_fields import (
    BytesFilter,
    ChoiceFilter,
    SearchFilter,
    WordsFilter,
    YesNoFilter,
)
from resources.filter_fields import ClusterNames as ClusterNames
from resources.filter_sets import StrictFilterSet
from resources.search import Search

SEVERITIES = (base.ERROR, base.WARNING, base.INFO)
HEALTHS = (base.HEALTHY, base.UNHEALTHY, base.HEALTH_UNKNOWN)
MODES = (base.WHOLE, base.MEMORY, base.SHARES, base.PARTS)


def _contains(*paths: str) -> Any:
    """A search over these columns: each word must be in one of them, whatever its case."""

    def search(rows: QuerySet[Any], _: str, words: list[str]) -> QuerySet[Any]:
        for word in words:
            condition = Q()
            for path in paths:
                condition |= Q(**{f"{path}__icontains": word})
            rows = rows.filter(condition)
        return rows

    return search


def _tri_state(rows: QuerySet[Any], field: str, value: str) -> QuerySet[Any]:
    """`field` is a time that is set when it is over: false keeps what is, true what was, any both."""
    return rows if value == "any" else rows.filter(**{f"{field}__isnull": value == "false"})


class ClusterFilter(StrictFilterSet):
    cluster = WordsFilter("name", label="name of the cluster")
    q = SearchFilter(method=_contains("name", "server"), label="free search: name, server")

    orders: ClassVar[dict[str, str]] = {"name": "name", "created_at": "created_at"}
    default_order = ("name",)

    class Meta(StrictFilterSet.Meta):
        model = Cluster
        fields: ClassVar[list[str]] = []


class NodeFilter(StrictFilterSet):
    """Lists accounts: nodes with a GPU."""

    cluster = ClusterNames(label="name of the cluster")
    node = WordsFilter("node_name", label="name of the node")
    stack = WordsFilter(method="on_stack", label="sharing system that the node has")
    pool = WordsFilter("pool", label="pool: nodes that are alike")
    model = WordsFilter("model", label="card model")
    ready = ChoiceFilter(("true", "false", "unknown"), method="on_ready", label="what the node says of itself")
    os = WordsFilter("os", method="on_node", label="operating system")
    zone = WordsFilter("zone", method="on_node", label="zone")
    instance_type = WordsFilter("instance_type", method="on_node", label="instance type")
    severity = ChoiceFilter(SEVERITIES, "worst_severity", label="worst finding of the node")
    min_free_bytes = BytesFilter("memory_free_bytes", lookup_expr="gte", label="memory free on the node, at least")
    min_gap_bytes = BytesFilter("largest_gap_bytes", lookup_expr="gte", label="memory free on one card, at least")
    q = SearchFilter(method="search", label="free search: node, pool, model, address")

    orders: ClassVar[dict[str, str]] = {
        "cluster": "cluster_id",
        "node": "node_name",
        "pool": "pool",
        "model": "model",
        "cards_total": "cards_total",
        "cards_allocated": "cards_allocated",
        "cards_free": "cards_free",
        "memory_total_bytes": "memory_total_bytes",
        "memory_allocated_bytes": "memory_allocated_bytes",
        "memory_free_bytes": "memory_free_bytes",
        "largest_gap_bytes": "largest_gap_bytes",
        "holders_count": "holders_count",
        "findings_count": "findings_count",
        "changed_at": "changed_at",
    }
    default_order = ("cluster", "node")

    class Meta(StrictFilterSet.Meta):
        model = NodeAccount
        fields: ClassVar[list[str]] = []

    def on_stack(self, rows: QuerySet[NodeAccount], _: str, stacks: list[str]) -> QuerySet[NodeAccount]:
        """SQLite cannot look into JSON lists, so the text is searched for the quoted word."""
        condition = Q()
        for stack in stacks:
            condition |= Q(stacks_text__contains=f'"{stack}"') if stack.replace("-", "").isalnum() else Q(pk=None)
        return rows.alias(stacks_text=Cast("stacks", TextField())).filter(condition)

    def on_ready(self, rows: QuerySet[NodeAccount], _: str, values: list[str]) -> QuerySet[NodeAccount]:
        condition = Q()
        for value in values:
            condition |= querysets.accounts_by_node(ready={"true": True, "false": False, "unknown": None}[value])
        return rows.filter(condition)

    def on_node(self, rows: QuerySet[NodeAccount], name: str, values: list[str]) -> QuerySet[NodeAccount]:
        return rows.filter(querysets.accounts_by_node(**{f"{name}__in": values}))

    def search(self, rows: QuerySet[NodeAccount], _: str, words: list[str]) -> QuerySet[NodeAccount]:
        for word in words:
            own = Q(node_name__icontains=word) | Q(pool__icontains=word) | Q(model__icontains=word)
            rows = rows.filter(own | querysets.accounts_by_node(address__icontains=word))
        return rows


class CardFilter(StrictFilterSet):
    cluster = ClusterNames(label="name of the cluster")
    node = WordsFilter("node_name", label="name of the node")
    card = WordsFilter("key", label="key of the card: its UUID, else its index")
    uuid = WordsFilter("uuid", label="UUID of the card")
    stack = WordsFilter("stack", label="sharing system")
    model = WordsFilter("model", label="card model")
    state = ChoiceFilter(CardState.values, "state", label="how full the card is")
    health = ChoiceFilter(HEALTHS, "health", label="health as the system says it")
    mode = ChoiceFilter(MODES, "mode", label="how the card is given out")
    severity = ChoiceFilter(SEVERITIES, "worst_severity", label="worst finding of the card")
    min_free_bytes = BytesFilter("memory_free_bytes", lookup_expr="gte", label="memory free on the card, at least")
    gone = YesNoFilter("gone_at", method=_tri_state, default="false", label="cards that their node had before")
    q = SearchFilter(method="search", label="free search: node, UUID, model, and holders' pod, namespace, owner")

    orders: ClassVar[dict[str, str]] = {
        "cluster": "cluster_id",
        "node": "node_name",
        "index": "index",
        "model": "model",
        "state": "state",
        "memory_total_bytes": "memory_total_bytes",
        "memory_allocated_bytes": "memory_allocated_bytes",
        "memory_free_bytes": "memory_free_bytes",
        "holders_count": "holders_count",
        "changed_at": "changed_at",
    }
    default_order = ("cluster", "node", "index")

    class Meta(StrictFilterSet.Meta):
        model = Card
        fields: ClassVar[list[str]] = []

    def search(self, rows: QuerySet[Card], _: str, words: list[str]) -> QuerySet[Card]:
        for word in words:
            held = Allocation.objects.filter(ended_at=None, card__isnull=False).filter(
                Q(pod__icontains=word) | Q(namespace__icontains=word) | Q(owner_name__icontains=word)
            )
            own = Q(node_name__icontains=word) | Q(uuid__icontains=word) | Q(model__icontains=word)
            rows = rows.filter(own | Q(pk__in=held.values("card_id")))
        return rows


class AllocationFilter(StrictFilterSet):
    cluster = ClusterNames(label="name of the cluster")
    node = WordsFilter("node_name", label="name of the node")
    # By way of the cards: history has an index by card, and none by this text.
    card = WordsFilter("card__key", label="key of the card: its UUID, else its index")
    card_id = df.NumberFilter("card_id", min_value=1, max_value=2**63 - 1, decimal_places=0, label="id of the card")
    placed = ChoiceFilter(("true", "false"), method="on_placed", label="whether the card is known")
    namespace = WordsFilter("namespace", label="namespace of the pod")
    pod = WordsFilter("pod", label="name of the pod")
    container = WordsFilter("container", label="name of the container")
    owner = WordsFilter("owner_name", label="name of what owns the pod")
    resource = WordsFilter("resource", label="resource as the cluster names it")
    stack = WordsFilter("stack", label="sharing system")
    model = WordsFilter("card__model", label="card model")
    mode = ChoiceFilter(MODES, "mode", label="how the card is given out")
    evidence = ChoiceFilter(base.EVIDENCE_LADDER, "evidence", label="how the card is known")
    terminating = ChoiceFilter(
        ("true", "false"), method="on_terminating", label="the pod is being deleted and still holds"
    )
    ended = YesNoFilter("ended_at", method=_tri_state, default="false", label="history")
    q = SearchFilter(method="search", label="free search: node, pod, namespace, owner, UUID")

    orders: ClassVar[dict[str, str]] = {
        "started_at": "started_at",
        "ended_at": "ended_at",
        "cluster": "cluster_id",
        "node": "node_name",
        "namespace": "namespace",
        "pod": "pod",
        "owner": "owner_name",
        "memory_bytes": "memory_bytes",
        "quantity": "quantity",
    }
    default_order = ("-started_at",)
    _search: Search | None = None

    class Meta(StrictFilterSet.Meta):
        model = Allocation
        fields: ClassVar[list[str]] = []

    def search(self, rows: QuerySet[Allocation], _: str, words: list[str]) -> QuerySet[Allocation]:
        """The last of the filters: `ordered` needs what the others have left."""
        if not words:
            return rows
        self._before, self._search = rows, Search(words)
        return self._search.indexed(rows)

    def ordered(self) -> Any:
        found = self.qs
        if self._search is not None:
            found = self._search.listed(self._before)
        return found.order_by(*self.order_by())

    def on_placed(self, rows: QuerySet[Allocation], _: str, values: list[str]) -> QuerySet[Allocation]:
        return rows if len(set(values)) > 1 else rows.filter(card__isnull=values[0] == "false")

    def on_terminating(self, rows: QuerySet[Allocation], _: str, values: list[str]) -> QuerySet[Allocation]:
        return rows.filter(terminating__in=[value == "true" for value in values])


class PodFilter(StrictFilterSet):
    cluster = ClusterNames(label="name of the cluster")
    node = WordsFilter("node_name", label="name of the node")
    namespace = WordsFilter("namespace", label="namespace")
    pod = WordsFilter("name", label="name of the pod")
    owner = WordsFilter("owner_name", label="name of what owns the pod")
    phase = ChoiceFilter(("Pending", "Running", "Succeeded", "Failed", "Unknown"), "phase", label="phase")
    component = WordsFilter("component", label="plugin or operator component")
    resource = WordsFilter(method="on_resource", label="resource that the pod asks for")
    waiting = ChoiceFilter(("true", "false"), method="on_waiting", label="not bound to a node and not ended")
    reason = WordsFilter("waiting_reason", label="why it waits")
    terminating = YesNoFilter("terminating_since", method="on_terminating", label="being deleted")
    q = SearchFilter(
        method=_contains("name", "namespace", "owner_name", "node_name"),
        label="free search: pod, namespace, owner, node",
    )

    orders: ClassVar[dict[str, str]] = {
        "cluster": "cluster_id",
        "namespace": "namespace",
        "pod": "name",
        "node": "node_name",
        "owner": "owner_name",
        "phase": "phase",
        "created_at": "created_at",
    }
    default_order = ("cluster", "namespace", "pod")

    class Meta(StrictFilterSet.Meta):
        model = Pod
        fields: ClassVar[list[str]] = []

    def on_resource(self, rows: QuerySet[Pod], _: str, names: list[str]) -> QuerySet[Pod]:
        return rows.filter(requests__has_any_keys=names)

    def on_waiting(self, rows: QuerySet[Pod], _: str, values: list[str]) -> QuerySet[Pod]:
        return rows.filter(waiting__in=[value == "true" for value in values])

    def on_terminating(self, rows: QuerySet[Pod], field: str, value: str) -> QuerySet[Pod]:
        return rows if value == "any" else rows.filter(**{f"{field}__isnull": value == "false"})


class FindingFilter(StrictFilterSet):
    cluster = ClusterNames(label="name of the cluster")
    code = WordsFilter("code", label="code of the finding")
    severity = ChoiceFilter(SEVERITIES, "severity", label="how bad")
    node = WordsFilter("node_name", label="name of the node")
    card = WordsFilter("card_key", label="key of the card: its UUID, else its index")
    pod = WordsFilter("pod", label="namespace/name of the pod")
    ended = YesNoFilter("ended_at", method=_tri_state, default="false", label="history")
    q = SearchFilter(method=_contains("node_name", "pod", "code", "text"), label="free search: node, pod, code, text")

    orders: ClassVar[dict[str, str]] = {
        "severity": "severity_rank",
        "first_seen_at": "first_seen_at",
        "ended_at": "ended_at",
        "cluster": "cluster_id",
        "node": "node_name",
        "code": "code",
    }
    default_order = ("severity", "-first_seen_at")

    class Meta(StrictFilterSet.Meta):
        model = Finding
        fields: ClassVar[list[str]] = []
