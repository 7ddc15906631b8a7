"""CSV of the lists, streamed: the same filtered rows, whatever their number. For pages (`?format=csv`) and REST alike.

Bytes are plain whole numbers; what is not known is an empty cell; a time is ISO 8601, and stands at the end once more as spreadsheets
read it (`Resource.csv_heads`). A cell that a spreadsheet would take for a formula gets an
apostrophe before it, since names come from whoever may create a pod. Knows nothing of filters.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from unicodedata import category, normalize

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from inventory.models import Cluster
from resources.declared import Names, Resource

BATCH = 1000
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
#: What spreadsheets show as nothing, and skip before a formula: blanks of all widths, and characters without a form.
_UNSEEN = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf"))


class _Line:
    """A file that gives back what is written to it: one line of CSV at a time."""

    def write(self, text: str) -> str:
        return text


def csv_response(
    resource: Resource[Any], rows: QuerySet[Any], columns: Sequence[str] | None = None
) -> StreamingHttpResponse:
    """rows: ordered and filtered; they are read as the answer is sent. columns: of the table; None: all that CSV has."""
    lines = _lines(resource, rows, cluster_names(), columns)
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="gpudash-{resource.name}.csv"'
    return response


def cluster_names() -> dict[int, str]:
    """Cluster id → name."""
    return dict(Cluster.objects.values_list("pk", "name"))


def _lines(resource: Resource[Any], rows: QuerySet[Any], names: Names, columns: Sequence[str] | None) -> Iterator[str]:
    write: Callable[[list[str]], Any] = csv.writer(_Line()).writerow
    heads, values_of = (resource.csv_heads, resource.csv_rows) if columns is None else resource.csv_of(columns)
    yield str(write(heads))
    # What all of CSV tells needs no rows beside; a column of a table may.
    asked = rows.select_related(None)
    plain = (asked.prefetch_related(None) if columns is None else asked).iterator(BATCH)
    while batch := list(islice(plain, BATCH)):
        for values in values_of(batch, names):
            yield str(write([_cell(value) for value in values]))


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
    """The text, so that no spreadsheet runs it: also one that begins with a blank of another kind, or a formula in full width."""
    if text[:1].isalnum() and text[:1].isascii():
        return text
    return f"'{text}" if text.startswith(_FORMULA) or _first_seen(text) in _FORMULA else text


def _first_seen(text: str) -> str:
    """The first character that is seen, in its plain form: "=" of a full-width "＝"."""
    seen = next((letter for letter in text if category(letter) not in _UNSEEN), "")
    return normalize("NFKC", seen)[:1]
