"""Many rows at once: what comes back is what was given, on each database."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from inventory.models import Cluster, Finding, HistoryDay
from runtime import bulk
from tests.factories import make_cluster, make_finding

AT = datetime(2026, 11, 25, 21, 48, 37, 123456, tzinfo=UTC)
DAY = ("cluster_id", "subject", "key", "day")


class Sentence(str):
    """As sentences of ours are: text of a type of its own."""

    __slots__ = ()


@pytest.fixture
def cluster(db: None) -> Cluster:
    return make_cluster("prod")


STRANGE = ('"quoted" {braces}, \\back\\slash', "%s %(name)s 100%", "line\nline\ttab", "显存 \u202e🂡", "null", "")


@pytest.mark.parametrize("text", STRANGE)
@pytest.mark.parametrize("form", [None, {"parts": [{"a": None, "b": [1, 2.5, "显"]}]}, {}])
def test_an_update_keeps_each_value(cluster: Cluster, text: str, form: dict[str, Any] | None) -> None:
    rows = [make_finding(cluster, "units-mixed", "warning", name) for name in ("a", "b")]
    changed = [(rows[0].pk, Sentence(text), form, AT), (rows[1].pk, "other", {"x": 1}, None)]
    assert bulk.update(Finding, ("id", "text", "wording", "ended_at"), changed) == 2
    found = Finding.objects.get(pk=rows[0].pk)
    assert (found.text, found.wording, found.ended_at) == (text, form, AT)
    # Of a column that is null, as Django writes it: not the JSON value null.
    assert Finding.objects.filter(pk=rows[0].pk, wording__isnull=True).exists() == (form is None)
    assert Finding.objects.get(pk=rows[1].pk).ended_at is None


@pytest.mark.parametrize("data", [b"", b'\x00\xff\\x41"', bytes(range(256)) * 40])
def test_an_upsert_keeps_bytes_and_days(cluster: Cluster, data: bytes) -> None:
    day = date(2026, 11, 25)
    for wanted in (b"before", data):
        rows = [(cluster.pk, "card", "k'%s", day, memoryview(wanted))]
        assert bulk.upsert(HistoryDay, (*DAY, "data"), rows, DAY) == 1
    [found] = HistoryDay.objects.all()
    assert (bytes(found.data), found.day, found.key) == (data, day, "k'%s")


def test_a_value_that_no_column_holds_is_refused(cluster: Cluster) -> None:
    row = make_finding(cluster, "units-mixed", "warning", "a")
    with pytest.raises(Exception):  # noqa: B017 - each database has an error of its own
        bulk.update(Finding, ("id", "text"), [(row.pk, object())])
    assert Finding.objects.get(pk=row.pk).text == row.text
