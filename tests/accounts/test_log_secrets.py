"""What the web process writes down holds no query string, no body, no header and no sign-in link, whatever goes wrong."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpudash.logs.secrets import SecretsFilter, masked
from tests.web import Web, web

SECRET = "s3cr3t-v4lue"
TOKEN = f"gpd_1_{SECRET}-{'x' * 40}"


@pytest.fixture
def process(tmp_path: Path, migrated_file: Path) -> Iterator[Web]:
    with web(tmp_path, migrated_file) as made:
        yield made


def ask_everything(process: Web) -> list[int]:
    form = "Content-Type: application/x-www-form-urlencoded"
    body = f"password={SECRET}".encode()
    bearer = f"Authorization: Bearer {TOKEN}"
    asked = [
        process.ask(f"/no-such-page?password={SECRET}"),
        process.ask(f"/sign-in/link/{SECRET}:x?next={SECRET}"),
        process.ask(f"/sign-in/link/{SECRET}:x", method="POST", body=body),
        process.ask(f"/sign-in/link/{SECRET}:x?next={SECRET}", host="evil.example"),
        process.ask(f"/sign-in?next={SECRET}", form, method="POST", body=body),
        process.ask(f"/healthz?{SECRET}", method="PUT"),
        process.ask(f"/api/v1/cards?{SECRET}", bearer),
        process.ask(f"/api/v1/no-such-thing?{SECRET}", bearer),
        process.ask(f"/api/v1/runs?{SECRET}", bearer, "Content-Type: application/json", method="POST", body=body),
        process.ask(f"/?{SECRET}", f"Cookie: gpudash_session={SECRET}"),
        process.ask(f"/?q={SECRET}", "X-Request-ID: " + SECRET + "/"),
    ]
    return [answer.status for answer in asked]


@pytest.mark.sweep
def test_no_secret_gets_into_the_log(process: Web, tmp_path: Path) -> None:
    assert ask_everything(process) == [404, 404, 403, 400, 403, 403, 401, 404, 401, 302, 302]
    with sqlite3.connect(tmp_path / "gpudash.sqlite3") as database:
        database.execute("DROP TABLE django_session")
        database.execute("DROP TABLE access_apitoken")
    assert {500} < set(ask_everything(process))
    assert "OperationalError" in process.log
    assert "/sign-in/link/" in process.log
    assert SECRET not in process.log
    assert all(json.loads(line) for line in process.log.splitlines() if line.startswith("{"))


def record(message: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("django.request", logging.WARNING, __file__, 1, message, arguments, None)


def test_a_link_and_a_token_are_masked_wherever_they_stand() -> None:
    assert masked(f"GET /gpudash/sign-in/link/{SECRET}:1:2 404") == "GET /gpudash/sign-in/link/… 404"
    assert masked(f"'Bearer {TOKEN}'") == "'Bearer gpd_1_…'"
    assert masked("gpd_1_aBcDeF… /sign-in/link/ /nodes") == "gpd_1_aBcDeF… /sign-in/link/ /nodes"


@pytest.mark.parametrize("scheme", ["Bearer ", "bEaReR ", "BEARER%20", "bearer\t"])
def test_what_follows_bearer_is_masked_in_whatever_case(scheme: str) -> None:
    for secret in (TOKEN, f"eyJhbGciOiJSUzI1NiJ9.{SECRET}.x", f"{SECRET}~+/{'y' * 20}=="):
        assert SECRET not in masked(f"401 for 'Authorization: {scheme}{secret}', again")
    assert masked("The bearer token is not valid") == "The bearer token is not valid"
    assert SECRET not in masked(f"/x%20{TOKEN} and a{TOKEN}")


def test_a_record_loses_its_request_and_the_secrets_of_its_traceback() -> None:
    made = record("Not Found: %s", f"/sign-in/link/{SECRET}")
    made.request = f"<WSGIRequest: GET '/?{SECRET}'>"
    try:
        raise ValueError(f"/sign-in/link/{SECRET}")
    except ValueError as error:
        made.exc_info = (ValueError, error, error.__traceback__)
    assert SecretsFilter().filter(made)
    assert SECRET not in logging.Formatter().format(made) + str(vars(made))
    assert "ValueError" in logging.Formatter().format(made)


def test_a_record_that_cannot_be_formatted_does_not_stop_the_request() -> None:
    assert SecretsFilter().filter(record("%d and %d", "one"))
