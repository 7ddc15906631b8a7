"""Probes and scrapes ask by address, in production too; every other address wants a host name that is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web import BEHIND_PROXY, HOST, TLS, Web, web

HOSTS = [
    None,
    "10.42.0.17:8000",
    "[fd00::17]:8000",
    "evil.example",
    "a b",
    "..",
    "<script>",
    "",
    "a, b",
    "\xff",
    "x" * 5000,
]


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, migrated_file: Path) -> Iterator[Web]:
    """With TLS, as a team has it."""
    folder = tmp_path_factory.mktemp("strict")
    chosen = {"GPUDASH_TLS": "true", "GPUDASH_BEHIND_PROXY": "true", "GPUDASH_BASE_PATH": "/gpudash"}
    with web(folder, migrated_file, *BEHIND_PROXY, **chosen) as made:
        yield made


@pytest.mark.parametrize("host", HOSTS)
def test_a_probe_is_answered_whatever_the_host(strict: Web, host: str | None) -> None:
    for base in ("", "/gpudash"):
        wanted = {"/healthz": 200, "/readyz": 200, "/metrics": 401, "/metrics/self": 401}
        assert {path: strict.ask(base + path, host=host).status for path in wanted} == wanted


@pytest.mark.parametrize("host", HOSTS)
def test_nothing_else_is(strict: Web, host: str | None) -> None:
    for path in ("/sign-in", "/", "/api/v1/cards", "/healthz/", "/healthzx", "/metrics/x", "/i18n/setlang/"):
        assert strict.ask(path, f"X-Forwarded-Host: {HOST}", host=host).status == 400


def test_all_but_probes_goes_to_tls(strict: Web) -> None:
    answer = strict.ask("/gpudash/sign-in")
    assert (answer.status, answer.headers["location"]) == (301, f"https://{HOST}/gpudash/sign-in")


def test_a_page_is_found_with_and_without_the_base_path(strict: Web) -> None:
    for path in ("/gpudash", "/gpudash/", "/"):
        assert strict.ask(path, TLS).headers["location"] == "/gpudash/sign-in?next=/gpudash/"
    assert strict.ask("/gpudash/sign-in", TLS).status == strict.ask("/sign-in", TLS).status == 200
    assert strict.ask("/gpudashx/sign-in", TLS).status == 404
