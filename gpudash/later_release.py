"""Tables that a later release made: this one does not know what stands in them, and must not write there.

Each process asks when it starts, and /readyz each time. A database that does not answer says nothing of its tables. Only names are
compared: reading all migrations takes a process 5 MiB and a fifth of a second.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import NamedTuple

from django.apps import apps
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

#: Migrations that are named.
_NAMED = 3


class Differing(NamedTuple):
    """Names of migrations, as "inventory.0002_more". missing: the database lacks them; strange: this release does."""

    missing: list[str]
    strange: list[str]


def differing_migrations() -> Differing:
    """Of the apps that there are. Raises DatabaseError."""
    labels = {app.label for app in apps.get_app_configs()}
    applied = {f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations() if app in labels}
    return Differing(sorted(_known() - applied), sorted(applied - _known()))


@cache
def _known() -> frozenset[str]:
    """Files do not change while a process runs. As Django reads them: no packages, no names for drafts."""
    found = ((app.label, find_spec(f"{app.name}.migrations")) for app in apps.get_app_configs())
    return frozenset(
        f"{label}.{one.name}"
        for label, spec in found
        for one in iter_modules(spec.submodule_search_locations if spec else ())
        if not one.ispkg and one.name[0] not in "_~"
    )


def later(strange: Sequence[str]) -> str:
    """What is wrong when the database has migrations that this release does not have; "" when it has none."""
    if not strange:
        return ""
    named = ", ".join(strange[:_NAMED]) + (" …" if len(strange) > _NAMED else "")
    return f"the database belongs to a later release ({len(strange)} unknown migrations: {named}); run that release"


def refuse_later() -> None:
    """End this process where the tables are of a later release."""
    try:
        text = later(differing_migrations().strange)
    except DatabaseError:
        text = ""
    finally:
        connection.close()
    if text:
        sys.exit(f"gpudash does not start: {text}")
