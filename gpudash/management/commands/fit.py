"""`gpudash fit --cards 2 --memory 20GiB [--stack S] [--model M] [--tolerate key=value:Effect]`: where such a pod would go now.

With --yaml it prints a pod for the first of these nodes: `gpudash fit --cards 2 --yaml | kubectl apply -f -`.

The exit code is 0 when a node fits, else 1, so that a script can wait for capacity.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

import msgspec
from django.core.management.base import CommandError

from inventory.management.shown import ShownCommand, add_output
from inventory.placement.finder.finder import Found, Refusing, Taking, find
from inventory.placement.finder.manifest import IMAGE, manifests
from inventory.placement.finder.request import WAYS, BadRequest, Request, read
from inventory.placement.finder.words import NOT_LOOKED_AT, NOTES, REASONS
from inventory.placement.moves.read import planned
from resources.fit import fit_of
from resources.moves import moves_of
from wording.columns import aligned
from wording.printable import one_line

_GIB = 2**30
_SHOWN = 20
_CARDS_SHOWN = 8


class Command(ShownCommand):
    help = "Find nodes that fit a GPU pod now, and the reasons of the other nodes."
    #: They load every page and the REST API, which takes longer than the answer; other commands run them.
    requires_system_checks: Any = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--cards", default="1", help="cards per container, on one node (default: 1)")
        parser.add_argument("--memory", help="memory per card: 20, 20GiB, 20000MiB; without a unit: GiB")
        parser.add_argument("--cpu", help="CPU of the node for the same container: 8, 0.5, 500m")
        parser.add_argument("--host-memory", help="memory of the node for the same container, as --memory")
        ways = ", ".join(WAYS)
        told_ = f"stack; repeat for alternatives: {ways}"
        parser.add_argument("--stack", action="append", default=[], help=told_)
        parser.add_argument("--model", action="append", default=[], help="part of the name of the card model")
        parser.add_argument(
            "--tolerate", action="append", default=[], help="toleration: key, key=value or key=value:NoSchedule"
        )
        parser.add_argument("--selector", action="append", default=[], help="node label: key=value")
        parser.add_argument("--cluster", action="append", default=[], help="name of a cluster (default: all)")
        parser.add_argument("--all", action="store_true", help=f"show all nodes, not only {_SHOWN}")
        parser.add_argument("--yaml", action="store_true", help=f"print a pod for the first node; replace {IMAGE}")
        parser.add_argument(
            "--moves", action="store_true", help="print the cheapest pods to move for the request to fit"
        )
        parser.add_argument("--free-node", action="store_true", help="as --moves, for a node without pods with cards")
        add_output(parser, json="as in REST (/api/v1/fit)")

    def handle(self, *args: Any, **options: Any) -> None:
        names = ("stack", "model", "tolerate", "selector", "cluster")
        given = {name: options[name] for name in names} | {"cards": [options["cards"]]}
        given |= {name: [options[name]] for name in ("memory", "cpu", "host_memory") if options[name] is not None}
        try:
            request = read(given)
            if options["moves"] or options["free_node"]:
                self._moves(request, options["free_node"], options["output"] == "json")
                return
            found = find(request)
        except BadRequest as error:
            raise CommandError(
                "; ".join(f"--{name.replace('_', '-')}: {' '.join(texts)}" for name, texts in error.errors.items())
            ) from None
        limit = found.nodes if options["all"] else _SHOWN
        if options["yaml"]:
            self._yaml(found)
        elif options["output"] == "json":
            self.stdout.write(msgspec.json.format(msgspec.json.encode(fit_of(found, limit))).decode())
        else:
            self.stdout.write("\n".join(_lines(found, limit)))
        if not found.taking:
            sys.exit(1)

    def _moves(self, request: Request, whole_node: bool, as_json: bool) -> None:
        """The exit code is 1 where there is no plan and none is needed."""
        found, looked = planned(request, whole_node=whole_node)
        told = moves_of(found, looked.names, whole_node)
        if as_json:
            self.stdout.write(msgspec.json.format(msgspec.json.encode(told)).decode())
        elif told.already:
            self.stdout.write(f"No move needed: {one_line(told.already)}")
        else:
            self.stdout.write(told.text or f"{_no_plan(told.exact)}\n{told.not_read}")
        if not (told.node or told.already):
            sys.exit(1)

    def _yaml(self, found: Found) -> None:
        """What is piped into kubectl; why there is nothing is no part of it."""
        if text := "".join(manifests(found.taking[:1], found.request)):
            self.stdout.write(text, ending="")
        else:
            self.stderr.write("\n".join(_lines(found, _SHOWN)))


def _no_plan(exact: bool) -> str:
    return "No plan: no set of pods fits elsewhere." if exact else "No plan found within the search limit."


def _lines(found: Found, limit: int) -> Iterator[str]:
    yield f"{len(found.taking)} of {found.nodes} GPU nodes fit now{':' if found.taking else '.'}"
    if found.taking:
        rows = [_row(one) for one in found.taking[:limit]]
        head = "NODE\tCLUSTER\tSTACK\tCARDS\tLARGEST FREE BLOCK\tREQUEST\tNOTES\t"
        yield aligned("\n".join([head, *rows])).rstrip("\n")
    if len(found.taking) > limit:
        yield f"and {len(found.taking) - limit} more: --all"
    if found.reasons:
        yield "Rejected:"
        for one in found.reasons:
            about = f" ({one_line(one.about)})" if one.about else ""
            examples = ", ".join(_name(example, len(found.clusters) > 1) for example in one.examples)
            more = ", ..." if one.nodes > len(one.examples) else ""
            yield f"  {one.nodes}: {REASONS[one.code]}{about}: {examples}{more}"
    for way in found.ways:
        yield f"{way.label}: {way.rule}"
    yield f"Not considered: {'; '.join(NOT_LOOKED_AT)}."


def _name(one: Refusing, several: bool) -> str:
    """several: there are several clusters, of which each may have a node of this name."""
    return one_line(f"{one.cluster}/{one.node}" if several else one.node)


def _row(one: Taking) -> str:
    names = [(card.piece.key[-8:] if card.piece.index is None else str(card.piece.index)) for card in one.cards]
    cards = " ".join(names[:_CARDS_SHOWN]) + (" ..." if len(names) > _CARDS_SHOWN else "")
    gap = one.figures.largest_gap
    size = "?" if gap is None else f"{gap / _GIB:.1f} GiB"
    asked = [f"{name}: {value}" for name, value in {**one.answer.limits, **one.answer.labels}.items()]
    notes = "; ".join(NOTES[note] for note in one.notes)
    cells = (one.node, one.cluster, one.way.name, cards or "?", size, ", ".join(asked) or "ResourceClaim", notes)
    return "\t".join(one_line(cell) for cell in cells) + "\t"
