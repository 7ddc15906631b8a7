"""Tries at the same moment, against the web process of a team, on both databases: none slips past the limit."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.cast import PASSWORD
from tests.services import Missing, or_skip, postgres
from tests.web import BEHIND_PROXY, Answer, Web, migrated, web

pytestmark = pytest.mark.sweep

FORM = "Content-Type: application/x-www-form-urlencoded"
CSRF = "c" * 32
TRIES = 24


@pytest.fixture(params=["sqlite", "postgresql"])
def process(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Web]:
    """Behind a proxy on the same host."""
    proxied = {"GPUDASH_BEHIND_PROXY": "true", "GPUDASH_PASSWORD_CHECKS": "4"}
    if request.param == "sqlite":
        with web(tmp_path, request.getfixturevalue("migrated_file"), *BEHIND_PROXY, **proxied) as made:
            yield made
        return
    try:
        with postgres() as server:
            url = migrated(tmp_path, server.create("door"))
            with web(tmp_path, url, *BEHIND_PROXY, **proxied) as made:
                yield made
    except Missing as missing:
        or_skip(missing)


def sign_in(process: Web, address: str, password: str = "wrong", name: str = "vera") -> Answer:
    body = urlencode({"username": name, "password": password, "csrfmiddlewaretoken": CSRF}).encode()
    headers = (FORM, f"Cookie: gpudash_csrf={CSRF}", f"X-Forwarded-For: 203.0.113.1, {address}")
    return process.ask("/sign-in", *headers, method="POST", body=body)


def test_tries_at_the_same_moment_are_counted_one_by_one(process: Web) -> None:
    process.processes.call_with_input(f"{PASSWORD}\n", "user", "create", "vera", "--password-stdin")
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: sign_in(process, "192.0.2.1"), range(TRIES)))
    statuses = Counter(answer.status for answer in answers)
    assert set(statuses) <= {200, 429, 503}
    assert statuses[200] <= 5
    assert all(int(answer.headers["retry-after"]) > 0 for answer in answers if answer.status != 200)
    while sign_in(process, "192.0.2.1").status == 200:
        statuses[200] += 1
    assert statuses[200] == 5
    # Nobody else is held up, and what a client writes into the header itself counts for nothing.
    assert sign_in(process, "192.0.2.2", PASSWORD).status == 302
    # A refusal is quick: it hashes nothing.
    started = time.monotonic()
    assert [sign_in(process, "192.0.2.1").status for _ in range(20)] == [429] * 20
    assert time.monotonic() - started < 4.0
