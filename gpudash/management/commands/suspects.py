"""`gpudash suspects`: cards and nodes with evidence against them. A reason to validate, no verdict."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

import msgspec

from inventory.management.shown import ShownCommand, add_output
from resources.suspect import Suspect, SuspectList, suspects_of
from validations.suspects import suspects
from wording.columns import aligned
from wording.printable import one_line


class Command(ShownCommand):
    help = "List suspect cards and nodes: by failed pods, measurements, and activity within jobs."
    requires_system_checks: Any = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_output(parser, json="as in REST (/api/v1/suspects)")

    def handle(self, *args: Any, **options: Any) -> None:
        found = suspects_of(suspects())
        if options["output"] == "json":
            self.stdout.write(msgspec.json.format(msgspec.json.encode(found)).decode())
        else:
            self.stdout.write("\n".join(_lines(found)))


def _lines(found: SuspectList) -> Iterator[str]:
    yield f"{len(found.suspects)} suspect, {found.pods_failed} failed pods in {found.days} days"
    if found.suspects:
        head = "NODE\tCARD\tCLUSTER\tEVIDENCE\tEXIT CODES\tFINDINGS\t"
        yield aligned("\n".join([head, *map(_row, found.suspects)])).rstrip("\n")
    yield found.rule


def _row(one: Suspect) -> str:
    card = "all" if one.card is None else one.card[-8:] if one.index is None else str(one.index)
    cells = (
        one.node,
        card,
        one.cluster,
        "; ".join(one.evidence),
        ", ".join(map(str, one.exit_codes)),
        ", ".join(one.findings),
    )
    return "\t".join(one_line(cell) for cell in cells) + "\t"
