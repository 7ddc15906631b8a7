"""`gpudash forecast [--cards 8] [--memory 80GiB] [--model M] [--cluster C]`: what will be free, and until when such a pod fits."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import msgspec
from django.core.management.base import CommandError

from inventory.forecast.method import AHEAD, LEAST, Forecast
from inventory.forecast.pools import PoolForecast, asked
from inventory.management.shown import ShownCommand, add_output
from inventory.placement.finder.finder import clusters_of
from inventory.placement.finder.request import BadRequest, Request, read
from resources.forecast import answer_of
from runtime.clock import database_now
from wording.amounts import gib
from wording.columns import aligned
from wording.printable import one_line


class Command(ShownCommand):
    help = f"Forecast free memory and free cards of each pool for {AHEAD} days."
    #: They load every page and the REST API, which takes longer than the answer; other commands run them.
    requires_system_checks: Any = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--cards", default="1", help="cards of the request (default: 1)")
        parser.add_argument("--memory", help="memory per card: 20, 20GiB, 20000MiB; without a unit: GiB")
        parser.add_argument("--model", action="append", default=[], help="part of the name of the card model")
        parser.add_argument("--cluster", action="append", default=[], help="name of a cluster (default: all)")
        add_output(parser, json="as in REST (/api/v1/forecast)")

    def handle(self, *args: Any, **options: Any) -> None:
        given = {name: options[name] for name in ("model", "cluster")} | {"cards": [options["cards"]]}
        given |= {"memory": [options["memory"]]} if options["memory"] is not None else {}
        try:
            wanted = read(given)
            found = asked(clusters_of(wanted), wanted.models, database_now())
        except BadRequest as error:
            raise CommandError(
                "; ".join(f"--{name}: {' '.join(texts)}" for name, texts in error.errors.items())
            ) from None
        if options["output"] == "json":
            self.stdout.write(msgspec.json.format(msgspec.json.encode(answer_of(wanted, found))).decode())
        else:
            self.stdout.write("\n".join(_lines(wanted, found)))


def _lines(wanted: Request, found: Sequence[PoolForecast]) -> Iterator[str]:
    each = "any card" if wanted.memory is None else gib(wanted.memory)
    yield f"{wanted.cards} x {each}, by pool, {AHEAD} days ahead (UTC):"
    head = "POOL\tCLUSTER\tNO LONGER FITS\tEARLIEST\tFREE MEMORY\tERROR\tFREE CARDS\tERROR\tDAYS\t"
    rows = ["\t".join(map(one_line, _row(wanted, one))) + "\t" for one in found]
    yield aligned("\n".join([head, *rows])).rstrip("\n")
    yield f"Means of days, on the last day of the forecast. ERROR: of the last 7 days. Fewer than {LEAST} days: no forecast."
    yield "Free capacity of the whole pool: one node must have it."


def _row(wanted: Request, one: PoolForecast) -> list[str]:
    fits = one.fits(wanted.cards, wanted.memory)
    dates = ["-", "-"] if fits is None else [_date(fits.until), _date(fits.maybe)]
    amounts = [*_amounts(one.memory, in_gib=True), *_amounts(one.cards, in_gib=False)]
    return [one.pool, one.cluster, *dates, *amounts, str(max(one.memory.days, one.cards.days))]


def _date(day: date | None) -> str:
    return f"not within {AHEAD} d" if day is None else day.isoformat()


def _amounts(one: Forecast, *, in_gib: bool) -> list[str]:
    values = [one.ahead[-1].value if one.ahead else None, one.error]
    return ["-" if value is None else gib(round(value)) if in_gib else f"{value:.1f}" for value in values]
