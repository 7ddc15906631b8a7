"""Tables that a later release made: this one does not know what stands in them, and must not write there.

Each process asks when it starts, and /readyz each time. A database that does not answer says nothing of its tables. Only names are
compared: reading all migrations takes a process 5 MiB and a fifth of a second.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pkgutil import iter_modules

from django.apps import apps
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

#: Migrations that are named.
_NAMED = 3


def missing_migrations() -> list[str]:
    """Migrations of this release that the database does not have, as "inventory.0002_more". Raises DatabaseError."""
    return sorted(_known() - _applied())


def strange_migrations() -> list[str]:
    """Migrations of the database that this release does not have. Raises DatabaseError."""
    return sorted(_applied() - _known())


def _known() -> set[str]:
    found = ((app.label, find_spec(f"{app.name}.migrations")) for app in apps.get_app_configs())
    return {
        f"{label}.{one.name}"
        for label, spec in found
        for one in iter_modules(spec.submodule_search_locations if spec else ())
    }


def _applied() -> set[str]:
    """Of the apps that there are."""
    labels = {app.label for app in apps.get_app_configs()}
    return {f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations() if app in labels}


def later() -> str:
    """What is wrong when the database has migrations that this release does not have; "" when it has none."""
    strange = strange_migrations()
    if not strange:
        return ""
    named = ", ".join(strange[:_NAMED]) + (" …" if len(strange) > _NAMED else "")
    return f"the database belongs to a later release ({len(strange)} unknown migrations: {named}); run that release"


def refuse_later() -> None:
    """End this process where the tables are of a later release."""
    try:
        text = later()
    except DatabaseError:
        text = ""
    finally:
        connection.close()
    if text:
        sys.exit(f"gpudash does not start: {text}")
