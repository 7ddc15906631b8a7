"""GPU nodes that are marked: cordoned, tainted or said to be bad, by which tool and why."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from inventory.marks import OURS
from inventory.models import Node
from quarantine import reading
from quarantine.reading import MarkedNode
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains
from resources.out_of_service import of_pool

KINDS = ("cordon", "taint", "condition", "label")
#: The word for marks whose tool is not known.
NO_TOOL = "unknown"
#: In the column `marks`: a mark whose tool is not ours, and one whose tool is not known.
_OF_OTHERS, _OF_UNKNOWN = rf'"kind":"[a-z]+"(?!,"tool":"{OURS}")', r'"kind":"[a-z]+"(?!,"tool")'


def tools_of(marks: Any) -> list[str]:
    """Each once, those that keep pods away first."""
    return list(dict.fromkeys(one.tool or NO_TOOL for one in marks))


def _keys(marks: Any) -> list[str]:
    return list(dict.fromkeys(one.key or one.kind for one in marks))


def _ids(cases: Any) -> list[str]:
    return [one.pk for one in cases]


class MarkShape(Shape):
    """One mark of a node."""

    kind: Annotated[str, fact("cordon, taint, condition or label.")]
    tool: Annotated[str | None, fact("Tool that set it; null: unknown.")]
    key: Annotated[str | None, fact("Key of the taint, condition or label; null for a cordon.")]
    value: str | None
    effect: Annotated[str | None, fact("Effect of a taint.")]
    by: Annotated[str | None, fact("Author, where the mark names one.")]
    by_is_hint: Annotated[bool, fact("Whether the author is from managedFields alone.", of="hint")]
    reason: Annotated[str | None, fact("In the words of the tool.")]
    since: Annotated[str | None, fact("Time, RFC 3339; null: unknown.")]
    case: Annotated[str | None, fact("ID of the case that a mark of gpudash names.")]
    blocks: Annotated[bool, fact("Whether it keeps GPU pods away.")]


class NodeMarksShape(Shape):
    """A GPU node with its marks."""

    cluster: Annotated[str, fact(of="node.cluster", order="cluster_id", title=_("Cluster"))]
    node: Annotated[str, fact(of="node.name", order="name", title=_("Node"))]
    out: Annotated[bool, fact("Whether a mark keeps GPU pods away.", of="blocked", title=_("Out"))]
    tools: Annotated[list[str], fact("Tools that marked it, or unknown.", of="marks", by=tools_of, title=_("By"))]
    keys: Annotated[list[str], fact("Keys of the marks; cordon: the node is cordoned.", of="marks", by=_keys)]
    marks: Annotated[list[MarkShape], fact("Those that keep pods away first.", title=_("Mark"))]
    cases: Annotated[list[str], fact("IDs of open cases of the node.", by=_ids, title=_("Cases"))]
    cards: Annotated[
        int | None, fact("Cards that pods are not given; null: unknown, or none.", title=_("Cards"), number=True)
    ]
    memory_bytes: Annotated[
        int | None,
        fact("Memory that pods are not given, in bytes; null: unknown, or none.", title=_("GiB"), number=True),
    ]


class NodeMarksFilter(StrictFilterSet):
    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("name", label="node name")
    pool = WordsFilter("pool", method="on_pool", label="pool of the node")
    tool = WordsFilter("marks", method="on_tool", label="tool that marked it; unknown: no known tool")
    kind = ChoiceFilter(KINDS, "marks", method="on_kind", label="kind of mark")
    out = YesNoFilter("marks", method="on_out", label="nodes that are out of service")
    q = SearchFilter(method=contains("name", "marks"), label="free search: node, mark")

    orders: ClassVar[dict[str, str]] = orders_of(NodeMarksShape)
    default_order = ("cluster", "node")

    class Meta(StrictFilterSet.Meta):
        model = Node
        fields: ClassVar[list[str]] = []

    def on_pool(self, rows: Any, _column: str, pools: list[str]) -> Any:
        return rows.filter(of_pool(pools, "name"))

    def on_tool(self, rows: Any, _column: str, tools: list[str]) -> Any:
        condition = Q()
        for tool in tools:
            unknown = tool == NO_TOOL
            condition |= Q(marks__regex=_OF_UNKNOWN) if unknown else _says("tool", tool)
        return rows.filter(condition)

    def on_kind(self, rows: Any, _column: str, kinds: list[str]) -> Any:
        condition = Q()
        for kind in kinds:
            condition |= _says("kind", kind)
        return rows.filter(condition)

    def on_out(self, rows: Any, _column: str, value: str) -> Any:
        if value == "any":
            return rows
        return rows.filter(OUT) if value == "true" else rows.exclude(OUT)


def _says(name: str, word: str) -> Q:
    """The column is JSON without blanks between names and values."""
    return Q(marks__contains=f'"{name}":{msgspec.json.encode(word).decode()}')


#: Nodes from which a mark keeps GPU pods; those with a mark that is not ours.
OUT, BY_OTHERS = Q(marks__contains='"blocks":true'), Q(marks__regex=_OF_OTHERS)


def rows() -> Any:
    return Node.objects.filter(has_gpu=True).exclude(marks="")


def with_costs(found: list[Any]) -> list[MarkedNode]:
    """In the order of the nodes."""
    known = {one.node.pk: one for one in reading.marked_nodes(Node.objects.filter(pk__in=[row.pk for row in found]))}
    return [known[row.pk] for row in found if row.pk in known]


NODE_MARKS = Resource(
    "node-marks",
    NodeMarksShape,
    NodeMarksFilter,
    rows,
    csv=("cluster", "node", "out", "tools", "keys", "cases", "cards", "memory_bytes"),
    table=("node", "tools", "marks", "cards", "memory_bytes"),
    join=with_costs,
)
