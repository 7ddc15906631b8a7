"""A real web process whose real PostgreSQL is stopped and started again: 503 and when to ask again, soon, and few words."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import services
from tests.services import Missing, Postgres, or_skip, wait_until
from tests.web import Web, migrated, web

pytestmark = pytest.mark.sweep

PAGES = ("/", "/cards", "/sign-in", "/api/v1/cards", "/metrics")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """With a database that has all tables, to copy."""
    try:
        with services.postgres() as made:
            migrated(tmp_path_factory.mktemp("tables"), made.create("tables"))
            yield made
    except Missing as missing:
        or_skip(missing)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("options", [(), ("--processes=2",)], ids=["one process", "two"])
def test_a_database_that_is_away_is_said_at_once(server: Postgres, tmp_path: Path, options: tuple[str, ...]) -> None:
    url = server.create(f"away{len(options)}", "tables")
    with web(tmp_path, url, *options) as served:
        assert served.ask("/sign-in").status == 200
        server.stop()
        try:
            for path in PAGES * 3:
                _is_refused(served, path)
            assert served.ask("/healthz").status == 200
            assert served.ask("/readyz").status == 503
        finally:
            server.start()
        wait_until(lambda: served.ask("/sign-in").status == 200, "the pages are back", 15)
        log = served.log
    assert "Traceback" not in log
    assert 1 <= log.count("database not responding or read-only since") <= 1 + len(options)
    assert "database responding again" in log
    assert "/cards 503" not in log


def _is_refused(served: Web, path: str) -> None:
    started = time.monotonic()
    answer = served.ask(path, "Cookie: gpudash_session=somebody")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert time.monotonic() - started < 5
    if path.startswith(("/api/", "/metrics")):
        assert answer.headers["content-type"] == "application/problem+json"
        assert "database is not responding" in json.loads(answer.body)["detail"]
    else:
        assert "Database not responding" in answer.body
