"""The packages of the product, as the import contracts list them, and their sources."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: All but the simulated cluster, which is for the demo and for tests.
PACKAGES = tuple(
    name
    for name in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
    if name != "fleetsim"
)


def sources(*packages: str) -> Iterator[Path]:
    """Modules of these packages, of all by default; without migrations."""
    for package in packages or PACKAGES:
        yield from (path for path in sorted((ROOT / package).rglob("*.py")) if "migrations" not in path.parts)
