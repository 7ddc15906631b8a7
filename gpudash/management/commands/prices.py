"""`gpudash prices list|set|remove|load FILE`: prices per card-hour and GiB-hour."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from inventory.charges import rates
from inventory.charges.prices import written
from inventory.charges.rates import PriceDraft
from inventory.management.shown import ShownCommand
from inventory.models import Price
from wording.columns import aligned
from wording.printable import one_line

#: A thousand prices have 200 KB.
_MOST_BYTES = 1 << 20


class Command(ShownCommand):
    help = "Prices per card-hour and GiB-hour, by node label, pool or model."
    requires_system_checks: Any = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("list", help="list the prices")
        put = verbs.add_parser("set", help="set a price")
        put.add_argument("--currency", required=True, help="code such as EUR")
        put.add_argument("--since", required=True, help="first day, UTC, such as 2026-11-01")
        put.add_argument("--card-hour", help="price of a card-hour (default: not charged)")
        put.add_argument("--gib-hour", help="price of a GiB-hour (default: not charged)")
        for name, text in (("label", "node label KEY=VALUE"), ("pool", "pool"), ("model", "card model")):
            put.add_argument(f"--{name}", default="", help=f"{text} (default: all)")
        remove = verbs.add_parser("remove", help="remove a price")
        remove.add_argument("id", type=int, help="ID of the price")
        load = verbs.add_parser("load", help="replace all prices by those of a file")
        load.add_argument("file", help="YAML or JSON: a list of prices; - for standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['verb']}")(options)
        except rates.Bad as error:
            where = f"price {error.number}: " if error.number else ""
            raise CommandError(f"{where}{error}") from None

    def _list(self, options: dict[str, Any]) -> None:
        rows = ["ID\tLABEL\tPOOL\tMODEL\tSINCE\tCARD HOUR\tGIB HOUR\tCURRENCY\t"]
        for one in Price.objects.order_by("label", "pool", "model", "since"):
            names = (one_line(name or "-") for name in (one.label, one.pool, one.model))
            amounts = (written(amount) or "-" for amount in (one.card_hour, one.gib_hour))
            rows.append("\t".join((str(one.pk), *names, str(one.since), *amounts, one.currency, "")))
        self.stdout.write(aligned("\n".join(rows)).rstrip("\n"))

    def _set(self, options: dict[str, Any]) -> None:
        row, new = rates.put(PriceDraft(**{name: options[name] for name in PriceDraft.__struct_fields__}))
        self.stdout.write(f"{'Created' if new else 'Changed'} price {row.pk}.")

    def _remove(self, options: dict[str, Any]) -> None:
        row = Price.objects.filter(pk=options["id"]).first() if 0 <= options["id"] < 2**63 else None
        if row is None:
            raise CommandError(f"There is no price {options['id']}. See: gpudash prices list")
        rates.remove(row)
        self.stdout.write("Removed.")

    def _load(self, options: dict[str, Any]) -> None:
        name = options["file"]
        try:
            if name == "-":
                data = sys.stdin.buffer.read(_MOST_BYTES + 1)
            else:
                with Path(name).open("rb") as opened:
                    data = opened.read(_MOST_BYTES + 1)
        except OSError as error:
            raise CommandError(f"{name}: cannot read ({error.strerror})") from None
        if len(data) > _MOST_BYTES:
            raise CommandError(f"{name}: larger than {_MOST_BYTES:,} bytes")
        self.stdout.write(f"Loaded {rates.replace_all(rates.read_file(data))} prices.")
