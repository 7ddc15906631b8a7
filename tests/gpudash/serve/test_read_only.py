"""A real PostgreSQL that takes no changes, as after a demotion: 503 and when to ask again, not ready, and one line of the log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests import services
from tests.services import Missing, Postgres, or_skip, wait_until
from tests.web import Web, migrated, web


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    try:
        with services.postgres() as made:
            migrated(tmp_path_factory.mktemp("tables"), made.create("gpudash"))
            yield made
    except Missing as missing:
        or_skip(missing)


def _set(server: Postgres, text: str, cut: bool) -> None:
    """cut: sessions that there are end, as at a demotion; else they go on, as behind a pooler."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as other:
        other.execute(f"ALTER SYSTEM {text}")
        other.execute("SELECT pg_reload_conf()")
        if cut:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'gpudash'")


def _database_is_ready(served: Web) -> bool:
    return bool(json.loads(served.ask("/readyz").body)["parts"]["database"]["ok"])


@pytest.mark.sweep
@pytest.mark.timeout(200)
@pytest.mark.parametrize("cut", [False, True], ids=["sessions stay", "sessions end"])
def test_a_database_that_takes_no_changes_is_said_so(server: Postgres, tmp_path: Path, cut: bool) -> None:
    (tmp_path / "web").mkdir()
    with web(tmp_path / "web", server.url("gpudash")) as served:
        assert served.ask("/sign-in").status == 200
        _set(server, "SET default_transaction_read_only = on", cut)
        try:
            wait_until(lambda: not _database_is_ready(served), "it is not ready", 15)
            assert served.ask("/readyz").status == 503
            for _ in range(3):
                if cut:
                    answer = served.ask("/api/v1/cards", "Cookie: gpudash_session=somebody")
                    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
            assert served.ask("/healthz").status == 200
        finally:
            _set(server, "RESET default_transaction_read_only", cut)
        wait_until(lambda: _database_is_ready(served), "it is ready again", 15)
        wait_until(lambda: served.ask("/sign-in").status == 200, "the pages are back", 15)
        log = served.log
    assert "Traceback" not in log
    assert log.count("read-only since") <= 1
