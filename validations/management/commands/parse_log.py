"""`gpudash parse_log SUITE FILE`: what a suite makes of a log. No cluster and no database."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from inventory.management.shown import ShownCommand, add_output
from validations.suites import find, registry
from validations.suites.engine.base import TEXT_ALONE, Outcome, Result, read_log, to_json
from wording.printable import one_line


class Command(ShownCommand):
    help = (
        "Parse a validation log without a cluster. The output contains the verdict; the exit code is 0 if there is one."
    )
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("suite", help=", ".join(registry()))
        parser.add_argument("file", help="log file; - for standard input")
        parser.add_argument(
            "--exit-code", type=int, help="exit code of the container; without it only the log is judged"
        )
        add_output(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        suite = find(options["suite"])
        if suite is None:
            raise CommandError(
                f"There is no suite {options['suite']!r}. Suites: {', '.join(registry())}.", returncode=2
            )
        code = options["exit_code"]
        outcome = TEXT_ALONE if code is None else Outcome(exit_code=code)
        result = suite.parse(read_log(_read(options["file"])), outcome)
        if options["output"] == "json":
            self.stdout.write(json.dumps(to_json(result), ensure_ascii=False, indent=2))
        else:
            self.stdout.write(as_text(result))


def _read(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name}: cannot read ({error.strerror})", returncode=2) from None


def as_text(result: Result) -> str:
    """Verdict, reasons, measurements and facts, a line each."""
    rows = [f"{result.suite}: {result.verdict} (parser {result.parser_version})"]
    for reason in result.reasons:
        where = f" (line {reason.line})" if reason.line is not None else ""
        rows.append(f"  {reason.code}: {one_line(reason.text)}{where}")
    rows += [f"  {name} = {one.value:g} {one.unit}" for name, one in result.measurements.items()]
    rows += [f"  {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in result.facts.items()]
    return "\n".join(rows)
