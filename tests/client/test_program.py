"""The program as it is started: what it loads, its exit code, a reader that goes away."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

from client.main import parser
from client.verbs import VERBS
from tests.processes import ROOT

#: Loaded at a start, beside the standard library.
_OURS = "import sys; from client import main; print(*sorted(one for one in sys.modules if '.' not in one))"


def started(*words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "client", *words],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_it_loads_the_standard_library_and_itself() -> None:
    done = subprocess.run([sys.executable, "-S", "-c", _OURS], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded - set(sys.stdlib_module_names) <= {"client", "__main__"}


def test_it_says_what_it_can() -> None:
    done = started("--help")
    assert done.returncode == 0
    for verb in ("free", "fit", "who", "why", "validate", "components"):
        assert f"\n    {verb}" in done.stdout
        assert started(verb, "--help").returncode == 0


def test_exit_codes() -> None:
    assert started("nothing").returncode == 2
    done = started("free", "--server", "http://127.0.0.1:1", environment={"GPUDASH_TOKEN": "x", "NO_PROXY": "*"})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: Cannot reach http://127.0.0.1:1: Connection refused\n"


_CLOSED = """
import os, sys
from client import main

reading, writing = os.pipe()
os.close(reading)
os.dup2(writing, 1)
main._told = lambda *_: (main.Told({}, []), ["x" * 100_000])
sys.exit(main.main(["free", "--server", "x"]))
"""


def test_a_reader_that_goes_away_is_no_error() -> None:
    environment = {**os.environ, "GPUDASH_TOKEN": "x"}
    words = [sys.executable, "-c", _CLOSED]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_wheel_has_a_command_that_kubectl_finds() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts["kubectl-gpudash"].removeprefix("gpudash_app.").partition(":")
    assert callable(getattr(import_module(module), function))
    assert Path(ROOT, *module.split(".")).with_suffix(".py").exists()


def test_the_docs_show_what_it_takes() -> None:
    """docs/kubectl.md: each verb with its options, and each command."""
    text = (ROOT / "docs" / "kubectl.md").read_text(encoding="utf-8")
    shown = [row.partition("`")[2].partition("`")[0] for row in text.splitlines() if row.startswith("| `")]
    assert {row.split()[0] for row in shown} == set(VERBS)
    calls = [re.sub(r"[\[\]]", "", row).replace("NODE/CARD", "NODE") for row in shown]
    calls += re.findall(r"^\$ kubectl gpudash (.+)$", text, re.MULTILINE)
    assert len(calls) > len(VERBS)
    for call in calls:
        parser().parse_args(call.split())
