"""`gpudash waste [--by owner] [--days 30] [--cluster C] [--namespace N]`: what was allocated without activity, or not used."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from inventory.charges.exact import amounts_of
from inventory.charges.idle import rounded
from inventory.charges.prices import Money
from inventory.charges.waste import WINDOWS, Wasted, waste
from inventory.management.shown import ShownCommand, add_output
from inventory.models.charges import By
from resources.waste import answer_of
from runtime.clock import database_now
from wording.amounts import MIB, gib
from wording.columns import aligned
from wording.printable import one_line

_GIB_HOUR = 1024 * 3600
_SHOWN = 50


class Command(ShownCommand):
    help = "Show idle and unused memory of namespaces or owners over days, with suggestions for owners."
    #: They load every page and the REST API, which takes longer than the answer; other commands run them.
    requires_system_checks: Any = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--by", choices=By.values, default=By.NAMESPACE.value, help="rows by (default: namespace)")
        parser.add_argument("--days", type=int, choices=WINDOWS, default=WINDOWS[0], help="days (default: 7)")
        parser.add_argument("--cluster", help="name of a cluster (default: all)")
        parser.add_argument("--namespace", help="namespace (default: all)")
        add_output(parser, json="as in REST (/api/v1/waste)")

    def handle(self, *args: Any, **options: Any) -> None:
        of = {"cluster__name": options["cluster"], "namespace": options["namespace"]}
        by, days = By(options["by"]), options["days"]
        found = waste(database_now(), days, by, **{name: value for name, value in of.items() if value})
        if options["output"] == "json":
            answer = answer_of(by.value, days, found)
            self.stdout.write(msgspec.json.format(msgspec.json.encode(answer)).decode())
        else:
            self.stdout.write("\n".join(_lines(by, days, found)))


def _lines(by: By, days: int, found: Sequence[Wasted]) -> Iterator[str]:
    if not found:
        yield f"No data for the last {days} days."
        return
    owners = by == By.OWNER
    head = "NAMESPACE\tCLUSTER\tIDLE GIB H\tUNUSED GIB H\t"
    priced = any(one.cost.parts for one in found)
    head += "IDLE COST\tUNUSED COST\t" if priced else ""
    head = "OWNER\t" + head + "ALLOCATED\tP99 USED\tSUGGESTION\tDAYS\t" if owners else head
    rows = []
    for one in found[:_SHOWN]:
        cells = [one.namespace, one.cluster, _hours(one.idle), _hours(one.unused)]
        cells += [_cost(one.idle_cost), _cost(one.unused_cost)] if priced else []
        if owners:
            advice = one.suggestion
            told = "-" if advice is None else f"{_gib(advice.memory)} ({advice.sure.value})"
            cells = [f"{one.owner_kind} {one.owner}".strip() or "(no owner)", *cells]
            cells += [_gib(one.asked), _gib(one.peak), told, str(one.days)]
        rows.append("\t".join(map(one_line, cells)) + "\t")
    yield aligned("\n".join([head, *rows])).rstrip("\n")
    if len(found) > _SHOWN:
        yield f"and {len(found) - _SHOWN} more: -o json"


def _hours(mib_s: int | None) -> str:
    return "?" if mib_s is None else f"{mib_s / _GIB_HOUR:.1f}"


def _cost(money: Money) -> str:
    """ "12.00 EUR + unknown"; "?" where nothing has a price."""
    told = [f"{one.amount} {one.currency}" for one in amounts_of(rounded(money))]
    return " + ".join([*told, *(["unknown"] if money.unknown and told else [])]) or "?"


def _gib(mib: int | None) -> str:
    return "?" if mib is None else gib(mib * MIB)
