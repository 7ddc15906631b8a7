"""The wheel of this folder as it stands, and environments outside of it that the wheel is installed into."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from gpudash import __version__
from tests.processes import ROOT

NAME = f"gpudash-{__version__}-py3-none-any.whl"
#: The only folder that it has, beside what `pip` knows it by.
FOLDER = "gpudash_app"


class Failed(AssertionError):
    """A command did not work; the text has what it printed."""


def wheel(folder: Path, source: Path = ROOT) -> Path:
    """As `make wheel` makes it, in seconds. source: a folder like this one."""
    run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)], source)
    return folder / NAME


def uv_program() -> Path:
    """uv of this machine, else the one that `make setup` brings along."""
    return Path(shutil.which("uv") or ROOT / ".tools" / "bin" / "uv")


def environment_with(folder: Path, *words: str | Path) -> Path:
    """A new Python environment with packages, named as for `uv pip install`; its folder of programs."""
    run([str(uv_program()), "venv", "--quiet", "--python", sys.executable, str(folder)], folder.parent)
    install = ["pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
    run([str(uv_program()), *install, *map(str, words)], folder)
    return folder / "bin"


def clean(home: Path, *programs: Path) -> dict[str, str]:
    """The environment of somebody who has no gpudash: a home of their own, no setting. programs: folders before PATH's."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GPUDASH_", "XDG_", "PYTHON", "VIRTUAL"))
    }
    # Packages that this machine has fetched before need not be fetched again.
    cache = Path.home() / ".cache"
    caches = {"UV_CACHE_DIR": str(cache / "uv"), "PIP_CACHE_DIR": str(cache / "pip")}
    path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
    return caches | kept | {"HOME": str(home), "PATH": path}


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    """What it prints. Raises Failed."""
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600
    )
    if done.returncode:
        raise Failed(f"$ {' '.join(command)}\n{done.stdout[-4000:]}\n(exit code {done.returncode})")
    return done.stdout
