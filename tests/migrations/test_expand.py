"""No migration after 1.0 contracts, and rows of the released code fit today's tables. Until 1.0 there is one migration per app."""

from __future__ import annotations

from functools import cache

import pytest
from django.db import IntegrityError, connection, models
from django.db.migrations import Migration, operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.test import Client

from inventory.models import Cluster, NodeTotals
from tests.migrations.expand import OURS, breaks, refused, write_again

#: Migrations of the release before this one. With 1.1 those of 1.0 are named here, and so on.
RELEASED = {(app, "0001_initial") for app in OURS}
#: (migration, what it does) → why released processes bear it, or which step of docs/team.md, Upgrade, keeps them from it.
REASONS: dict[tuple[str, str], str] = {}


@cache
def loader() -> MigrationLoader:
    return MigrationLoader(None)


def released() -> ProjectState:
    return loader().project_state(sorted(RELEASED))


def later() -> list[Migration]:
    graph = loader().graph
    plan = [key for leaf in graph.leaf_nodes() for key in graph.forwards_plan(leaf) if key[0] in OURS]
    return [loader().disk_migrations[key] for key in dict.fromkeys(plan) if key not in RELEASED]


def test_the_released_migrations_are_there() -> None:
    assert set(loader().disk_migrations) >= RELEASED


def test_tables_are_made_with_their_indexes() -> None:
    """Django renders all models again for each index that is added by itself: half of the time of a first start."""
    apart = (operations.AddIndex, operations.AddConstraint)
    for key in RELEASED:
        assert not [one for one in loader().disk_migrations[key].operations if isinstance(one, apart)], key


def test_no_migration_contracts() -> None:
    found = set(refused(released(), later()))
    assert found - REASONS.keys() == set(), "expand first and contract a release later, or write the reason down (REASONS)"
    assert REASONS.keys() - found == set(), "reasons for what no migration does"


class Example(Migration):
    """A migration as it must not be."""

    operations = (
        operations.RemoveField("card", "model"),
        operations.AddField("nodetotals", "x", models.TextField(db_default="")),
    )


def test_a_migration_that_contracts_is_refused() -> None:
    assert list(refused(released(), [Example("0002_example", "inventory")])) == [
        ("inventory.0002_example", "Remove field model from card"),
        ("inventory.0002_example", "changes several tables in one transaction"),
    ]


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (operations.RemoveField("card", "model"), "Remove field model from card"),
        (operations.RenameField("card", "model", "kind"), "Rename field model on card to kind"),
        (operations.DeleteModel("Card"), "Delete model Card"),
        (operations.RenameModel("Card", "Chip"), "Rename model Card to Chip"),
        (
            operations.AddField("card", "x", models.IntegerField(default=1)),
            "Add field x to card, NOT NULL without db_default",
        ),
        (operations.AddField("card", "x", models.IntegerField(db_default=1)), ""),
        (operations.AddField("card", "x", models.IntegerField(null=True)), ""),
        (operations.AlterField("card", "model", models.CharField(max_length=3)), "Alter field model on card: shorter"),
        (operations.AlterField("card", "model", models.IntegerField()), "Alter field model on card: another type"),
        (
            operations.AlterField("card", "index", models.IntegerField()),
            "Alter field index on card: NOT NULL without db_default",
        ),
        (operations.RunSQL("SELECT 1"), "runs SQL"),
        (operations.CreateModel("New", [("id", models.BigAutoField(primary_key=True))]), ""),
    ],
)
def test_what_is_refused(operation: Operation, why: str) -> None:
    state = released()
    assert breaks(operation, "inventory", state, set(state.models)) == why


@pytest.mark.django_db
def test_rows_of_the_released_code_fit_todays_tables(fleet: Cluster, viewer: Client) -> None:
    before = NodeTotals.objects.count()
    assert write_again(released()) > 50
    assert NodeTotals.objects.count() == before
    assert viewer.get("/nodes").status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("default", "fits"), [({"db_default": 1}, True), ({"default": 1}, False)])
def test_a_column_that_released_code_does_not_fill_is_noticed(
    fleet: Cluster, default: dict[str, int], fits: bool
) -> None:
    """New tables beside old code: the database fills the column, or the row is refused."""
    added: models.Field[int, int] = models.IntegerField(**default)  # type: ignore[arg-type]
    added.set_attributes_from_name("example")
    added.model = NodeTotals
    with connection.schema_editor() as editor:
        editor.add_field(NodeTotals, added)
    try:
        if fits:
            assert write_again(released()) > 50
        else:
            with pytest.raises(IntegrityError):
                write_again(released())
    finally:
        with connection.schema_editor() as editor:
            editor.remove_field(NodeTotals, added)
