"""`gpudash chargeback [--cluster C] [--month 2026-11] [--by owner] [--csv]`: what each namespace held of a cluster in a month."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from inventory.charges.month import Charge, ChargeRow, charge, first_of, this_month
from inventory.management.shown import ShownCommand
from inventory.models import Cluster
from inventory.models.charges import By
from resources.charge import as_csv
from runtime.clock import database_now
from wording.columns import aligned
from wording.printable import one_line


class Command(ShownCommand):
    help = "Allocated and unallocated card hours and memory of a cluster, by namespace, for one month"
    #: They load every page and the REST API, which takes longer than the answer; other commands run them.
    requires_system_checks: Any = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--cluster", help="name of the cluster; optional if there is only one")
        parser.add_argument("--month", help="month as 2026-11, UTC (default: this month)")
        parser.add_argument("--by", choices=By.values, default=By.NAMESPACE.value, help="rows by (default: namespace)")
        parser.add_argument("--csv", action="store_true", help="print CSV")

    def handle(self, *args: Any, **options: Any) -> None:
        first = first_of(options["month"]) if options["month"] else this_month(database_now())
        if first is None:
            raise CommandError("--month must be a month such as 2026-11.")
        found = charge(_cluster(options["cluster"] or ""), first, By(options["by"]))
        if options["csv"]:
            self.stdout.write(as_csv(found).replace("\r\n", "\n"), ending="")
        else:
            self.stdout.write("\n".join(_lines(found)))


def _cluster(name: str) -> Cluster:
    rows = {row.name: row for row in Cluster.objects.all()}
    if not name and len(rows) == 1:
        return next(iter(rows.values()))
    if name not in rows:
        raise CommandError(
            f"--cluster must be the name of a cluster. Clusters: {', '.join(sorted(rows)) or 'none yet'}."
        )
    return rows[name]


def _lines(found: Charge) -> Iterator[str]:
    if found.since is None or found.until is None:
        yield f"No data for {found.month} in {found.cluster}."
        return
    yield (
        f"{found.cluster}, {found.month}, until {found.until:%Y-%m-%d %H:%M} UTC; recorded since "
        f"{found.since:%Y-%m-%d %H:%M} UTC"
    )
    if found.by == By.OWNER:
        yield (f"owners recorded since {found.owners_since}" if found.owners_since else "owners unknown in this month")
    cost = "COST\t" if found.priced else ""
    rows = [f"{'NAMESPACE, OWNER' if found.by == By.OWNER else 'NAMESPACE'}\tCARD HOURS\t%\tGIB HOURS\t%\t{cost}"]
    for one in found.rows:
        name = _name(one)
        rows.append(
            f"{name}\t{one.card_hours}\t{one.card_share}\t{one.memory_hours}\t{one.memory_share}\t{_cost(found, one)}"
        )
    rows.append(f"(total)\t{found.card_hours}\t\t{found.memory_hours}\t\t{_cost(found, found)}")
    yield aligned("\n".join(rows)).rstrip("\n")


def _cost(found: Charge, one: Charge | ChargeRow) -> str:
    """ "12.00 EUR + 3.00 USD + unknown"; nothing without prices."""
    if not found.priced:
        return ""
    told = [f"{amount.amount} {amount.currency}" for amount in one.amounts]
    return " + ".join([*told, *([] if one.cost_complete else ["unknown"])]) + "\t"


def _name(one: ChargeRow) -> str:
    if not one.namespace:
        return f"({one.kind})"
    of = "" if one.kind == "namespace" else f", {one.owner_kind} {one.owner}" if one.owner else f", ({one.kind})"
    return one_line(one.namespace + of)
