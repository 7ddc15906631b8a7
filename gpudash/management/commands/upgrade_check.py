"""`gpudash upgrade-check`: what this release would change of an installation. Run the new release's, before the upgrade.

Exit code: 0 nothing changes, 1 this release cannot use the database, 2 something changes (as `terraform plan -detailed-exitcode`).
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

import msgspec

from gpudash.upgrade import Check, Database, Setting, check
from inventory.management.shown import ShownCommand, add_output

UNCHANGED, IMPOSSIBLE, CHANGES = 0, 1, 2
#: Migrations that are named in the text; JSON has all.
_NAMED = 10


class Command(ShownCommand):
    help = (
        "Show what this release would change: migrations that would run, unknown or renamed settings, a database of a "
        "later release. Changes nothing. Exit code: 0 nothing changes, 1 this release cannot use the database, 2 changes."
    )
    requires_system_checks: Any = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_output(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        found = check()
        if options["output"] == "json":
            self.stdout.write(msgspec.json.encode(found).decode())
        else:
            self.stdout.write("\n".join(lines(found)))
        if code := exit_code(found):
            sys.exit(code)


def exit_code(found: Check) -> int:
    if not found.possible:
        return IMPOSSIBLE
    return CHANGES if found.changes else UNCHANGED


def lines(found: Check) -> Iterator[str]:
    """The text: one fact a line."""
    yield f"gpudash {found.version}"
    yield f"database: {_database(found)}"
    named = found.later_migrations or found.migrations
    yield from (f"  {name}" for name in named[:_NAMED])
    if len(named) > _NAMED:
        yield f"  … {len(named) - _NAMED} more"
    if not found.settings:
        yield "settings: all known"
    yield from (f"setting {one.name}: {_setting(one)}" for one in found.settings)


def _database(found: Check) -> str:
    match found.database:
        case Database.EMPTY:
            return f"empty; `gpudash migrate` creates the tables ({_counted(found.migrations)})"
        case Database.EARLIER:
            return f"of an earlier release; `gpudash migrate` runs {_counted(found.migrations)}"
        case Database.CURRENT:
            return "up to date; no migrations"
        case _:
            return found.reason


def _counted(migrations: list[str]) -> str:
    return f"{len(migrations)} migration" + ("s" if len(migrations) != 1 else "")


def _setting(one: Setting) -> str:
    if one.state == "renamed":
        return f"renamed; set {one.use} instead"
    return "unknown; it has no effect" + (f". Did you mean {one.use}?" if one.use else "")
