"""Expand, then contract: no migration since a release takes from its code what that reads or writes, unless a reason stands here.

Processes of the release before may run while the tables are changed and until they are replaced. They know the columns of their own
time only: a column may come when the database fills it by itself, none may go, and what they write must still be taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.db import models
from django.db.migrations import Migration, operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from tests.services import Missing, or_skip
from tests.upgrade.recorded import DATABASES, RELEASES, insert_again, restored, sql

OURS = ("access", "audit", "inventory", "telemetry", "validations")
RENAMES = (
    operations.RenameField,
    operations.RenameModel,
    operations.DeleteModel,
    operations.RemoveField,
    operations.AlterModelTable,
)
#: (release, migration, what it does) → why processes of that release bear it, or what the page of the upgrade says instead.
REASONS = {
    (
        "0.1.0",
        migration,
        does,
    ): "docs/team.md, Upgrade, From 0.1: its web processes are stopped too before the tables are changed"
    for migration, does in (
        ("inventory.0004_launcher_kubeconfig", "Add field launcher_kubeconfig to cluster, NOT NULL without db_default"),
        ("inventory.0011_dirty_nodes", "Rename model Recount to DirtyNode"),
        ("inventory.0012_node_totals", "Rename model NodeAccount to NodeTotals"),
        ("validations.0003_levels_and_cards", "Create constraint run_level_known on model run"),
        ("validations.0004_refusals_and_reading_again", "Add field refused to launcher, NOT NULL without db_default"),
        (
            "validations.0004_refusals_and_reading_again",
            "Add field reparse_requested_by to run, NOT NULL without db_default",
        ),
    )
} | {
    (
        release,
        "validations.0010_which_result_decides",
        "Create constraint one_result_decides on model lastresult",
    ): "it is about rows of which the new column says true; what that release writes has what the database fills in, false"
    for release in ("0.1.0", "before-0.2")
}


@cache
def loader() -> MigrationLoader:
    return MigrationLoader(None)


def applied(release: str) -> set[tuple[str, str]]:
    """(app, migration) of what the release had applied, read from its recorded rows."""
    row = re.compile(
        r'^INSERT INTO "?(?:public\.)?django_migrations"? \(.*?\) VALUES \(\d+, \'(\w+)\', \'(\w+)\'', re.M
    )
    found = {(app, name) for app, name in row.findall(sql(release, "sqlite"))}
    assert len(found) >= 15
    return found


def since(release: str) -> list[Migration]:
    """Our migrations that the release does not have, in the order in which they are applied."""
    before, ours = applied(release), []
    graph = loader().graph
    plan = [key for leaf in graph.leaf_nodes() for key in graph.forwards_plan(leaf)]
    for key in dict.fromkeys(plan):
        if key[0] in OURS and key not in before:
            ours.append(loader().disk_migrations[key])
    return ours


def refused(release: str) -> Iterator[tuple[str, str]]:
    """(migration, what it does) of all that code of the release may not bear."""
    state = loader().project_state([key for key in applied(release) if key in loader().graph.nodes])
    there = set(state.models)
    for migration in since(release):
        for operation in migration.operations:
            for one in _of_the_database(operation):
                if said := _breaks(one, migration.app_label, state, there):
                    yield f"{migration.app_label}.{migration.name}", said
            operation.state_forwards(migration.app_label, state)


def _of_the_database(operation: Operation) -> list[Operation]:
    if isinstance(operation, operations.SeparateDatabaseAndState):
        return list(operation.database_operations)
    return [operation]


def _breaks(operation: Operation, app: str, state: ProjectState, there: set[tuple[str, str]]) -> str:
    """What the operation takes from code that knows the tables as they were; "" for nothing."""
    name = str(getattr(operation, "model_name_lower", getattr(operation, "name_lower", "")))
    if isinstance(operation, operations.RenameModel):
        name = operation.old_name_lower
    if isinstance(operation, operations.RunSQL):
        return "runs SQL"
    if (app, name) not in there:
        return ""
    if isinstance(operation, RENAMES):
        return operation.describe()
    if isinstance(operation, operations.AddConstraint):
        return operation.describe()
    if isinstance(operation, operations.AddField) and _must_be_given(operation.field):
        return f"{operation.describe()}, NOT NULL without db_default"
    if isinstance(operation, operations.AlterField):
        return _narrower(state.models[app, name].fields[operation.name], operation.field, operation.describe())
    return ""


def _must_be_given(field: Any) -> bool:
    return not (field.null or field.many_to_many or field.has_db_default())


def _narrower(old: Any, new: Any, said: str) -> str:
    if old.null and _must_be_given(new):
        return f"{said}: NOT NULL without db_default"
    if old.get_internal_type() != new.get_internal_type():
        return f"{said}: another type"
    if (new.max_length or 0) < (old.max_length or 0):
        return f"{said}: shorter"
    if new.unique and not old.unique:
        return f"{said}: unique"
    return ""


@pytest.mark.parametrize("release", RELEASES)
def test_no_migration_since_takes_what_the_release_needs(release: str) -> None:
    assert since(release), "nothing has changed: record the next release"
    found = {(release, *one) for one in refused(release)}
    listed = {one for one in REASONS if one[0] == release}
    assert found - listed == set(), "expand first and contract a release later, or write the reason down (REASONS)"
    assert listed - found == set(), "reasons for what no migration does"


#: Migrations that change several tables in one transaction. They were applied before it was known what that does: each is a chance
#: of a deadlock, which ends either a transaction of a watcher, which goes on, or the migration, which is then run again.
SEVERAL_TABLES = {
    *(
        f"inventory.{name}"
        for name in ("0003_continuity", "0008_audit", "0013_claims", "0019_kinds", "0022_discrepancies")
    ),
    *(f"inventory.{name}" for name in ("0023_device_taint_rules", "0025_launch_worker", "0028_kept_off")),
    *(f"validations.{name}" for name in ("0003_levels_and_cards", "0004_refusals_and_reading_again", "0005_steady")),
    "validations.0009_wordings",
}


def test_a_migration_changes_one_table_of_those_that_are_in_use() -> None:
    """Processes of the release before hold one table and wait for another: who changes both waits for them in turn."""
    found = set()
    for release in RELEASES:
        there = set(loader().project_state([key for key in applied(release) if key in loader().graph.nodes]).models)
        for migration in since(release):
            changed = {
                (migration.app_label, str(getattr(one, "model_name_lower", getattr(one, "name_lower", ""))))
                for operation in migration.operations
                for one in _of_the_database(operation)
            }
            if migration.atomic and len(changed & there) > 1:
                found.add(f"{migration.app_label}.{migration.name}")
    assert found == SEVERAL_TABLES, "a migration for each table"


@pytest.mark.parametrize(
    ("operation", "said"),
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
def test_what_is_refused(operation: Operation, said: str) -> None:
    state = loader().project_state()
    assert _breaks(operation, "inventory", state, set(state.models)) == said


@pytest.mark.sweep
@pytest.mark.parametrize("database", DATABASES)
def test_rows_in_the_shape_of_the_release_are_taken_by_todays_tables(database: str, tmp_path: Path) -> None:
    """Every INSERT of the release, with the columns that it knew."""
    try:
        with restored("before-0.2", database, tmp_path / "data") as one:
            one.processes.call("migrate", "--noinput", "--verbosity", "0")
            taken = insert_again(one, "before-0.2", database)
    except Missing as missing:
        or_skip(missing)
        raise
    assert taken > 300
