"""What the finder says of recorded nodes. `GOLDEN=rewrite pytest tests/inventory/placement/finder` writes the expectations anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inventory.placement.finder.finder import Found, find
from inventory.placement.finder.request import Request
from stacks.engine.base import WHOLE
from stacks.engine.node_report import node_report
from tests.factories import GIB, make_cluster
from tests.factories.batch import make_case
from tests.stacks import golden_case

pytestmark = pytest.mark.django_db
GOLDEN = Path(__file__).parent / "golden"
REQUESTS = {
    "1": Request(),
    "1 × 4 GiB": Request(memory=4 * GIB),
    "2": Request(cards=2),
    "2 × 12 GiB": Request(cards=2, memory=12 * GIB),
}


def groups() -> dict[str, list[str]]:
    """First word of a case's name → the cases whose settings are those of the tests."""
    found: dict[str, list[str]] = {}
    for name in golden_case.names():
        case = golden_case.load(name)
        if case.node.metadata.name and not case.context.settings:
            found.setdefault(name.partition("-")[0], []).append(name)
    return found


def told(found: Found) -> str:
    """One line of an answer."""
    if not found.taking:
        return ", ".join(f"{one.code} {one.about}".strip() for one in found.reasons) or "no such node"
    [one] = found.taking
    cards = " ".join(str(card.piece.index if card.piece.index is not None else card.piece.key) for card in one.cards)
    asks = " ".join(f"{name}={value}" for name, value in {**one.answer.limits, **one.answer.labels}.items())
    return (
        f"{one.way.name}: cards {cards or '?'}; {asks or 'a claim'}{''.join(f'; {note}' for note in one.answer.notes)}"
    )


def offered(found: Found) -> set[str]:
    return {card.piece.key for one in found.taking for card in one.cards}


def held_whole(name: str) -> set[str]:
    """Cards that have a holder of the whole card, by the account of the engine."""
    case = golden_case.load(name)
    report = node_report(case.node, case.pods, case.context)
    return {one.card.key for one in report.cards if any(held.mode == WHOLE for held in one.allocations)}


@pytest.mark.parametrize("group", sorted(groups()))
def test_a_recorded_node_takes_what_its_system_would_give(group: str) -> None:
    lines = []
    for name in groups()[group]:
        cluster = make_cluster("case")
        make_case(cluster, name, ready=True)
        found = {asked: find(request) for asked, request in REQUESTS.items()}
        answers = {asked: told(one) for asked, one in found.items()}
        assert not offered(found["1"]) & held_whole(name), name
        lines += [name, *(f"  {asked}: {answer}" for asked, answer in answers.items())]
        cluster.delete()
    got = "\n".join(lines) + "\n"
    path = GOLDEN / f"{group}.txt"
    if os.environ.get("GOLDEN") == "rewrite":
        path.parent.mkdir(exist_ok=True)
        path.write_text(got)
    assert got == path.read_text()
