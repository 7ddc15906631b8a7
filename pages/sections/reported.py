"""Results that other tools reported, as pages print them: never with the green of ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inventory.models import Card, NodeTotals
from pages.frame.labels import label_of
from pages.frame.links import card_url, node_url, with_query
from pages.frame.worded import between
from pages.rows.runs import card_short
from pages.words.runs import Shown
from validations import imported
from validations.imports import find
from validations.models import ImportedResult, ImportedStatement, ReportedVerdict

#: Verdict → class and sign. A pass is another tool's word: it has no colour.
_LOOKS = {
    ReportedVerdict.PASSED.value: ("none", "✓"),
    ReportedVerdict.WARNING.value: ("warning", "!"),
    ReportedVerdict.FAILED.value: ("error", "✕"),
}
VERDICTS = ReportedVerdict.choices
MOST_SUITES = 3
SUMMARY = gettext_lazy("reported %(verdict)s")


@dataclass(frozen=True)
class ResultLine:
    """A result in a list. name: what was tested, else the tool; tool: its format and version; title: the format in words."""

    row: ImportedResult
    url: str
    name: str
    tool: str
    title: str
    shown: Shown

    @property
    def partly(self) -> str:
        """After the verdict, where not all was tested."""
        told = self.row.complete or self.row.verdict == ReportedVerdict.INCOMPLETE
        return "" if told else between().get(", ", ", ") + label_of(ReportedVerdict, ReportedVerdict.INCOMPLETE)


@dataclass(frozen=True)
class StatementLine:
    """What a result states of a card or node. name: of the card; url: of its page, "" where the cluster has none."""

    row: ImportedStatement
    result: ResultLine
    shown: Shown
    name: str
    url: str
    node_url: str
    because: str
    at: datetime


def shown(verdict: str) -> Shown:
    """With the word that it is reported, which no verdict of ours has."""
    level, sign = _LOOKS.get(verdict, ("none", "–"))
    return Shown(level, sign, str(SUMMARY) % {"verdict": label_of(ReportedVerdict, verdict)})


def result_line(row: ImportedResult) -> ResultLine:
    chosen = find(row.format)
    title = _(chosen.title) if chosen is not None else row.format
    return ResultLine(
        row=row,
        url=reverse("result", args=[row.pk]),
        name=_suites(row) or title.partition(":")[0],
        tool=f"{row.format} {row.tool_version}".strip(),
        title=title,
        shown=shown(row.verdict),
    )


def _suites(row: ImportedResult) -> str:
    """Of JUnit XML the names of its suites, three at most. "" for other formats, and where `facts` was not read."""
    read = "facts" not in row.get_deferred_fields() and isinstance(row.facts, dict)
    named = row.facts.get("suites") if read else None
    if not isinstance(named, list):
        return ""
    found = list(dict.fromkeys(str(one)[:64] for one in named if one))
    more = [_("%(n)s more") % {"n": len(found) - MOST_SUITES}] if len(found) > MOST_SUITES else []
    return between().get(", ", ", ").join([*found[:MOST_SUITES], *more])


def statement_lines(rows: Iterable[ImportedStatement], cluster: str = "") -> list[StatementLine]:
    """rows: with their results. cluster: its name, where the pages of cards and nodes are linked: one query more."""
    found = list(rows)
    ids = _card_ids(found) if cluster else {}
    return [_statement(row, cluster, ids.get((row.cluster_id, row.node_name, row.card_key))) for row in found]


def _card_ids(rows: list[ImportedStatement]) -> dict[tuple[int, str, str], int]:
    matched = [row for row in rows if row.card_key]
    clusters, nodes, keys = (
        {getattr(row, name) for row in matched} for name in ("cluster_id", "node_name", "card_key")
    )
    cards = Card.objects.filter(cluster_id__in=clusters, node_name__in=nodes, key__in=keys, removed_at=None)
    return {(one.cluster_id, one.node_name, one.key): one.pk for one in cards.only("cluster_id", "node_name", "key")}


def _statement(row: ImportedStatement, cluster: str, card_id: int | None) -> StatementLine:
    there = cluster and row.matched_by
    return StatementLine(
        row=row,
        result=result_line(row.result),
        shown=shown(row.verdict),
        name=_name(row),
        url=card_url(card_id) if card_id else "",
        node_url=node_url(cluster, row.node_name) if there and row.node_name else "",
        because=row.said_because,
        at=row.tested_at,
    )


def _name(row: ImportedStatement) -> str:
    """Of its card: as the cluster calls it, else as the tool does."""
    if row.card_key:
        return card_short(row.card_key)
    if row.card_uuid:
        return card_short(row.card_uuid)
    if row.card_index is not None:
        return _("card %(index)s") % {"index": row.card_index}
    return row.card_serial[:64]


@dataclass(frozen=True)
class Reported:
    """The newest statements of a card or node; url: the list of all results with it."""

    lines: list[StatementLine]
    url: str


def of_card(card: Card) -> Reported:
    """One query."""
    lines = statement_lines(imported.of_card(card.cluster_id, card.node_name, card.key))
    return Reported(lines, with_query(reverse("results"), cluster=card.cluster.name, card=card.key))


def of_node(totals: NodeTotals) -> Reported:
    """Of the node itself, not of its cards. One query."""
    lines = statement_lines(imported.of_node(totals.cluster_id, totals.node_name))
    return Reported(lines, with_query(reverse("results"), cluster=totals.cluster.name, node=totals.node_name))
