"""The demo's API server, whose time stands still, and commands as a user types them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from fleetsim import Fleet, Server, serve
from tests.inventory.reconcile.conftest import clock

__all__ = ["clock"]

Run = Callable[..., str]


@pytest.fixture
def api_server() -> Iterator[Server]:
    with serve(Fleet(seed=1, now=1_780_000_000.0), live=False) as running:
        yield running


@pytest.fixture
def kubeconfig(api_server: Server, tmp_path: Path) -> str:
    return str(api_server.kubeconfig(tmp_path / "kubeconfig"))


@pytest.fixture
def run() -> Run:
    """What a command prints."""

    def call(*words: str) -> str:
        out = StringIO()
        call_command(*words, stdout=out)
        return out.getvalue()

    return call


@pytest.fixture
def refuse() -> Run:
    """What a command says when it gives up."""

    def call(*words: str) -> str:
        with pytest.raises(CommandError) as caught:
            call_command(*words, stdout=StringIO())
        return str(caught.value)

    return call
