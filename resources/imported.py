"""Results that other tools reported: as lists show them, one with all that it states, and one that is only looked at."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext_lazy as _

from resources.declared import WORDING, Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains
from resources.moments import Columns
from validations import imported
from validations.imports import registry
from validations.imports.engine.statement import Imported, to_json
from validations.models import ImportedResult, ImportedStatement, ReportedVerdict
from wording.said import stored

#: The mark of all results of others.
REPORTED = "reported"


def _reported(_: Any) -> str:
    return REPORTED


class ResultShape(Shape):
    """A result that another tool reported. It validates no card; it counts for a policy only with `counts_imported`."""

    id: Annotated[str, fact(order=True, title=_("Result"))]
    format: Annotated[str, fact("Format of the file.", order=True, title=_("Format"))]
    tool_version: Annotated[str | None, fact("Version of the tool; null: unknown.", title=_("Version"))]
    cluster: Annotated[str, fact(title=_("Cluster"))]
    level: Annotated[str, fact("reported: another tool's word, not a run of gpudash.", of="id", by=_reported)]
    verdict: Annotated[
        str,
        fact(
            "passed, warning, failed, errored, skipped or incomplete.", order=True, title=_("Reported"), term="verdict"
        ),
    ]
    complete: Annotated[bool, fact("Whether all that was to be tested was tested.", title=_("Complete"))]
    node_count: Annotated[int, fact("Nodes that it reports on.", title=_("Nodes"), number=True)]
    card_count: Annotated[int, fact("Cards that it reports on.", title=_("Cards"), number=True)]
    unmatched_count: Annotated[
        int, fact("Statements that match no node or card of the cluster.", title=_("Unmatched"), number=True)
    ]
    tested_at: Annotated[datetime | None, fact("Time of the test; null: the report has none.", title=_("Tested"))]
    received_at: Annotated[datetime, fact(order=True, title=_("Received"))]
    sent_by: Annotated[str | None, fact(of="sent_by_name", title=_("Sent by"))]
    authenticated_by: Annotated[str, fact("session, token with its ID, or command.")]
    sha256: Annotated[str, fact("SHA-256 of the file.")]
    size: Annotated[int, fact("Bytes of the file.")]


class ResultFilter(StrictFilterSet):
    #: `format` itself chooses between JSON and CSV.
    result_format = ChoiceFilter(tuple(registry()), "format", label="format of the file")
    cluster = ClusterNames(label="cluster name")
    verdict = ChoiceFilter(ReportedVerdict.values, "verdict", label="reported verdict")
    node = WordsFilter("node_name", method="of_statement", label="node name")
    card = WordsFilter("card_key", method="of_statement", label="card key: UUID, else index")
    may_isolate = YesNoFilter("may_isolate", method="on_isolate", label="results with a card that may be isolated")
    unmatched = YesNoFilter("unmatched_count", method="on_unmatched", label="results with unmatched statements")
    sent_by = WordsFilter("sent_by_name", label="user who sent the result")
    q = SearchFilter(
        method=contains("id", "format", "tool_version", "sent_by_name"), label="free search: ID, format, user"
    )

    orders: ClassVar[dict[str, str]] = orders_of(ResultShape)
    default_order = ("-id",)
    period = Columns("received_at", "received_at")

    class Meta(StrictFilterSet.Meta):
        model = ImportedResult
        fields: ClassVar[list[str]] = []

    def of_statement(self, rows: QuerySet[Any], column: str, value: list[str]) -> QuerySet[Any]:
        return _with(rows, **{f"{column}__in": value}) if value else rows

    def on_isolate(self, rows: QuerySet[Any], column: str, value: str) -> QuerySet[Any]:
        if value == "any":
            return rows
        found = ImportedStatement.objects.filter(result=OuterRef("pk"), **{column: True})
        return rows.filter(Exists(found) if value == "true" else ~Exists(found))

    def on_unmatched(self, rows: QuerySet[Any], column: str, value: str) -> QuerySet[Any]:
        return rows if value == "any" else rows.filter(**{f"{column}__gt" if value == "true" else column: 0})


def _with(rows: QuerySet[Any], **conditions: Any) -> QuerySet[Any]:
    """Those with such a statement."""
    return rows.filter(Exists(ImportedStatement.objects.filter(result=OuterRef("pk"), **conditions)))


RESULTS = Resource(
    "results",
    ResultShape,
    ResultFilter,
    imported.results,
    csv=tuple(ResultShape.__struct_fields__),
    table=("format", "verdict", "cluster", "node_count", "card_count", "unmatched_count", "sent_by", "received_at"),
)


class ReportedNode(Shape):
    """What a result states of a node."""

    node: Annotated[str | None, fact("Name in the report; null: it names none.", of="node_name")]
    verdict: str
    because: Annotated[str | None, fact("Reason; null: none, or not in your scope.")]
    wording: Annotated[dict[str, Any] | None, fact(WORDING, of="said_because", by=stored)]
    test: str | None
    matched: Annotated[bool, fact("Whether the cluster has this node.", of="matched_by", by=bool)]


class ReportedCard(Shape):
    """What a result states of a card."""

    node: Annotated[str | None, fact(of="node_name")]
    index: Annotated[int | None, fact("Index in the list of the tool.", of="card_index")]
    uuid: Annotated[str | None, fact(of="card_uuid")]
    serial: Annotated[str | None, fact(of="card_serial")]
    verdict: str
    test: Annotated[str | None, fact("Test that decides the verdict.")]
    error_id: Annotated[int | None, fact("Error number of the tool.")]
    error_severity: Annotated[int | None, fact("Severity of the tool.")]
    error_category: Annotated[int | None, fact("Category of the tool.")]
    may_isolate: Annotated[bool, fact("Whether, by the severity of the tool, the card cannot work.")]
    because: Annotated[str | None, fact("Reason; null: none, or not in your scope.")]
    wording: Annotated[dict[str, Any] | None, fact(WORDING, of="said_because", by=stored)]
    card: Annotated[str | None, fact("Key of the card in the cluster; null: no match.", of="card_key")]
    matched_by: Annotated[str | None, fact("uuid, serial or index; null: no match.")]


class ReportedFigure(Shape):
    """A measurement of a result."""

    node: str | None
    index: Annotated[int | None, fact("Index of the card; null: of the node, or unknown.")]
    name: str
    value: float
    unit: Annotated[str | None, fact("null: the file names none.")]
    baseline: Annotated[float | None, fact("Baseline that came with the result.")]
    variance: Annotated[float | None, fact("(value - baseline) / baseline.")]


class ResultDetail(ResultShape):
    """A result with all that it states."""

    nodes: Annotated[list[ReportedNode], fact(of="of_nodes")]
    cards: Annotated[list[ReportedCard], fact(of="of_cards")]
    measurements: Annotated[list[ReportedFigure], fact(f"At most {imported.MOST_FIGURES}; all are in the file.")]
    measurement_count: Annotated[int, fact(of="figures")]
    facts: Annotated[dict[str, Any], fact("What else the result states; empty: nothing, or not in your scope.")]


class StatedNode(Shape):
    """What a file states of a node."""

    node: str | None
    verdict: str
    because: str


class StatedCard(Shape):
    """What a file states of a card."""

    node: str | None
    index: int | None
    uuid: str | None
    serial: str | None
    verdict: str
    test: str | None
    error_id: int | None
    error_severity: int | None
    may_isolate: bool


class ResultPreview(Shape):
    """What a file states, as `results import -o json` prints it. Nothing is stored."""

    format: str
    tool_version: str | None
    verdict: str
    complete: bool
    nodes: list[StatedNode]
    cards: list[StatedCard]
    measurements: list[ReportedFigure]


def preview_of(found: Imported) -> dict[str, Any]:
    """A `ResultPreview`."""
    return to_json(found)
