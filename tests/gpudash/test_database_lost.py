"""What a lost connection raises is known as that, also where Django does not wrap it."""

from __future__ import annotations

from contextlib import suppress

import psycopg
import pytest
from django.db import OperationalError

from gpudash.middleware.database_away import is_away
from tests.services import Missing, or_skip, postgres


def test_a_cursor_of_the_server_that_is_closed_after_the_connection_was_lost() -> None:
    try:
        with postgres() as server, psycopg.connect(server.url("postgres")) as lost:
            cursor = lost.cursor("rows")
            cursor.execute("SELECT generate_series(1, 100000)")
            cursor.fetchmany(10)
            with psycopg.connect(server.url("postgres"), autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s)", [lost.info.backend_pid])
            with pytest.raises(psycopg.Error) as caught:
                cursor.close()
            with suppress(psycopg.Error):
                lost.close()
    except Missing as missing:
        or_skip(missing)
    assert is_away(caught.value)


@pytest.mark.parametrize("error", [psycopg.errors.UndefinedTable("x"), psycopg.DataError("x"), ValueError("x"), None])
def test_a_statement_that_is_wrong_is_no_database_that_is_away(error: Exception | None) -> None:
    assert not is_away(error)
    wrapped = OperationalError("no such table: x")
    assert not is_away(wrapped)
