"""One declaration a resource: REST, its document, CSV, orders and the table are made of it."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from django.http import HttpRequest
from django.test import Client

from inventory.models import Cluster
from pages.frame.table import cells_of, columns_of
from resources.allocation import ALLOCATIONS
from resources.audit import AUDIT
from resources.campaign import CAMPAIGNS, MATRIX
from resources.card import CARDS
from resources.cluster import CLUSTERS
from resources.component import CHANGES, COMPONENTS
from resources.csv_export import csv_response
from resources.declared import Reader, Resource, Shape, fact, filled, orders_of
from resources.filter_sets import StrictFilterSet
from resources.finding import FINDINGS
from resources.idle import IDLE
from resources.imported import RESULTS
from resources.namespace import NAMESPACES
from resources.node import NODES
from resources.node_change import NODE_CHANGES
from resources.node_mark import NODE_MARKS
from resources.notification import CHANNELS, DELIVERIES, RULES
from resources.out_of_service import CASES
from resources.pod import PODS
from resources.policy import POLICIES, POLICY_CARDS, POLICY_COUNTS
from resources.price import PRICES
from resources.run import RUNS
from resources.silence import SILENCES
from resources.user import USERS
from resources.view import VIEWS

ALL: tuple[Resource[Any], ...] = (
    ALLOCATIONS,
    AUDIT,
    CAMPAIGNS,
    MATRIX,
    CARDS,
    CASES,
    CHANGES,
    CHANNELS,
    DELIVERIES,
    CLUSTERS,
    COMPONENTS,
    FINDINGS,
    IDLE,
    NAMESPACES,
    NODES,
    NODE_CHANGES,
    NODE_MARKS,
    PODS,
    POLICIES,
    POLICY_CARDS,
    POLICY_COUNTS,
    PRICES,
    RULES,
    RESULTS,
    RUNS,
    SILENCES,
    USERS,
    VIEWS,
)
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


class Part(Shape):
    """Inside another."""

    code: str
    line: int | None


class Thing(Shape):
    """What a test lists."""

    name: Annotated[str, fact("What it is called.", of="title", order=True, title="Name")]
    cluster: str
    owner: Annotated[str | None, fact(order=("by", "owner_name"))]
    memory_bytes: Annotated[int | None, fact(title="Memory", number=True)]
    ready: Annotated[bool | None, fact(title="Ready")]
    changed_at: Annotated[datetime, fact(title="Changed")]
    parts: list[Part]


class ThingFilter(StrictFilterSet):
    orders = orders_of(Thing)


def row(**more: Any) -> SimpleNamespace:
    known = {"title": "a", "cluster_id": 7, "owner": "", "memory_bytes": None, "ready": None, "changed_at": NOON}
    return SimpleNamespace(**(known | {"parts": [{"code": "x"}], "extra": "more"} | more))


THINGS = Resource(
    "things",
    Thing,
    ThingFilter,
    Cluster.objects.none,
    csv=("cluster", ("name", "thing"), "owner", "extra"),
    beside={"extra": "extra"},
    table=("name", "memory_bytes", "ready", "changed_at"),
)


def test_a_row_becomes_what_rest_answers_and_the_unknown_is_null() -> None:
    made = Reader(Thing)(row(), {7: "prod"})
    assert made == Thing("a", "prod", None, None, None, NOON, [Part("x", None)])
    assert Reader(Thing)(row(owner="olga", memory_bytes=0), {7: "prod"}).memory_bytes == 0


class Whole(Shape):
    """Has another inside, and fields that are made."""

    part: Part
    last: Annotated[Part | None, fact(of="part.next")]
    cluster: Annotated[str, fact(of="cluster", by=str)]
    codes: Annotated[int, fact(of="parts", by=len)]
    more: list[str]


def test_what_is_inside_is_filled_too_and_a_field_says_by_what_it_is_made() -> None:
    found = SimpleNamespace(
        part=SimpleNamespace(code="x", line=0, next=None), cluster="prod", parts=("a", "b"), more=("c",)
    )
    assert filled(Whole, found) == Whole(Part("x", 0), None, "prod", 2, ["c"])
    assert filled(Whole, found, more=[], codes=1) == Whole(Part("x", 0), None, "prod", 1, [])


def test_orders_are_those_of_the_fields() -> None:
    assert orders_of(Thing) == {"name": "title", "by": "owner_name"}


def test_csv_has_the_chosen_fields_under_their_heads() -> None:
    assert THINGS.csv_heads == ["cluster", "thing", "owner", "extra"]
    assert THINGS.csv_rows([row()], {7: "prod"}) == [["prod", "a", None, "more"]]


def test_a_table_shows_a_new_column_as_its_type_does() -> None:
    columns = columns_of(THINGS)
    assert [(column.title, column.order, column.kind) for column in columns] == [
        ("Name", "name", "text"),
        ("Memory", "", "bytes"),
        ("Ready", "", "yes_no"),
        ("Changed", "", "time"),
    ]
    (cells,) = cells_of(THINGS, "no/such/folder", columns, [row(memory_bytes=3 << 30)])
    shown = [cell.template.render({"cell": cell}, HttpRequest()) for cell in cells]
    assert "3" in shown[1]
    assert 'data-label="Memory"' in shown[1]
    assert "not-known" in shown[2]


def test_a_table_of_fields_that_are_none_is_refused_at_import() -> None:
    with pytest.raises(TypeError, match="things: the table has columns that are no fields: nonsense"):
        Resource("things", Thing, ThingFilter, Cluster.objects.none, table=("nonsense",))


@pytest.mark.parametrize("resource", ALL, ids=lambda one: one.name)
def test_every_column_of_a_table_has_a_head(resource: Resource[Any]) -> None:
    assert all(str(column.title) for column in columns_of(resource))


@pytest.mark.parametrize("resource", ALL, ids=lambda one: one.name)
def test_every_order_is_one_of_the_filter_set(resource: Resource[Any]) -> None:
    assert resource.filterset.orders == orders_of(resource.shape)


@pytest.mark.django_db
@pytest.mark.parametrize("resource", [CARDS, NODES, ALLOCATIONS, PODS, FINDINGS], ids=lambda one: one.name)
def test_a_page_and_rest_give_the_same_csv(resource: Resource[Any], fleet: Cluster, admin_client: Client) -> None:
    paths = {"pods": "/allocations/pending", "nodes": "/nodes"}
    page = admin_client.get(f"{paths.get(resource.name, '/' + resource.name)}?format=csv")
    rest = admin_client.get(f"/api/v1/{resource.name}?format=csv" + ("&pending=true" if resource is PODS else ""))
    assert b"".join(page) == b"".join(rest)
    straight = b"".join(csv_response(resource, resource.rows())).decode()
    assert next(csv.reader(io.StringIO(straight))) == resource.csv_heads
