"""`validate NODE`: starts runs, and with --wait follows them to their verdicts."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from ..failures import REFUSED, Failed, Unreachable
from ..server import Server, segment
from ..text import Column, Json, Table, one_line
from ..told import Told

HELP = "start validation runs on a node; with --wait, exit code 1 if one did not pass"
SUITE = "cuda-vectoradd"
POLL_S = 2.0
#: A server that restarts answers again within this time; the runs go on meanwhile.
PATIENCE_S = 120.0


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("node", metavar="NODE")
    parser.add_argument("--suite", default=SUITE, help=f"default: {SUITE}")
    parser.add_argument(
        "--cards", type=_cards, default=[""], metavar="0,1", help="a run for each: index or UUID (default: any card)"
    )
    parser.add_argument("--when-busy", action="store_true", help="queue a run if the node is full or not ready")
    parser.add_argument("--wait", action="store_true", help="wait for the verdicts")


def _cards(text: str) -> list[str]:
    found = [part.strip() for part in text.split(",")]
    if not all(found) or len(set(found)) < len(found):
        raise ArgumentTypeError("must be different cards, separated by commas")
    return found


def run(server: Server, asked: Namespace) -> Told:
    """JSON: the runs, each in full."""
    runs, refused = _started(server, asked)
    if asked.wait:
        runs = _ended(server, runs)
    passed = not refused and all(one.get("verdict") == "passed" for one in runs if asked.wait)
    columns = [
        Column("RUN", lambda row: row.get("id")),
        Column("SUITE", lambda row: row.get("suite")),
        Column("CARD", _card),
        Column("STATE", lambda row: row.get("state")),
        Column("VERDICT", lambda row: row.get("verdict")),
        Column("LEVEL", lambda row: row.get("level")),
        Column("REASON", _reason),
    ]
    return Told({"results": runs}, [Table(columns, runs)] if runs else [], refused, 0 if passed else REFUSED)


def _started(server: Server, asked: Namespace) -> tuple[list[Json], list[str]]:
    """The runs, and why others were refused. Raises Failed where there is only one."""
    runs, refused = [], []
    for card in asked.cards:
        draft = {"suite": asked.suite, "node": asked.node, "card": card, "queue_if_full": asked.when_busy}
        try:
            runs.append(server.post("runs", "id", draft | {"cluster": asked.cluster or ""}))
        except Failed as error:
            if len(asked.cards) == 1:
                raise
            refused.append(f"Card {card}: {error}")
    return runs, refused


def _ended(server: Server, runs: list[Json]) -> list[Json]:
    """Prints each change of a state to standard error."""
    found = {str(one["id"]): one for one in runs}
    for one in runs:
        _say(one)
    answered = time.monotonic()
    while active := [key for key, one in found.items() if one["state"] != "ended"]:
        time.sleep(POLL_S)
        for key in active:
            try:
                one = server.get(f"runs/{segment(key)}", "state")
            except Unreachable:
                if time.monotonic() - answered > PATIENCE_S:
                    raise
                continue
            answered = time.monotonic()
            if (one["state"], one.get("pending_reason")) != (found[key]["state"], found[key].get("pending_reason")):
                _say(one)
            found[key] = one
    return list(found.values())


def _say(one: Json) -> None:
    why = one.get("pending_message") or one.get("pending_reason")
    text = f"{one['id']} {one.get('suite')} on {one.get('node')}: {one['state']}" + (f" ({why})" if why else "")
    print(one_line(text), file=sys.stderr, flush=True)


def _card(row: Json) -> object:
    """The tested card, before the end the requested one."""
    return row.get("card") or row.get("card_requested") or "any"


def _reason(row: Json) -> str:
    return "; ".join(str(one.get("text")) for one in (row.get("reasons") or [])[:1])
