"""`gpudash results import|list`: results of other tools."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import msgspec
from django.core.management.base import CommandError

from inventory.management.shown import ShownCommand, add_output
from validations import imported
from validations.imported import Report
from validations.imports import registry
from validations.imports.engine.document import MOST_BYTES
from validations.imports.engine.statement import Imported, to_json
from validations.models import ImportedResult
from validations.planning import Refused
from wording.printable import one_line

_FILES = {"rules": "rules of SuperBench (YAML)", "baseline": "baseline of SuperBench (JSON)"}
MOST_LISTED = 10_000


class Command(ShownCommand):
    help = "Results of other tools. They are kept as reported and validate no card."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        one = verbs.add_parser("import", help="import the result of another tool")
        one.add_argument("format", help=", ".join(registry()))
        one.add_argument("file", help="the file as the tool wrote it; - for standard input")
        one.add_argument(
            "--cluster", default="", help="name of the cluster (default: the one in the file, or the only one)"
        )
        one.add_argument("--node", default="", help="node of a file that names none")
        for name, text in _FILES.items():
            one.add_argument(f"--{name}", help=f"{text}, with superbench-results")
        one.add_argument("--dry-run", action="store_true", help="only print what the file states; needs no database")
        _output(one)
        listed = verbs.add_parser("list", help="list the results, newest first")
        listed.add_argument("--cluster", default="", help="name of a cluster (default: all)")
        listed.add_argument("--limit", type=int, default=100, metavar="N", help="at most N results (default: 100)")
        _output(listed)

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['verb']}")(options)

    def _import(self, options: dict[str, Any]) -> None:
        report = Report(
            format=options["format"],
            content=_read(options["file"]),
            cluster=options["cluster"],
            node=options["node"],
            **{name: _read(options[name]) for name in _FILES if options[name]},
        )
        try:
            found = imported.read(report)
            row, new = (None, False) if options["dry_run"] else imported.receive(report)
        except Refused as error:
            [(field, texts), *_] = error.problems.items()
            name = options["file"] if field == "content" else f"--{field}" if field != "format" else field
            raise CommandError(f"{name}: {' '.join(texts)}", returncode=2) from None
        if options["output"] == "json":
            self._json(to_json(found))
            return
        self.stdout.write(as_text(found))
        if row is not None:
            self.stdout.write(f"{row.pk}: {_kept(row)}" if new else f"{row.pk}: was imported before; nothing changed")

    def _list(self, options: dict[str, Any]) -> None:
        rows = imported.results().order_by("-id")
        if options["cluster"]:
            rows = rows.filter(cluster__name=options["cluster"].replace("\0", ""))
        if not 1 <= options["limit"] <= MOST_LISTED:
            raise CommandError(f"--limit: must be an integer from 1 to {MOST_LISTED}", returncode=2)
        rows = rows[: options["limit"]]
        if options["output"] == "json":
            self._json([_told(row) for row in rows])
            return
        for row in rows:
            tool = f"{row.format} {row.tool_version}".strip()
            who = one_line(row.sent_by_name or "-")
            self.stdout.write(
                f"{row.pk}  {row.received_at:%Y-%m-%d %H:%M} UTC  {one_line(row.cluster.name)}  {one_line(tool)}  "
                f"reported {row.verdict}  {_kept(row)}  {who}"
            )

    def _json(self, value: Any) -> None:
        self.stdout.write(json.dumps(value, ensure_ascii=False, indent=2))


def _output(parser: ArgumentParser) -> None:
    add_output(parser)


def _read(name: str) -> bytes:
    """A file, no more of it than is refused anyway."""
    try:
        if name == "-":
            return sys.stdin.buffer.read(MOST_BYTES + 1)
        with Path(name).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise CommandError(f"{name!r}: cannot read ({getattr(error, 'strerror', error)})", returncode=2) from None


def _kept(row: ImportedResult) -> str:
    unmatched = f", {row.unmatched_count} unmatched" if row.unmatched_count else ""
    return f"{row.node_count} nodes, {row.card_count} cards{unmatched}"


def _told(row: ImportedResult) -> Any:
    names = ("format", "tool_version", "verdict", "complete", "node_count", "card_count", "unmatched_count")
    more = ("tested_at", "received_at", "authenticated_by", "sha256", "size")
    told = {"id": row.pk, "cluster": row.cluster.name, "level": "reported", "sent_by": row.sent_by_name or None}
    return msgspec.to_builtins(told | {name: getattr(row, name) for name in (*names, *more)})


def as_text(found: Imported) -> str:
    """Verdict, nodes, cards and measurements, a line each."""
    partly = "" if found.complete or found.verdict == "incomplete" else ", incomplete"
    version = f" {found.tool_version}" if found.tool_version else ""
    rows = [f"{found.format}{version}: reported {found.verdict}{partly}"]
    for node in found.nodes:
        why = f": {one_line(node.because)}" if node.because else ""
        rows.append(f"  {one_line(node.node or 'node unknown')}  {node.verdict}{why}")
    for card in found.cards:
        names = [card.node, None if card.index is None else f"card {card.index}", card.uuid, card.serial]
        test = f"  {card.test}" if card.test else ""
        error = f"  error {card.error_id} severity {card.error_severity}" if card.error_id is not None else ""
        isolate = "  may be isolated" if card.may_isolate else ""
        rows.append(f"  {one_line(' '.join(filter(None, names)))}  {card.verdict}{one_line(test)}{error}{isolate}")
    for one in found.measurements[: imported.MOST_FIGURES]:
        rows.append(f"  {one_line(' '.join(filter(None, (one.node, one.name))))} = {one.value:g} {one.unit}".rstrip())
    return "\n".join(rows)
