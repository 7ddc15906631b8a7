"""Tables that a later release made: this one does not know what stands in them, and must not write there.

Each process asks when it starts, and /readyz each time. A database that does not answer says nothing of its tables.
"""

from __future__ import annotations

import sys
from typing import Any

from django.apps import apps
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

#: Migrations that are named.
_NAMED = 3


def strange_migrations(loader: MigrationLoader) -> list[str]:
    """Migrations of the database that this release does not have, as "inventory.0002_more"."""
    labels = {app.label for app in apps.get_app_configs()}
    applied: Any = loader.applied_migrations
    return sorted(
        f"{app}.{name}" for app, name in applied if app in labels and (app, name) not in loader.disk_migrations
    )


def later(loader: MigrationLoader) -> str:
    """What is wrong when the database has migrations that this release does not have; "" when it has none."""
    strange = strange_migrations(loader)
    if not strange:
        return ""
    named = ", ".join(strange[:_NAMED]) + (" …" if len(strange) > _NAMED else "")
    return f"the database belongs to a later release ({len(strange)} unknown migrations: {named}); run that release"


def refuse_later() -> None:
    """End this process where the tables are of a later release."""
    try:
        text = later(MigrationLoader(connection))
    except DatabaseError:
        text = ""
    finally:
        connection.close()
    if text:
        sys.exit(f"gpudash does not start: {text}")
