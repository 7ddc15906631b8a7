"""Columns of CSV: each has a unit or says what it counts, a time is a date for a spreadsheet too, and the docs have them all."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from inventory.models import Cluster
from resources.csv_export import csv_response
from resources.declared import Resource
from resources.field_types import NUMBER, TIME
from tests.docs import csv_columns
from tests.docs.reading import ROOT
from tests.factories import make_finding
from tests.resources.test_declared import ALL


@pytest.mark.parametrize("resource", ALL, ids=lambda one: one.name)
def test_a_number_has_a_unit_in_its_name_or_says_what_it_counts(resource: Resource[Any]) -> None:
    assert [one.head for one in resource.csv_columns() if one.unit == NUMBER and not one.text] == []


@pytest.mark.parametrize("resource", ALL, ids=lambda one: one.name)
def test_each_time_has_a_column_behind_the_others_that_is_a_date_to_a_spreadsheet(resource: Resource[Any]) -> None:
    columns = resource.csv_columns()
    times = [one.head for one in columns if one.unit == TIME]
    assert resource.csv_heads == [one.head for one in columns] + [f"{head}_utc" for head in times]
    assert [head for head in resource.csv_heads if head.endswith(("_at", "_since")) and head not in times] == []


@pytest.mark.django_db
def test_both_forms_are_the_same_time_and_an_unknown_one_is_empty(cluster: Cluster) -> None:
    from resources.finding import FINDINGS

    make_finding(cluster, "units-mixed", "warning", "")
    lines = b"".join(csv_response(FINDINGS, FINDINGS.rows())).decode()  # type: ignore[arg-type]
    (row,) = csv.DictReader(io.StringIO(lines))
    for_programs = datetime.fromisoformat(row["first_seen_at"])
    assert for_programs.utcoffset() is not None
    for_spreadsheets = datetime.strptime(row["first_seen_at_utc"], "%Y-%m-%d %H:%M:%S").astimezone(for_programs.tzinfo)
    assert for_spreadsheets.replace(tzinfo=for_programs.tzinfo) == for_programs
    assert (row["ended_at"], row["ended_at_utc"]) == ("", "")


@pytest.mark.django_db
def test_no_language_of_a_page_changes_a_file(cluster: Cluster, viewer: Client) -> None:
    make_finding(cluster, "units-mixed", "warning", "")
    english = b"".join(viewer.get("/findings?format=csv"))  # type: ignore[arg-type]
    viewer.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    assert b"".join(viewer.get("/findings?format=csv")) == english  # type: ignore[arg-type]


def test_the_docs_have_every_column() -> None:
    assert (ROOT / "docs" / "reference" / "csv.md").read_text(encoding="utf-8") == csv_columns.page(), (
        "run python -m tests.docs.csv_columns"
    )
