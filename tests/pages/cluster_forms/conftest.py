"""A process that is everything, and an API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleetsim import Fleet, Server, serve
from tests.inventory.reconcile.conftest import clock

__all__ = ["clock"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    """Where kubeconfigs are stored, in a process that is everything."""
    settings.DATA_DIR, settings.ONE_PROCESS = tmp_path / "data", True
    settings.DATA_DIR.mkdir()
    return Path(settings.DATA_DIR / "kubeconfigs")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Fleet(seed=1, now=1_780_000_000.0), live=False) as running:
        yield running
