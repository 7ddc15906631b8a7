"""Results of other tools become rows: read, matched with the cards of a cluster, kept with their files. By REST and command alike.

The same report again is the row that is there.
"""

from __future__ import annotations

import hashlib
import zlib
from datetime import timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db import IntegrityError
from django.db.models import Case, Prefetch, QuerySet, Value, When
from django.db.models.functions import Now

from audit.actions import Action
from audit.acts import act
from audit.who import current as who_acts
from inventory.models import Cluster
from runtime.clock import database_now
from runtime.scope import current
from validations.ids import ById
from validations.imports import find, registry
from validations.imports.engine.document import LONGEST_NAME
from validations.imports.engine.document import name as name_of
from validations.imports.engine.statement import (
    WORST_FIRST,
    Imported,
    NotReadable,
    Source,
)
from validations.matched import statements_of
from validations.models import ImportedFile, ImportedResult, ImportedStatement
from validations.planning import Refused
from validations.targets import NoPlace, find_cluster
from wording.said import sentence

#: Measurements that are kept as rows to show; all of them are in the file.
MOST_FIGURES = 2000
#: A moment of a tool whose clock is wrong counts as now.
_AHEAD = timedelta(minutes=10)
_BATCH = 500


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A result of another tool. cluster: its name; "": the one that the report names, or the only one. node: of a report without one.

    rules, baseline: files of SuperBench beside it.
    """

    format: str
    content: bytes
    cluster: str = ""
    node: str = ""
    rules: bytes | None = None
    baseline: bytes | None = None

    @property
    def files(self) -> dict[str, bytes]:
        given = {"report": self.content, "rules": self.rules, "baseline": self.baseline}
        return {name: data for name, data in given.items() if data is not None}


class NotYours(Exception):
    """Whoever sends it does not see the whole cluster."""


def read(report: Report) -> Imported:
    """What it states. Nothing is written. Raises Refused."""
    chosen = find(report.format)
    if chosen is None:
        raise Refused({"format": [sentence("Must be one of: {known}.", known=", ".join(registry()))]})
    if len(report.node) > LONGEST_NAME:
        raise Refused({"node": [sentence("At most {most} characters.", most=LONGEST_NAME)]})
    for name in ("rules", "baseline"):
        if getattr(report, name) is not None and name not in chosen.files:
            raise Refused({name: [sentence("Does not belong to the format {format}.", format=chosen.name)]})
    try:
        return chosen.read(
            Source(
                content=report.content, node=name_of(report.node) or "", rules=report.rules, baseline=report.baseline
            )
        )
    except NotReadable as error:
        raise Refused({"content": [error.args[0]]}) from None


def receive(report: Report, user: Any = None) -> tuple[ImportedResult, bool]:
    """The row and whether it is new. Raises Refused, or NotYours."""
    found = read(report)
    cluster = _cluster(report.cluster or found.cluster, named=bool(report.cluster))
    if not current().sees_whole(cluster.pk):
        raise NotYours(
            sentence(
                "Your scope does not include all of cluster {name}. Name a cluster of your scope.", name=cluster.name
            )
        )
    key = _key(found, report)
    same = ImportedResult.objects.filter(cluster=cluster, format=found.format, key=key)
    if (earlier := same.first()) is not None:
        return earlier, False
    row = _row(report, found, cluster, key, user)
    statements = statements_of(row, found, find(report.format))
    row.unmatched_count = sum(1 for one in statements if not one.matched_by)
    try:
        with act(
            Action.RESULT_IMPORT,
            f"{cluster.name} {found.format}",
            id=row.pk,
            verdict=row.verdict,
            sha256=row.sha256,
        ):
            row.save(force_insert=True)
            ImportedFile.objects.bulk_create(_files(row, report))
            ImportedStatement.objects.bulk_create(statements, batch_size=_BATCH)
    except IntegrityError:
        # Only where the same report came at the same moment.
        if (earlier := same.first()) is None:
            raise
        return earlier, False
    return row, True


def _cluster(name: str, named: bool) -> Cluster:
    try:
        return find_cluster(name)
    except NoPlace as error:
        if named or not name:
            raise Refused({"cluster": [error.args[0]]}) from None
    # The tool may call the cluster otherwise than we do.
    try:
        return find_cluster("")
    except NoPlace as error:
        raise Refused({"cluster": [error.args[0]]}) from None


def _key(found: Imported, report: Report) -> str:
    """The digest of the source's own key, else of all files and the node that they are of."""
    digest = hashlib.sha256()
    if found.key:
        digest.update(b"key\0" + found.key.encode())
    else:
        digest.update(b"files\0" + report.node.encode(errors="replace"))
        for name, data in report.files.items():
            digest.update(b"\0" + name.encode() + hashlib.sha256(data).digest())
    return digest.hexdigest()


def _row(report: Report, found: Imported, cluster: Cluster, key: str, user: Any) -> ImportedResult:
    who, now = who_acts(), database_now()
    return ImportedResult(
        cluster=cluster,
        format=found.format,
        tool_version=found.tool_version or "",
        verdict=found.verdict,
        complete=found.complete,
        key=key,
        sha256=hashlib.sha256(report.content).hexdigest(),
        size=len(report.content),
        node_count=len({one.node for one in found.nodes}),
        card_count=len(found.cards),
        tested_at=found.at if found.at is None or found.at < now + _AHEAD else None,
        received_at=now,
        sent_by=user,
        sent_by_name=(user.get_username() if user else who.name)[:150],
        authenticated_by=" ".join(filter(None, (who.kind, who.token)))[:40],
        facts=found.facts,
        measurements=[msgspec.structs.asdict(one) for one in found.measurements[:MOST_FIGURES]],
        figures=len(found.measurements),
    )


def _files(row: ImportedResult, report: Report) -> list[ImportedFile]:
    return [
        ImportedFile(result=row, cluster=row.cluster, name=name, data=zlib.compress(data))
        for name, data in report.files.items()
    ]


def results() -> ById[ImportedResult]:
    """All of them, without what only a result's own page needs."""
    rows: Any = ImportedResult.objects.select_related("cluster").defer("measurements")
    found: ById[ImportedResult] = rows
    return found


def result_whole(result_id: str) -> ImportedResult | None:
    """One with its statements: two queries."""
    statements = Prefetch("statements", queryset=ImportedStatement.objects.order_by("of_card", "id"))
    rows: Any = ImportedResult.objects.select_related("cluster").prefetch_related(statements)
    found: ImportedResult | None = rows.of_id(result_id)
    return found


def original(row: ImportedResult, name: str = "report") -> bytes | None:
    """A file as it came; None where there is none of this name, or whoever asks does not see the whole cluster."""
    file = ImportedFile.objects.filter(result=row, name=name).first()
    data = bytes(file.data) if file is not None else b""
    return zlib.decompress(data) if data else None


def of_card(cluster_id: int, node_name: str, card_key: str, most: int = 5) -> list[ImportedStatement]:
    """The newest statements of a card, with their results."""
    rows = ImportedStatement.objects.filter(cluster_id=cluster_id, node_name=node_name, card_key=card_key, of_card=True)
    return list(rows.select_related("result").defer("result__measurements", "result__facts").order_by("-id")[:most])


def of_node(cluster_id: int, node_name: str, most: int = 5) -> list[ImportedStatement]:
    """The newest statements of a node itself, with their results."""
    rows = ImportedStatement.objects.filter(cluster_id=cluster_id, node_name=node_name, card_key="", of_card=False)
    return list(rows.select_related("result").defer("result__measurements", "result__facts").order_by("-id")[:most])


def old_results() -> QuerySet[ImportedResult]:
    """Those whose time is over."""
    return ImportedResult.objects.filter(received_at__lt=Now() - timedelta(days=settings.HISTORY_DAYS))


def statements(row: ImportedResult, most: int, of_card: bool) -> list[ImportedStatement]:
    """What it states of cards, or of nodes: the worst first, so many at most."""
    order = Case(*(When(verdict=one, then=Value(place)) for place, one in enumerate(WORST_FIRST)))
    rows = ImportedStatement.objects.filter(result=row, of_card=of_card).order_by(order, "id")[:most]
    found = list(rows)
    for one in found:
        one.result = row
    return found


def file_names(row: ImportedResult) -> list[str]:
    """Its files: the report first."""
    names = set(ImportedFile.objects.filter(result=row).values_list("name", flat=True))
    return [name for name in ("report", "rules", "baseline") if name in names]
