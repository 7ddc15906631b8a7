"""`manage.py report ID`: the report of a campaign; `manage.py report verify FILE`: does the stored campaign still give the same?"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from inventory.management.shown import ShownCommand
from inventory.printable import one_line
from validations import querysets, report
from validations.models import Campaign

MOST_TOLD = 20


class Command(ShownCommand):
    help = "Print the report of a campaign, or verify one: exit code 0 the same, 1 it differs, 2 it cannot be compared."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="id of the campaign, or: verify")
        parser.add_argument("file", nargs="?", help="with verify: the report as JSON; - reads standard input")
        parser.add_argument("--json", action="store_true", help="the canonical form, of whose bytes the hash is made")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["campaign"] == "verify":
            self._verify(options["file"])
            return
        if options["file"]:
            raise CommandError(f"{options['file']}: only verify takes a file", returncode=2)
        found = report.content(_campaign(options["campaign"]))
        if options["json"]:
            self.stdout.write(report.canonical(found).decode("ascii"), ending="")
        else:
            self.stdout.write(as_text(found))

    def _verify(self, name: str | None) -> None:
        if not name:
            raise CommandError("verify: name the file of the report", returncode=2)
        data = _read(name)
        try:
            old = json.loads(data)
            campaign_id = str(old["campaign"]["id"])
            form = old["format"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise CommandError(f"{name}: this is no report of a campaign", returncode=2) from None
        if form != report.FORMAT:
            raise CommandError(f"{name}: format {form!r} is not the one of this version, {report.FORMAT}", returncode=2)
        self.stdout.write(f"file      sha256:{report.sha256(data)}")
        new = report.canonical(report.content(_campaign(campaign_id)))
        self.stdout.write(f"campaign  sha256:{report.sha256(new)}")
        if new == data:
            self.stdout.write(f"The stored campaign {campaign_id} gives the same report.")
            return
        found = list(report.differences(old, json.loads(new)))
        for path, then, now in found[:MOST_TOLD]:
            self.stdout.write(f"  {path}: {one_line(json.dumps(then))} in the file, {one_line(json.dumps(now))} stored")
        if len(found) > MOST_TOLD:
            self.stdout.write(f"  and {len(found) - MOST_TOLD} more")
        if not found:
            raise CommandError(
                "The content is the same, but the bytes are not those of the canonical form.", returncode=1
            )
        raise CommandError(f"The stored campaign {campaign_id} does not give this report.", returncode=1)


def as_text(found: dict[str, Any]) -> str:
    """The head, a line for each place, and the hash."""
    campaign, cards = found["campaign"], found["coverage"]
    rows = [
        f"Campaign {campaign['id']}: {found['suite']['id']}, {campaign['state']}, started by {campaign['started_by'] or '-'}",
        f"Begun {campaign['created_at']}, ended {campaign['ended_at'] or '-'}; clusters {', '.join(campaign['clusters'])}",
        f"{cards['proven']} of {cards['asked']} cards proven good; failed: {cards['failed']}; not reached: {cards['not_reached']}",
    ]
    for one in found["places"]:
        why = one["why_not"] or one["reason_text"] or ""
        parts = (
            one["cluster"],
            one["node"],
            one["card"] or "-",
            one["outcome"],
            one["run"] or "-",
            one["ended_at"] or "-",
            why,
        )
        rows.append("  " + "  ".join(one_line(str(part)) for part in parts).rstrip())
    return "\n".join([*rows, f"sha256:{report.sha256(report.canonical(found))}"])


def _campaign(campaign_id: str) -> Campaign:
    row = querysets.campaigns().of_id(campaign_id)
    if row is None:
        raise CommandError(f"There is no campaign {campaign_id[:64]}.", returncode=2)
    return row


def _read(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name}: cannot be read ({error.strerror})", returncode=2) from None
