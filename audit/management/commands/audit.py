"""`gpudash audit verify` and `audit export`: whether the log was changed, and all of it, one JSON object a line."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import msgspec
from django.core.management.base import BaseCommand, CommandError

from audit.chain import Broken, verify
from audit.models import GENESIS, Entry


class Command(BaseCommand):
    help = "Verify or export the audit log."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        check = verbs.add_parser("verify", help="verify the whole chain; exit code 1 if it was changed")
        check.add_argument("--hash", default="", help="hash of an earlier entry; it must still be in the chain")
        verbs.add_parser("export", help="print all entries, oldest first, one JSON object per line")

    def handle(self, *args: Any, **options: Any) -> None:
        verb: Any = getattr(self, f"_{options['verb']}")
        verb(options)

    def _verify(self, options: dict[str, Any]) -> None:
        count, last, wanted, found = 0, GENESIS, options["hash"].strip().lower(), False
        for one in verify():
            if isinstance(one, Broken):
                raise CommandError(
                    f"The audit log was changed at entry {one.number}: {one.why}. Intact entries before it: {count}."
                )
            count, last = one
            found = found or last == wanted
        if wanted and not found:
            raise CommandError(f"No entry has the hash {wanted}. The log was recreated since this hash was stored.")
        self.stdout.write(f"{count} entries, intact. Last hash: {last}")

    def _export(self, options: dict[str, Any]) -> None:
        names = ("number", "at", "actor", "kind", "token", "address", "request", "action", "target", "outcome")
        for entry in Entry.objects.order_by("number").iterator(2000):
            row = {name: getattr(entry, name) for name in (*names, "detail", "previous", "hash")}
            self.stdout.write(msgspec.json.encode(row).decode())
