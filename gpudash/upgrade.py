"""What this release would change of an installation: migrations that would run, settings that it does not know. Changes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum

import msgspec
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from gpudash.config.env import asked
from gpudash.later_release import differing_migrations
from wording.close_names import close_names

#: Setting of an earlier release → its name now. From 1.0 on each rename stands here for one minor release.
RENAMED: Mapping[str, str] = {}
_PREFIX = "GPUDASH_"


class Database(StrEnum):
    """State of the database, as this release sees it."""

    EMPTY = "empty"
    CURRENT = "current"
    EARLIER = "earlier"
    LATER = "later"
    UNREACHABLE = "unreachable"


class Setting(msgspec.Struct, frozen=True):
    """One that is set, and that this release does not read. use: the name to set instead; "" where none is close."""

    name: str
    state: str  # unknown | renamed
    use: str


class Check(msgspec.Struct, frozen=True):
    """Lists are sorted as they would run, or by name. reason: why the database cannot be used; "" if it can."""

    version: str
    database: Database
    reason: str
    migrations: list[str]
    later_migrations: list[str]
    settings: list[Setting]

    @property
    def possible(self) -> bool:
        return self.database not in (Database.LATER, Database.UNREACHABLE)

    @property
    def changes(self) -> bool:
        return bool(self.migrations or self.settings)


def check(environment: Mapping[str, str] = os.environ) -> Check:
    """environment: with the settings of the installation (settings.py has read its file into it)."""
    unknown = unknown_settings(environment)
    try:
        executor, later = MigrationExecutor(connection), differing_migrations().strange
    except DatabaseError as error:
        reason = f"cannot reach the database ({type(error).__name__}); see GPUDASH_DATABASE_URL"
        return Check(settings.VERSION, Database.UNREACHABLE, reason, [], [], unknown)
    if later:
        reason = "the database belongs to a later release; run that release, or restore a backup of this one"
        return Check(settings.VERSION, Database.LATER, reason, [], later, unknown)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    missing = [f"{one.app_label}.{one.name}" for one, _ in plan]
    before = Database.EARLIER if executor.loader.applied_migrations else Database.EMPTY
    return Check(settings.VERSION, before if missing else Database.CURRENT, "", missing, [], unknown)


def unknown_settings(environment: Mapping[str, str]) -> list[Setting]:
    """Those that are set and not read. An empty one counts as not set."""
    given = (name for name, value in environment.items() if name.startswith(_PREFIX) and value.strip())
    return [_setting(name) for name in sorted(given) if name not in asked]


def _setting(name: str) -> Setting:
    if name in RENAMED:
        return Setting(name, "renamed", RENAMED[name])
    close = close_names(name, asked, most=1, least=0.7)
    return Setting(name, "unknown", close[0] if close else "")
