"""`gpudash report ID`: the report of a campaign; `gpudash report verify FILE`: does the stored campaign still give the same?

With `--certificate` it is signed. `report key FILE` and `report verify FILE --key PUB` need no installation:
`manage.py` gives them to `validations.certificate.offline`.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from inventory.management.shown import ShownCommand, add_output
from validations import querysets, report
from validations.certificate import envelope, issue
from validations.models import Campaign
from validations.policies import reading
from wording.printable import one_line

MOST_TOLD = 20


class Command(ShownCommand):
    help = "Print the report of a campaign, or verify one. Exit codes: 0 identical, 1 different, 2 not comparable."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="ID of a campaign (with --certificate also of a policy), or: verify, key")
        parser.add_argument("file", nargs="?", help="with verify: the report as JSON; - for standard input")
        add_output(parser, json="canonical, from which the hash is computed")
        parser.add_argument("--certificate", action="store_true", help="print the signed report (in-toto, DSSE)")
        parser.add_argument(
            "--key", help="with verify: public key; the file is a certificate, and no database is needed"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["campaign"] == "verify":
            self._verify(options["file"])
            return
        if options["certificate"]:
            self.stdout.write(_certificate(options["campaign"]).decode("ascii"), ending="")
            return
        if options["file"]:
            raise CommandError(f"{options['file']}: a file is allowed only with verify", returncode=2)
        found = report.content(_campaign(options["campaign"]))
        if options["output"] == "json":
            self.stdout.write(report.canonical(found).decode("ascii"), ending="")
        else:
            self.stdout.write(as_text(found))

    def _verify(self, name: str | None) -> None:
        if not name:
            raise CommandError("verify: the file of the report is missing", returncode=2)
        data = _read(name)
        if envelope.is_envelope(data):
            raise CommandError(
                f"{name}: a certificate. Add --key PUB, the public key of its installation.", returncode=2
            )
        try:
            old = json.loads(data)
            campaign_id = str(old["campaign"]["id"])
            form = old["format"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise CommandError(f"{name}: not a campaign report", returncode=2) from None
        if form != report.FORMAT:
            raise CommandError(f"{name}: format {form!r} does not match this version ({report.FORMAT})", returncode=2)
        self.stdout.write(f"file      sha256:{report.sha256(data)}")
        new = report.canonical(report.content(_campaign(campaign_id)))
        self.stdout.write(f"campaign  sha256:{report.sha256(new)}")
        if new == data:
            self.stdout.write(f"Identical: the file matches the stored campaign {campaign_id}.")
            return
        found = list(report.differences(old, json.loads(new)))
        for path, then, now in found[:MOST_TOLD]:
            self.stdout.write(f"  {path}: {one_line(json.dumps(then))} in the file, {one_line(json.dumps(now))} stored")
        if len(found) > MOST_TOLD:
            self.stdout.write(f"  and {len(found) - MOST_TOLD} more")
        if not found:
            raise CommandError("Same content, but the file is not in canonical form.", returncode=1)
        raise CommandError(f"The file differs from the stored campaign {campaign_id}.", returncode=1)


def as_text(found: dict[str, Any]) -> str:
    """The head, a line for each place, and the hash."""
    campaign, cards = found["campaign"], found["coverage"]
    rows = [
        f"Campaign {campaign['id']}: {found['suite']['id']}, {campaign['state']}, started by {campaign['started_by'] or '-'}",
        f"Started {campaign['created_at']}, ended {campaign['ended_at'] or '-'}; clusters {', '.join(campaign['clusters'])}",
        f"{cards['validated']} of {cards['targets']} cards validated; failed: {cards['failed']}; not tested: {cards['not_tested']}",
    ]
    for one in found["targets"]:
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


def _certificate(report_id: str) -> bytes:
    try:
        if (policy := reading.policies().of_id(report_id)) is not None:
            return issue.of_a_policy(policy)
        return issue.of_campaign(_campaign(report_id))
    except issue.NotIssued as error:
        raise CommandError(str(error), returncode=2) from None


def _campaign(campaign_id: str) -> Campaign:
    row = querysets.campaigns().of_id(campaign_id)
    if row is None:
        raise CommandError(f"There is no campaign {campaign_id[:64]}.", returncode=2)
    return row


def _read(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name}: cannot read ({error.strerror})", returncode=2) from None
