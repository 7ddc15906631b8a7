"""Every address × every method × what no well-meaning client sends: an answer below 500, for programs as problem details.

The addresses come from the URL configuration, so a new one is asked too. Run on PostgreSQL as well (`make test-postgres`): it
refuses null characters and half characters that SQLite stores.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.utils.translation import get_language
from drf_spectacular.generators import SchemaGenerator

from accounts.roles import Role
from inventory.models import Cluster
from tests.api.hostile_addresses import DRAFTS, FILTERS, Addresses, names
from tests.api.hostile_values import BODIES, HEADERS, JSON_VALUES, METHODS, PROBLEM, VALUES
from tests.cast import bearer, make_token, make_user, signed_in

#: Thousands of requests each: minutes on a loaded machine.
pytestmark = [pytest.mark.sweep, pytest.mark.timeout(600)]

_DOCUMENTS: dict[tuple[Any, ...], Any] = {}


@pytest.fixture(autouse=True)
def document_is_generated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """REST's document is the same for every request in the same language, and takes longer than a hundred of them."""
    generate = SchemaGenerator.get_schema

    def get_schema(self: SchemaGenerator, request: Any = None, public: bool = False) -> Any:
        key = (get_language(), self.api_version, public)
        if key not in _DOCUMENTS:
            _DOCUMENTS[key] = generate(self, request, public)
        return _DOCUMENTS[key]

    monkeypatch.setattr(SchemaGenerator, "get_schema", get_schema)


@pytest.fixture
def addresses(db: None) -> Addresses:
    return Addresses()


class Answers:
    """What came back, so far as it is wrong."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def look(self, asked: str, response: HttpResponseBase) -> int:
        status, kind = response.status_code, response.headers.get("Content-Type", "")
        if status >= 500 or ("/api/" in asked and status >= 400 and kind != PROBLEM):
            self.wrong.append(f"{status} {kind} {asked[:400]}")
        if response.streaming:
            b"".join(response)  # what is made while it is sent may fail too
        return status


class Asking:
    """Asks as an administrator: pages with a session, REST with a token. Nothing is refused for want of a role."""

    def __init__(self) -> None:
        user = make_user("ada", Role.ADMIN)
        self._page, self._program = signed_in(user), bearer(make_token(user, Role.ADMIN))
        self._page.raise_request_exception = self._program.raise_request_exception = False
        self.answers = Answers()

    def __call__(self, method: str, address: str, body: bytes = b"", kind: str = "", **extra: str) -> int:
        client = self._program if address.startswith(("/api/", "/metrics")) else self._page
        response = client.generic(method, address, body, content_type=kind, **extra)
        return self.answers.look(f"{method} {address} {kind} {body[-150:]!r} {extra}", response)

    def takes(self, method: str, address: str) -> bool:
        return self(method, address) not in (404, 405)


@pytest.fixture
def asking(addresses: Addresses) -> Iterator[Asking]:
    """Fails the test in the end when an answer was wrong. Without log lines: there are thousands."""
    made = Asking()
    logging.disable(logging.CRITICAL)
    yield made
    logging.disable(logging.NOTSET)
    assert not made.answers.wrong, "\n".join(made.answers.wrong[:50])


def test_every_method(addresses: Addresses, asking: Asking) -> None:
    for route in addresses.routes:
        for method in METHODS:
            asking(method, addresses.of(route))


def test_every_part_of_a_path(addresses: Addresses, asking: Asking) -> None:
    for route in addresses.routes:
        for part in addresses.parts(route):
            for value in VALUES:
                for method in ("GET", "POST", "DELETE"):
                    asking(method, addresses.of(route, **{part: value}))


def test_every_parameter(addresses: Addresses, asking: Asking) -> None:
    values = cycle(VALUES)
    for route in (route for route in addresses.routes if asking.takes("GET", addresses.of(route))):
        for name in names(route):
            asking("GET", f"{addresses.of(route)}?{name}={next(values)}")


@pytest.mark.parametrize(
    "list_name", ["nodes", "cards", "allocations", "pods", "findings", "clusters", "runs", "campaigns"]
)
def test_every_value_of_the_parameters_of_a_list(addresses: Addresses, asking: Asking, list_name: str) -> None:
    known = FILTERS[list_name].base_filters
    for name in (*known, "page_size", "cursor", "ordering", "format"):
        for value in VALUES:
            asking("GET", f"/api/v1/{list_name}?{name}={value}")
        asking("GET", f"/api/v1/{list_name}?{name}=a&{name}=%00" + f"&{name}=" * 200)


def test_every_body(addresses: Addresses, asking: Asking) -> None:
    for route in (route for route in addresses.routes if asking.takes("POST", addresses.of(route))):
        for kind, body in BODIES:
            asking("POST", addresses.of(route), body, kind)


def test_every_member_of_a_body(addresses: Addresses, asking: Asking) -> None:
    for address, draft in DRAFTS:
        for member, usual in draft.items():
            others = json.dumps({name: other for name, other in draft.items() if name != member})[:-1]
            for value in JSON_VALUES:
                for given in _in_place_of(usual, value):
                    asking("POST", address, f'{others}, "{member}": {given}}}'.encode(), "application/json")


def _in_place_of(usual: object, value: str) -> list[str]:
    """The value itself, and inside of what usually stands there."""
    if isinstance(usual, dict):
        return [value, *(f'{{"{name}": {value}}}' for name in ("node", "image", "x"))]
    return [value, f'[{{"node": {value}}}]'] if isinstance(usual, list) else [value]


def test_every_header(addresses: Addresses, asking: Asking) -> None:
    for route in (route for route in addresses.routes if asking.takes("GET", addresses.of(route))):
        for headers in HEADERS:
            asking("GET", addresses.of(route), **headers)


def test_a_visitor_without_a_session_gets_no_further(addresses: Addresses, asking: Asking) -> None:
    visitor = Client(raise_request_exception=False)
    for headers in HEADERS:
        for address in ("/", "/sign-in", "/api/v1/cards", "/metrics", "/healthz", "/no-such-page"):
            asking.answers.look(f"{address} {headers}", visitor.get(address, **headers))
    for kind, body in BODIES:
        for address in ("/sign-in", "/i18n/setlang/", "/account/theme", "/api/v1/runs", "/sign-in/link/x"):
            response = visitor.generic("POST", address, body, content_type=kind)
            asking.answers.look(f"{address} {kind} {body[:60]!r}", response)


@pytest.mark.parametrize("size", ["0000000010000000", "000000001" + "0" * 21, "9" * 30, "01001", "١٠"])
def test_a_page_size_is_what_it_says(addresses: Addresses, asking: Asking, size: str) -> None:
    for address in ("/api/v1/cards", "/nodes"):
        assert asking("GET", f"{address}?page_size={size}") == 400


ADMINISTRATORS = tuple(f"api/v1/{name}" for name in ("audit", "users", "channels", "notification-rules", "deliveries"))


def test_options_lists_the_methods(addresses: Addresses, api: Client) -> None:
    for route in (route for route in addresses.routes if route.startswith("api/v1/") and "schema" not in route):
        answer = api.options(addresses.of(route))
        if route.strip("/").startswith(ADMINISTRATORS):
            assert answer.status_code == 403  # only administrators learn anything of them
            continue
        assert answer.status_code == 200
        assert answer.json()["methods"] == answer.headers["Allow"].split(", ")


@pytest.mark.parametrize(
    "kind", ["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
@pytest.mark.parametrize("length", [(1 << 20) + 1, 10**30])
def test_a_body_is_refused_by_its_length(addresses: Addresses, asking: Asking, kind: str, length: int) -> None:
    for address in ("/api/v1/runs", "/api/v1/no-such-thing", "/sign-in", "/validations/new"):
        assert asking("POST", address, b"x", kind, CONTENT_LENGTH=str(length)) == 413


def test_a_body_of_a_mebibyte_is_read(addresses: Addresses, asking: Asking) -> None:
    body = b'{"name": "%s"}' % (b"x" * ((1 << 20) - 12))
    assert len(body) == 1 << 20
    assert asking("POST", "/api/v1/tokens", body, "application/json") == 400
    assert asking("POST", "/api/v1/tokens", body + b" ", "application/json") == 413


def test_a_null_character_is_named_by_its_field(api: Client, cluster: Cluster) -> None:
    body = {"suite": "cuda-vectoradd", "node": "n", "options": {"a": ["\0"]}, "card": "\0"}
    answer = api.post("/api/v1/runs/preview", body, content_type="application/json")
    assert sorted(error["field"] for error in answer.json()["errors"]) == ["card", "options"]
