"""Which fault comes next: by the seed, each kind once a round, and never two on one part."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.soak.bed import SERVICES
from tests.soak.faults import ROUND, Faults
from tests.soak.parts import Part


def bed() -> Any:
    parts = [
        Part(f"{role}-{i}", role, [], {}, Path("/dev/null")) for role, count in SERVICES.items() for i in range(count)
    ]
    return SimpleNamespace(parts=parts, tokens={"watcher of near": None, "watcher of far": None})


def drawn(seed: int, count: int) -> list[tuple[str, str]]:
    """Each fault is over when the next comes."""
    faults, found = Faults(bed(), seed), []
    for _ in range(count):
        kind, part, _ = faults._next()
        faults._busy.clear()
        found.append((kind, part))
    return found


def test_a_seed_decides_everything() -> None:
    assert drawn(3, 30) == drawn(3, 30)
    assert drawn(3, 30) != drawn(4, 30)


def test_a_round_has_every_kind() -> None:
    assert Counter(kind for kind, _ in drawn(5, len(ROUND))) == Counter(ROUND)


def test_no_part_has_two_faults_at_once() -> None:
    faults = Faults(bed(), 6)
    parts = [faults._next()[1] for _ in range(5)]
    assert len(parts) == len(set(parts))
