"""A database and a broker with TLS and passwords: with the right CA both answer, with another neither is spoken to."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import encrypted, services
from tests.encrypted import PASSWORD, Certificates
from tests.processes import ROOT
from tests.services import Missing

pytestmark = [pytest.mark.sweep, pytest.mark.timeout(240)]

#: The parts that are asked as /readyz asks them, and what each says.
ASK = """
from gpudash.health import _state, check_broker, check_database
for name, check in (("database", check_database), ("broker", check_broker)):
    print(name, _state(name, check)["ok"])
"""
Settings = dict[str, str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def other(folder: Path) -> Certificates:
    """Of a CA that signed neither server."""
    return encrypted.certificates(folder / "other")


@pytest.fixture(scope="module")
def right(folder: Path) -> Iterator[Settings]:
    """Settings that reach both."""
    with ExitStack() as stack:
        try:
            tls = encrypted.certificates(folder / "right")
            database = stack.enter_context(encrypted.postgres(tls))
            broker = stack.enter_context(encrypted.redis(tls))
        except Missing as missing:
            services.or_skip(missing)
        yield {
            "GPUDASH_DATABASE_URL": f"{database}&sslmode=verify-full&sslrootcert={tls.ca}",
            "GPUDASH_DATABASE_PASSWORD": PASSWORD,
            "GPUDASH_BROKER_URL": broker,
            "GPUDASH_BROKER_PASSWORD": PASSWORD,
            "GPUDASH_BROKER_CA": str(tls.ca),
        }


def ask(tmp_path: Path, settings: Settings) -> tuple[list[str], str]:
    """(what each part says, all that was printed)."""
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--verbosity=0", "-c", ASK],
        cwd=ROOT,
        env={**os.environ, "GPUDASH_DATA_DIR": str(tmp_path), **settings},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split("\n")[:2], done.stdout + done.stderr


def test_both_answer_over_tls_with_their_passwords(right: Settings, tmp_path: Path) -> None:
    assert ask(tmp_path, right)[0] == ["database True", "broker True"]


def test_servers_of_another_ca_are_not_spoken_to(right: Settings, other: Certificates, tmp_path: Path) -> None:
    mine = right["GPUDASH_BROKER_CA"]
    wrong = {name: value.replace(mine, str(other.ca)) for name, value in right.items()}
    told, said = ask(tmp_path, wrong)
    assert told == ["database False", "broker False"]
    assert "certificate verify failed" in said
    assert PASSWORD not in said


def test_a_broker_whose_ca_nobody_named_is_not_spoken_to(right: Settings, tmp_path: Path) -> None:
    told, said = ask(tmp_path, right | {"GPUDASH_BROKER_CA": ""})
    assert told == ["database True", "broker False"]
    assert "certificate verify failed" in said


def test_wrong_passwords_are_refused_and_not_repeated(right: Settings, tmp_path: Path) -> None:
    wrong = "wr0ng-" + PASSWORD
    told, said = ask(tmp_path, right | {"GPUDASH_DATABASE_PASSWORD": wrong, "GPUDASH_BROKER_PASSWORD": wrong})
    assert told == ["database False", "broker False"]
    assert wrong not in said


def test_without_tls_neither_answers(right: Settings, tmp_path: Path) -> None:
    plain = {
        "GPUDASH_DATABASE_URL": right["GPUDASH_DATABASE_URL"].replace("verify-full", "disable"),
        "GPUDASH_BROKER_URL": right["GPUDASH_BROKER_URL"].replace("rediss:", "redis:"),
        "GPUDASH_BROKER_CA": "",
    }
    assert ask(tmp_path, right | plain)[0] == ["database False", "broker False"]
