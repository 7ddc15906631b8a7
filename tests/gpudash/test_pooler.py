"""A real pgbouncer before a real PostgreSQL, in transaction mode: web and commands work, and what docs/team.md says of it holds.

The tables' own tests run through one by `make test-pooler`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from gpudash.config.database_url import POSTGRESQL_OPTIONS, SESSION_OPTIONS
from tests import services
from tests.services import Missing, Postgres, or_skip
from tests.web import migrated, web

TEAM = Path("docs/team.md").read_text()
POOLED = {"GPUDASH_DATABASE_POOLER": "transaction"}

Pooled = Callable[[str], str]


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    try:
        with services.postgres() as made:
            yield made
    except Missing as missing:
        or_skip(missing)


@pytest.fixture(scope="module")
def pooled(server: Postgres) -> Iterator[Pooled]:
    try:
        with services.pgbouncer(server, "transaction", 2) as made:
            yield made
    except Missing as missing:
        or_skip(missing)


@pytest.mark.sweep
@pytest.mark.timeout(200)
def test_tables_are_made_and_pages_served_through_it(server: Postgres, pooled: Pooled, tmp_path: Path) -> None:
    server.create("gpudash")
    migrated(tmp_path, pooled("gpudash"), **POOLED)
    (tmp_path / "web").mkdir()
    with web(tmp_path / "web", pooled("gpudash"), **POOLED) as served:
        ready = json.loads(served.ask("/readyz").body)["parts"]
        assert (ready["database"]["ok"], ready["migrations"]["ok"]) == (True, True)
        assert served.ask("/sign-in").status == 200
        assert served.ask("/api/v1/cards", "Cookie: gpudash_session=somebody").status == 401
        assert "Traceback" not in served.log


def test_without_the_setting_it_refuses_what_a_session_is_started_with(server: Postgres, pooled: Pooled) -> None:
    with pytest.raises(psycopg.OperationalError, match="unsupported startup parameter: options"):
        psycopg.connect(pooled("postgres"), **POSTGRESQL_OPTIONS, **SESSION_OPTIONS)


def test_the_role_ends_sessions_that_stay_in_a_transaction(server: Postgres, pooled: Pooled) -> None:
    found = re.search(r'"(ALTER ROLE gpudash .*?;)"', TEAM)
    assert found, "docs/team.md has the command"
    with psycopg.connect(server.url("postgres"), autocommit=True) as administrator:
        administrator.execute(found[1].replace("gpudash", services.POSTGRES_USER).encode())
    server.create("of_the_role")
    with psycopg.connect(pooled("of_the_role"), **POSTGRESQL_OPTIONS) as connection:
        assert connection.execute("SHOW idle_in_transaction_session_timeout").fetchone() == ("30s",)


def test_in_session_mode_who_comes_after_the_last_connection_waits(server: Postgres) -> None:
    """Why a pool that is too small stalls: pgbouncer takes the client in, and its first query waits."""
    try:
        with (
            services.pgbouncer(server, "session", 1, query_wait_timeout=2) as sessions,
            psycopg.connect(sessions("postgres"), autocommit=True) as first,
            psycopg.connect(sessions("postgres"), autocommit=True) as second,
        ):
            first.execute("SELECT 1")
            with pytest.raises(psycopg.OperationalError, match="query_wait_timeout"):
                second.execute("SELECT 1")
    except Missing as missing:
        or_skip(missing)
