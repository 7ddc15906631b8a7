"""`who NODE[/CARD]`: the pods that cards are allocated to."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from ..failures import Failed
from ..places import node
from ..server import Server
from ..text import Column, Json, Table, ago, gib
from ..told import Told

HELP = "pods that the cards of a node are allocated to"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("place", metavar="NODE[/CARD]", help="CARD: index or UUID")


def run(server: Server, asked: Namespace) -> Told:
    """JSON: the node, or the card."""
    name, _, card = asked.place.partition("/")
    found = node(server, name, asked.cluster)
    chosen = _chosen(found, card) if card else None
    rows = list(_of_card(chosen)) if chosen else [*_of_node(found)]
    columns = [
        Column("CARD", lambda row: row["card"]),
        Column("STATE", lambda row: row["state"]),
        Column("NAMESPACE", lambda row: row.get("namespace")),
        Column("POD", lambda row: row.get("pod")),
        Column("OWNER", _owner),
        Column("GiB", _gib),
        Column("SINCE", lambda row: ago(row["started_at"]) if "started_at" in row else None),
        Column("USED, GiB", _used, wide=True),
        Column("CONTAINER", lambda row: row.get("container"), wide=True),
        Column("RESOURCE", lambda row: row.get("resource"), wide=True),
        Column("IDENTIFIED BY", lambda row: row.get("evidence"), wide=True),
    ]
    return Told(chosen or found, [Table(columns, rows)] if rows else [f"No cards and no allocations on {name}"])


def _chosen(found: Json, text: str) -> Json:
    for card in found["cards"]:
        if text in (str(card.get("index")), card.get("key"), card.get("uuid")):
            return dict(card)
    names = ", ".join(_name(card) for card in found["cards"]) or "none"
    raise Failed(f"{found.get('name')} has no card {text}. Cards: {names}")


def _of_node(found: Json) -> Iterator[Json]:
    for card in found["cards"]:
        yield from _of_card(card)
    for one in found.get("unplaced") or []:
        yield {"card": "unidentified", "state": None, **one, "card_key": one.get("card")} | {"card": "unidentified"}


def _of_card(card: Json) -> Iterator[Json]:
    """A line for each allocation, else one for the card."""
    own = {"card": _name(card), "state": card.get("state")}
    rows = card.get("allocations") or [{}]
    yield from ({**one, **own} for one in rows)


def _name(card: Json) -> str:
    return str(card.get("key") if card.get("index") is None else card["index"])


def _owner(row: Json) -> str:
    return "/".join(str(row[part]) for part in ("owner_kind", "owner_name") if row.get(part))


def _gib(row: Json) -> str | None:
    """Shared cards have no amount for each pod."""
    if "memory_bytes" not in row:
        return None
    return "not metered" if row["memory_bytes"] is None and row.get("mode") == "shares" else gib(row["memory_bytes"])


def _used(row: Json) -> str | None:
    if "memory_used_bytes" not in row:
        return None
    return "not collected" if row["memory_used_bytes"] is None else gib(row["memory_used_bytes"])
