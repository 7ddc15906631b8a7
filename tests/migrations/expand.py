"""Expand, then contract: what a migration must not take from the code of the release before it.

Processes of the release before may run while the tables are changed and until they are replaced. They know the columns of their own
time only: a column may come when the database fills it by itself, none may go, and what they write must still be accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import connection, models
from django.db.migrations import Migration, operations
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

#: App labels of ours.
OURS = ("access", "audit", "inventory", "runtime", "validations", "quarantine")
_TAKES_AWAY = (
    operations.RenameField,
    operations.RenameModel,
    operations.DeleteModel,
    operations.RemoveField,
    operations.AlterModelTable,
)


def refused(released: ProjectState, later: Iterable[Migration]) -> Iterator[tuple[str, str]]:
    """(migration, what it does) of all that the released code does not bear. later: in the order in which they are applied."""
    state, there = released.clone(), set(released.models)
    for migration in later:
        name = f"{migration.app_label}.{migration.name}"
        changed = set()
        for operation in migration.operations:
            for one in _of_the_database(operation):
                if why := breaks(one, migration.app_label, state, there):
                    yield name, why
                changed.add((migration.app_label, _table(one)))
            operation.state_forwards(migration.app_label, state)
        if migration.atomic and len(changed & there) > 1:
            # Released processes lock one table and wait for another: a migration that changes both waits for them in turn.
            yield name, "changes several tables in one transaction"


def _of_the_database(operation: Operation) -> list[Operation]:
    if isinstance(operation, operations.SeparateDatabaseAndState):
        return list(operation.database_operations)
    return [operation]


def _table(operation: Operation) -> str:
    if isinstance(operation, operations.RenameModel):
        return operation.old_name_lower
    return str(getattr(operation, "model_name_lower", getattr(operation, "name_lower", "")))


def breaks(operation: Operation, app: str, state: ProjectState, there: set[tuple[str, str]]) -> str:
    """What the operation takes from code that knows the tables as they were; "" for nothing."""
    if isinstance(operation, operations.RunSQL):
        return "runs SQL"
    if (app, name := _table(operation)) not in there:
        return ""
    if isinstance(operation, (*_TAKES_AWAY, operations.AddConstraint)):
        return operation.describe()
    if isinstance(operation, operations.AddField) and _must_be_given(operation.field):
        return f"{operation.describe()}, NOT NULL without db_default"
    if isinstance(operation, operations.AlterField):
        return _narrower(state.models[app, name].fields[operation.name], operation.field, operation.describe())
    return ""


def _must_be_given(field: Any) -> bool:
    return not (field.null or field.many_to_many or field.has_db_default())


def _narrower(old: Any, new: Any, what: str) -> str:
    if old.null and _must_be_given(new):
        return f"{what}: NOT NULL without db_default"
    if old.get_internal_type() != new.get_internal_type():
        return f"{what}: another type"
    if (new.max_length or 0) < (old.max_length or 0):
        return f"{what}: shorter"
    if new.unique and not old.unique:
        return f"{what}: unique"
    return ""


def write_again(released: ProjectState) -> int:
    """Read all rows of ours, empty the tables, and write the rows as released code does: with the columns that it knows.

    Returns how many. Raises IntegrityError where a table wants more. No foreign key is checked meanwhile.
    """
    quote, written = connection.ops.quote_name, 0
    with connection.constraint_checks_disabled(), connection.cursor() as cursor:
        for model in _tables(released):
            columns = ", ".join(quote(field.column) for field in model._meta.local_concrete_fields)
            table = quote(model._meta.db_table)
            cursor.execute(f"SELECT {columns} FROM {table}")
            rows = cursor.fetchall()
            cursor.execute(f"DELETE FROM {table}")
            marks = ", ".join(["%s"] * len(model._meta.local_concrete_fields))
            cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)
            written += len(rows)
    return written


def _tables(released: ProjectState) -> list[type[models.Model]]:
    return [model for model in released.apps.get_models() if model._meta.app_label in OURS]
