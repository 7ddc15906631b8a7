"""`gpudash floors [--model M] [--suite S] [-o text|json]`: the floors in force. `gpudash floors check FILE`: what is wrong there.

The second looks at a file before GPUDASH_FLOORS_FILE names it; its exit code is 1 when something is wrong.
"""

from __future__ import annotations

import sys
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from django.conf import settings
from django.core.management.base import CommandError

from inventory.management.shown import ShownCommand, add_output
from resources.declared import filled
from resources.floor import FloorList, FloorShape
from validations.floors import MOST_CHARACTERS, Floor, WrongFile, built_in, lines
from validations.floors.table import same_model
from validations.suites import find, registry
from wording.amounts import gib
from wording.columns import aligned
from wording.printable import one_line

_HEAD = ("SUITE", "MEASUREMENT", "MODEL", "FLOOR", "APPLIES TO", "FROM", "SOURCE")


class Command(ShownCommand):
    help = "Floors: least values of measurements by card model, with their sources."
    requires_system_checks: Any = ()
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model", default="", help="part of the name of the card model (default: all)")
        parser.add_argument("--suite", default="", help="name of a suite (default: all)")
        add_output(parser)
        verbs = parser.add_subparsers(dest="verb")
        check = verbs.add_parser("check", help="report the errors of a file, line by line; nothing is changed")
        check.add_argument("file", help="CSV file for GPUDASH_FLOORS_FILE; - for standard input")
        add_output(check, default=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verb"] == "check":
            self._check(options["file"], as_json=options["output"] == "json")
        else:
            self._list(options)

    def _list(self, options: dict[str, Any]) -> None:
        suite, model = options["suite"], same_model(options["model"])
        known = sorted({one.suite for one in settings.FLOORS} | set(registry()))
        if suite and suite not in known:
            raise CommandError(f"--suite: must be one of {', '.join(known)}", returncode=2)
        found = [one for one in settings.FLOORS if suite in ("", one.suite) and model in same_model(one.model)]
        if options["output"] == "json":
            told = FloorList(results=[filled(FloorShape, one) for one in found])
            self.stdout.write(msgspec.json.format(msgspec.json.encode(told)).decode())
            return
        self.stdout.write(_table(found) if found else "No floors. Bandwidth is measured and not judged.")

    def _check(self, name: str, *, as_json: bool) -> None:
        ours = {one.key for one in built_in()}
        floors, errors, unused = list[Floor](), list[_Told](), list[_Told]()
        for line, one in lines(_text(name)):
            if isinstance(one, WrongFile):
                errors.append(_Told(line=line, text=one_line(str(one))))
                continue
            floors.append(one)
            if find(one.suite) is None:
                text = f"line {line}, field suite: this version has no suite {one.suite}; the floor is never used"
                unused.append(_Told(line=line, text=one_line(text)))
        replaced = sum(one.key in ours for one in floors)
        if as_json:
            told = {"floors": len(floors), "replaced": replaced, "errors": errors, "unused": unused}
            self.stdout.write(msgspec.json.format(msgspec.json.encode(told)).decode())
        else:
            said = [one.text for one in sorted((*errors, *unused), key=lambda one: one.line)]
            count = f"floors: {len(floors)}, of which replace built-in ones: {replaced}; errors: {len(errors)}"
            self.stdout.write("\n".join((*said, count)))
        if errors:
            sys.exit(1)


class _Told(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of a line of a file."""

    line: int
    text: str


def _text(name: str) -> str:
    """The file, no more of it than is refused anyway."""
    try:
        if name == "-":
            return sys.stdin.read(MOST_CHARACTERS + 1)
        with Path(name).open(encoding="utf-8", newline="") as file:
            return file.read(MOST_CHARACTERS + 1)
    except UnicodeDecodeError:
        raise CommandError(f"{name!r}: must be UTF-8", returncode=2) from None
    except (OSError, ValueError) as error:
        raise CommandError(f"{name!r}: cannot read ({getattr(error, 'strerror', error)})", returncode=2) from None


def _table(found: Sequence[Floor]) -> str:
    rows = ("\t".join(map(one_line, cells)) for cells in (_HEAD, *map(_cells, found)))
    return aligned("\n".join(rows))


def _cells(one: Floor) -> Iterator[str]:
    yield one.suite
    yield one.measurement
    yield one.model
    yield f"{one.least:g} {one.unit} {one.statistic}"
    conditions = (
        f"{one.cards} cards" if one.cards else "",
        f">= {gib(one.message)}" if one.message else "",
        one.machine,
    )
    yield ", ".join(filter(None, conditions)) or "all"
    yield "GPUDASH_FLOORS_FILE" if one.own else "gpudash"
    yield f"{one.measured_on}: {one.source}, {one.date}"
