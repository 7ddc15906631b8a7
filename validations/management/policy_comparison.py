"""A comparison of policies before and after a change: the options of the command, and what it prints."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import msgspec

from inventory.management.shown import add_output
from validations.policies import compare
from validations.policies.compare import Group
from validations.policies.losses import Detail
from validations.policies.measured import Moved
from validations.policies.reading import Counts


def add_comparison(parser: ArgumentParser) -> None:
    parser.add_argument("--by", choices=compare.WAYS, default=compare.DRIVER, help="what a and b are (default: driver)")
    parser.add_argument("--a", required=True, metavar="BEFORE", help="version, image, or day YYYY-MM-DD (UTC)")
    parser.add_argument("--b", required=True, metavar="AFTER", help="the same")
    for name in ("cluster", "pool", "model"):
        parser.add_argument(f"--{name}", action="append", default=[], help="may be repeated (default: all)")
    parser.add_argument("--policy", help="name of a policy (default: all together)")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="cards to list (default: 20)")
    add_output(parser)


def counted_text(counts: Counts | None) -> str:
    if counts is None:
        return "-"
    return (
        f"{counts.valid} of {counts.cards} valid, {counts.due} due, {counts.failed} failed, {counts.excluded} excluded"
    )


def with_cluster(one: Detail | Group | Moved, names: dict[int, str]) -> dict[str, Any]:
    """With the name of its cluster for the id."""
    told = msgspec.structs.asdict(one)
    return {"cluster": names[told.pop("cluster_id")], **told}


def moved_text(one: Moved, cluster: str) -> str:
    place = " ".join(part or "-" for part in (cluster, one.pool, one.model, one.suite, one.name))
    medians = f"{one.before.median:g} -> {one.after.median:g} {one.unit}"
    if one.percent is None:
        return f"{one.judged}  {place}: {medians}, {one.cards} cards"
    odd = ", ".join(f"{card.node} {card.card} ({card.percent:+.0f}%)" for card in one.outliers[:3])
    return (
        f"{one.judged}  {place}: {medians}, {one.percent:+.1f}% time, {one.slower} of {one.cards} cards slower, "
        f"by chance {one.chance:.1g}{f'; outliers: {odd}' if odd else ''}"
    )


def loss_text(card: dict[str, Any]) -> str:
    text = f"{card['lost']}  {card['cluster']}/{card['node']} card {card['card']}  {card['suite']}"
    if card["measurement"] is None:
        return text
    return (
        f"{text}  {card['measurement']} {card['value_before']:g} -> {card['value_after']:g} {card['unit']}, "
        f"{card['slower_percent']:.0f}% slower"
    )
