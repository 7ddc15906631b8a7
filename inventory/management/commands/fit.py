"""`manage.py fit --cards 2 --memory 20GiB [--system S] [--model M] [--tolerate key=value:Effect]`: where such a pod would go now.

The exit code is 0 when some node takes it, 1 when none does, so that a script can wait for room.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

import msgspec
from django.core.management.base import CommandError

from inventory.fit.finder import Found, Refusing, Taking, find
from inventory.fit.request import WAYS, BadRequest, read
from inventory.fit.told import told
from inventory.fit.words import NOT_LOOKED_AT, NOTES, REASONS
from inventory.inspection.columns import aligned
from inventory.management.shown import ShownCommand
from inventory.printable import one_line

_GIB = 2**30
_SHOWN = 20
_CARDS_SHOWN = 8


class Command(ShownCommand):
    help = "Where a pod that asks for cards would go now, and why not elsewhere"
    #: They load every page and the REST API, which takes longer than the answer; other commands run them.
    requires_system_checks: Any = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--cards", default="1", help="cards on one node, for one container (1)")
        parser.add_argument("--memory", help="memory of each: 20, 20GiB, 20000MiB; a number alone is GiB")
        ways = ", ".join(WAYS)
        told_ = f"how it is asked for; several times for any of them: {ways}"
        parser.add_argument("--system", "--stack", action="append", default=[], help=told_)
        parser.add_argument("--model", action="append", default=[], help="part of the name of the card model")
        parser.add_argument("--tolerate", action="append", default=[], help="key, key=value or key=value:NoSchedule")
        parser.add_argument("--selector", action="append", default=[], help="label of the node: key=value")
        parser.add_argument("--cluster", action="append", default=[], help="name of a cluster; all when left out")
        parser.add_argument("--all", action="store_true", help=f"every node, not {_SHOWN}")
        parser.add_argument("--json", action="store_true", help="as REST has it (/api/v1/fit)")

    def handle(self, *args: Any, **options: Any) -> None:
        names = ("system", "model", "tolerate", "selector", "cluster")
        given = {name: options[name] for name in names} | {"cards": [options["cards"]]}
        given["memory"] = [options["memory"]] if options["memory"] is not None else []
        try:
            found = find(read(given))
        except BadRequest as error:
            raise CommandError(
                "; ".join(f"--{name}: {' '.join(texts)}" for name, texts in error.errors.items())
            ) from None
        limit = found.nodes if options["all"] else _SHOWN
        if options["json"]:
            self.stdout.write(msgspec.json.format(msgspec.json.encode(told(found, limit))).decode())
        else:
            self.stdout.write("\n".join(_lines(found, limit)))
        if not found.taking:
            sys.exit(1)


def _lines(found: Found, limit: int) -> Iterator[str]:
    yield f"{len(found.taking)} of {found.nodes} nodes with a GPU take it now{':' if found.taking else '.'}"
    if found.taking:
        rows = [_row(one) for one in found.taking[:limit]]
        head = "NODE\tCLUSTER\tSYSTEM\tCARDS\tLARGEST FREE BLOCK\tASKED FOR\tTO BE KNOWN\t"
        yield aligned("\n".join([head, *rows])).rstrip("\n")
    if len(found.taking) > limit:
        yield f"and {len(found.taking) - limit} more: --all"
    if found.reasons:
        yield "Not elsewhere:"
        for one in found.reasons:
            about = f" ({one_line(one.about)})" if one.about else ""
            examples = ", ".join(_name(example, len(found.clusters) > 1) for example in one.examples)
            more = ", ..." if one.nodes > len(one.examples) else ""
            yield f"  {one.nodes}: {REASONS[one.code]}{about}: {examples}{more}"
    for way in found.ways:
        yield f"{way.label}: {way.rule}"
    yield f"Not looked at: {'; '.join(NOT_LOOKED_AT)}."


def _name(one: Refusing, several: bool) -> str:
    """several: there are several clusters, of which each may have a node of this name."""
    return one_line(f"{one.cluster}/{one.node}" if several else one.node)


def _row(one: Taking) -> str:
    names = [(card.piece.key[-8:] if card.piece.index is None else str(card.piece.index)) for card in one.cards]
    cards = " ".join(names[:_CARDS_SHOWN]) + (" ..." if len(names) > _CARDS_SHOWN else "")
    gap = one.figures.largest_gap
    size = "?" if gap is None else f"{gap / _GIB:.1f} GiB"
    asked = [f"{name}: {value}" for name, value in {**one.answer.limits, **one.answer.labels}.items()]
    notes = "; ".join(NOTES[note] for note in one.answer.notes)
    cells = (one.node, one.cluster, one.way.name, cards or "?", size, ", ".join(asked) or "ResourceClaim", notes)
    return "\t".join(one_line(cell) for cell in cells) + "\t"
