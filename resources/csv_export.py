"""CSV of the lists, streamed: the same filtered rows, whatever their number. For pages (`?format=csv`) and REST alike.

Bytes are plain whole numbers; what is not known is an empty cell. A cell that a spreadsheet would take for a formula gets an
apostrophe before it, since names come from whoever may create a pod. Knows nothing of filters.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from inventory.querysets import with_nodes
from resources.csv_columns import COLUMNS

BATCH = 1000
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

#: Columns of the node beside the account.
_OF_NODE = frozenset({"ready", "instance_type", "zone", "os", "kubelet", "driver_version", "address"})
#: Headings: the words of REST.
_HEADS = {"node_name": "node", "card_key": "card"}


class _Line:
    """A file that gives back what is written to it: one line of CSV at a time."""

    def write(self, text: str) -> str:
        return text


def csv_response(kind: str, rows: QuerySet[Any]) -> StreamingHttpResponse:
    """kind: a key of COLUMNS. rows: ordered and filtered; they are read as the answer is sent."""
    lines = _lines(COLUMNS[kind], _cells(kind, rows))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="gpudash-{kind}.csv"'
    return response


def _lines(columns: tuple[str, ...], rows: Iterator[list[str]]) -> Iterator[str]:
    write: Callable[[list[str]], Any] = csv.writer(_Line()).writerow
    yield str(write([_HEADS.get(column, column) for column in columns]))
    for row in rows:
        yield str(write(row))


def _cells(kind: str, rows: QuerySet[Any]) -> Iterator[list[str]]:
    columns = COLUMNS[kind]
    if "cluster" in columns:
        rows = rows.select_related("cluster")
    plain = rows.prefetch_related(None).iterator(BATCH)
    if kind != "nodes":
        yield from ([_cell(getattr(row, column)) for column in columns] for row in plain)
        return
    while batch := list(islice(plain, BATCH)):
        for pair in with_nodes(batch):
            values = [getattr(pair.node if column in _OF_NODE else pair.account, column, None) for column in columns]
            yield [_cell(value) for value in values]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, list):
        return harmless(" ".join(str(part) for part in value))
    if isinstance(value, dict):
        return harmless(json.dumps(value, sort_keys=True))
    return harmless(str(value))


def harmless(text: str) -> str:
    """The text, so that no spreadsheet runs it."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
