"""The whole OpenAPI document, asked by schemathesis as everybody who may ask: what comes back is what the document says.

The first cases of each operation are sent by every identity, the others by a third of them in turn: as they came, or with names of
things that exist, so that they get further than "there is no such thing". The cases are the same each time. What a request changes is
rolled back, and nothing that it would start after its transaction is started.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.test import override_settings
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import FailureGroup
from schemathesis.pytest.lazy import get_all_tests

from tests.api.everybody import Identity, Known, everybody, what_exists
from tests.processes import ROOT

pytestmark = [pytest.mark.sweep, pytest.mark.django_db, pytest.mark.timeout(900)]

_NAMES = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
)
#: In two halves, for two processes. Whatever is not in the first is in the second.
_VALIDATIONS = "^/api/v1/(runs|campaigns|suites|tokens|users)"
#: Cases of data that fits which every identity sends, of each operation.
BY_EVERYBODY = 6
as_often = settings(
    max_examples=15,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
#: The transport takes compressed answers as they are.
_PLAIN = {"Accept-Encoding": "identity"}
load_all_checks()


@pytest.fixture(autouse=True)
def _connection_of_the_test_stays() -> Iterator[None]:
    """As Django's own test client does it: a request ends, and its test's transaction does not."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@dataclass
class Sweep:
    """Everybody, and what came back. wrong: text → who asked for what; statuses: (identity, status) → how often."""

    identities: list[Identity]
    known: Known
    cases: int = 0
    sent: Counter[str] = field(default_factory=Counter)
    wrong: dict[str, list[str]] = field(default_factory=dict)
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    checks = CHECKS.get_by_names(list(_NAMES))

    def ask(self, case: Case[Any]) -> None:
        for number, identity in enumerate(self.identities, start=self.cases):
            if self._is_spared(case, number):
                continue
            self._send(self._of_what_exists(case, number) if number % 2 else case.derive(), identity)
        self.cases += 1
        self.sent[case.operation.label] += not _does_not_fit(case)

    def _is_spared(self, case: Case[Any], number: int) -> bool:
        """Data that does not fit is refused before it matters who asks; after some that fits, only a value is another."""
        by_everybody = self.sent[case.operation.label] < BY_EVERYBODY and not _does_not_fit(case)
        return not by_everybody and number % 3 != 0

    def _send(self, case: Case[Any], identity: Identity) -> None:
        with transaction.atomic():
            response = case.call(headers={**identity.headers, **_PLAIN}, cookies=identity.cookies)
            transaction.set_rollback(True)
        self.statuses[identity.name, response.status_code] += 1
        try:
            case.validate_response(response, checks=self.checks)
        except FailureGroup as group:
            for one in group.exceptions:
                told = f"{case.operation.label} {response.status_code} {one.title}: {one.message}"
                self.wrong.setdefault(told, []).append(f"{case.formatted_path} {case.query} as {identity.name}")

    def _of_what_exists(self, case: Case[Any], number: int) -> Case[Any]:
        """The same with names that are there, one parameter at most, and one member of the body in a body that is taken."""
        turn = number // 2
        made = case.derive(query=_one_of(case.query, turn))
        for name in case.path_parameters:
            made.path_parameters[name] = self._value("cluster" if "/clusters/" in case.path else name, turn)
        drafts = self.known.bodies.get(case.path, ())
        if drafts and isinstance(case.body, dict):
            made.body = {**drafts[turn % len(drafts)], **_one_of(case.body, turn)}
        return made

    def _value(self, name: str, turn: int) -> str:
        values = self.known.values[name]
        return values[turn % len(values)]


def _does_not_fit(case: Case[Any]) -> bool:
    return case.meta is not None and case.meta.generation.mode is GenerationMode.NEGATIVE


def _one_of(members: dict[str, Any], turn: int) -> dict[str, Any]:
    """One of them, or, once in each round, none."""
    names = [*members, None]
    name = names[turn % len(names)]
    return {} if name is None else {name: members[name]}


@pytest.fixture(scope="module")
def document() -> Any:
    generation = {"deterministic": True, "with-security-parameters": False, "database": "none"}
    config = SchemathesisConfig.from_dict({"generation": generation})
    loaded = schemathesis.openapi.from_path(ROOT / "docs" / "openapi.yaml", config=config)
    loaded.app = get_wsgi_application()
    return loaded


@pytest.fixture
def sweep(db: None) -> Iterator[Sweep]:
    """Fails the test in the end when an answer was not what the document says. Without log lines: there are thousands."""
    known = what_exists()
    made = Sweep(everybody(), known)
    logging.disable(logging.CRITICAL)
    with override_settings(REQUESTS_PER_MINUTE=0, REQUESTS_PER_MINUTE_ADDRESS=0):
        yield made
    logging.disable(logging.NOTSET)
    counts = Counter(identity for identity, _ in made.statuses.elements())
    print(f"{made.cases} cases, {counts.total()} requests: {dict(counts)}")
    print(sorted(made.statuses.items()))
    assert not made.wrong, "\n".join(f"{len(asked)} × {told}\n    {asked[0]}" for told, asked in made.wrong.items())[
        :20_000
    ]
    let_in = {identity for identity, status in made.statuses if status == 200}
    assert let_in == {one.name for one in made.identities if one.may}


def _ask_all(document: Any, sweep: Sweep) -> None:
    """What `@document.parametrize()` runs, of a document that is read only where the test is run.

    Its own way to that, `from_fixture`, writes to what pytest 9 lets nobody write to.
    """

    def ask(case: Case[Any]) -> None:
        sweep.ask(case)

    for made in get_all_tests(schema=document, test_func=ask, settings=as_often, given_kwargs={}):
        _operation, test = made.ok()
        test()


def test_validations_and_tokens(document: Any, sweep: Sweep) -> None:
    _ask_all(document.include(path_regex=_VALIDATIONS), sweep)
    assert {status for _, status in sweep.statuses} >= {200, 201, 202, 204, 400, 401, 403, 404, 409}


def test_all_else(document: Any, sweep: Sweep) -> None:
    _ask_all(document.exclude(path_regex=_VALIDATIONS), sweep)
    assert {status for _, status in sweep.statuses} >= {200, 202, 400, 401, 403, 404}
