"""Programs as their authors build them: from a Go module at one version, by `go install`, kept between runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.services import Missing, scratch

BUILD_S = 540


class Withheld(Missing):
    """The module is not to be had: no Go, one that is too old (as all of Debian's are), or a proxy of modules that lacks it."""


def program(package: str, version: str, setting: str) -> Path:
    """The built program. Raises Missing, and Withheld where `go install` fails, with its last words.

    package: of the program's `main`; its last part is its name. setting: a variable that may name one that is built already.
    """
    if named := os.environ.get(setting):
        return Path(named)
    name = package.rsplit("/", 1)[1]
    root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / name / version
    built = root / name
    if built.exists():
        return built
    if shutil.which("go") is None:
        raise Withheld(f"no Go here (go) to build {package} with, and {setting} names no program")
    command = ["go", "install", "-trimpath", f"{package}@{version}"]
    with scratch("go-install") as folder:
        done = subprocess.run(
            command, env={**os.environ, "GOBIN": str(folder)}, capture_output=True, text=True, timeout=BUILD_S
        )
        if done.returncode:
            raise Withheld(f"{' '.join(command)}: {' '.join(done.stderr.split())[-400:]}")
        root.mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / name, built.with_suffix(".part"))
        built.with_suffix(".part").rename(built)
    return built
