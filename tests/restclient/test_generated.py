"""A client that openapi-python-client makes of docs/openapi.yaml works: docs/rest.md, word by word, and the rest of its promises.

So the document is usable by programs that read it, not only valid.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.reading import ROOT, blocks
from tests.processes import Processes
from tests.team import page
from tests.web import HOST, PRODUCTION, Web, web
from tests.wheel import build

pytestmark = [pytest.mark.team, pytest.mark.timeout(600)]

REST = ROOT / "docs" / "rest.md"
LOCK = ROOT / "tools" / "restclient" / "requirements.lock"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an environment with the generator."""
    return build.environment_with(tmp_path_factory.mktemp("generator") / "env", "--require-hashes", "-r", LOCK)


@pytest.fixture(scope="module")
def served(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, str]]:
    """A running gpudash, and a token of an operator."""
    folder = tmp_path_factory.mktemp("web")
    filled = folder / "filled.sqlite3"
    shutil.copy(migrated_file, filled)
    processes = Processes(folder, f"sqlite:///{filled}", **PRODUCTION)
    with (folder / "token").open("wb") as out:
        processes.python("-m", "tests.restclient.fill", stdout=out)
    with web(folder, filled, GPUDASH_ALLOWED_HOSTS=f"{HOST},127.0.0.1") as running:
        yield running, (folder / "token").read_text().strip()


@pytest.fixture(scope="module")
def generated(programs: Path, served: tuple[Web, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that has the client, made as the page says, of the document that is served: that of docs/openapi.yaml."""
    folder = tmp_path_factory.mktemp("client")
    fetch, generate = page.steps("Python client", REST)
    running, token = served
    environment = {**build.clean(folder, programs), "TOKEN": token, "NO_PROXY": "*"}
    build.run(["bash", "-c", fetch.command.replace("127.0.0.1:8000", f"127.0.0.1:{running.port}")], folder, environment)
    printed = build.run(["bash", "-c", generate.command], folder, environment)
    # Of a badge, which is a picture, there is nothing to make.
    assert re.findall("WARNING parsing (.*) within", printed) == ["GET /api/v1/usable.svg"], printed
    return folder


def test_each_module_of_it_is_imported(programs: Path, generated: Path) -> None:
    """Nothing of the document was left out, and no two things have one name."""
    each = "pkgutil.walk_packages(gpudash_client.__path__, 'gpudash_client.')"
    program = f"import gpudash_client, importlib, pkgutil\nfor one in {each}:\n    importlib.import_module(one.name)"
    build.run([str(programs / "python"), "-W", "error", "-c", program], generated)


def test_its_types_are_right(programs: Path, generated: Path) -> None:
    # The generator's own module of the connection hands what it knows as `object` on to httpx.
    (generated / "mypy.ini").write_text("[mypy]\n[mypy-gpudash_client.client]\nignore_errors = True\n")
    mypy = [sys.executable, "-m", "mypy", "--python-executable", str(programs / "python"), "--config-file", "mypy.ini"]
    build.run([*mypy, "gpudash_client"], generated)


def says(programs: Path, generated: Path, served: tuple[Web, str], program: str) -> list[str]:
    running, token = served
    environment = {**build.clean(generated, programs), "TOKEN": token, "NO_PROXY": "*"}
    text = program.replace("https://gpudash.example.com", f"http://127.0.0.1:{running.port}")
    done = subprocess.run(
        [str(programs / "python"), "-W", "error", "-c", text],
        cwd=generated,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_the_lines_of_the_page_work(programs: Path, generated: Path, served: tuple[Web, str]) -> None:
    [program] = blocks(REST, "python")
    assert says(programs, generated, served, program) == ["large GPU-large-0 80 GiB", "large GPU-large-2 80 GiB"]


PROGRAM = """
import os
from gpudash_client import AuthenticatedClient
from gpudash_client.api.cards import cards_list
from gpudash_client.api.components import components_list
from gpudash_client.api.fit import fit_retrieve
from gpudash_client.api.runs import runs_create, runs_retrieve
from gpudash_client.models import CardsListStateItem, Problem, RunDraft

client = AuthenticatedClient("https://gpudash.example.com", os.environ["TOKEN"])
"""


@pytest.mark.parametrize(
    ("program", "printed"),
    [
        (
            "found = fit_retrieve.sync(client=client, cards=2, memory='20Gi')\n"
            "print(found.nodes_fitting, found.fitting[0].node, found.fitting[0].limits.to_dict(), found.reasons[0].code)",
            ["1 large {'nvidia.com/gpu': 2} one-card"],
        ),
        (
            "answer = runs_create.sync_detailed(client=client, body=RunDraft(suite='cuda-vectoradd', node='large'))\n"
            "run = runs_retrieve.sync(answer.parsed.id, client=client)\n"
            "print(answer.status_code.value, run.suite, run.state, run.verdict, run.created_at.utcoffset(), run.ended_at)",
            ["201 cuda-vectoradd queued None 0:00:00 None"],
        ),
        (
            "found = components_list.sync(client=client, node=['large'])\n"
            "print([(one.name, one.state, one.version) for one in found.results if one.name == 'driver'], found.next_)",
            ["[('driver', 'crash-looping', None)] None"],
        ),
        (
            "found = cards_list.sync(client=client, state=[CardsListStateItem.FREE])\n"
            "print(*sorted((one.node, one.key, one.state) for one in found.results))",
            ["('large', 'GPU-large-0', 'free') ('large', 'GPU-large-2', 'free') ('small', '0', 'free')"],
        ),
        (
            "answer = cards_list.sync_detailed(client=client, min_free_bytes='many')\n"
            "print(answer.status_code.value, isinstance(answer.parsed, Problem), answer.parsed.errors[0].field)",
            ["400 True min_free_bytes"],
        ),
    ],
    ids=["find capacity", "start and read a run", "components", "cards with a filter", "a problem"],
)
def test_what_a_program_does(
    programs: Path, generated: Path, served: tuple[Web, str], program: str, printed: list[str]
) -> None:
    assert says(programs, generated, served, PROGRAM + program) == printed
