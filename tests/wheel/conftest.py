"""The wheel, built once, and people who install it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests import services
from tests.wheel import build


@dataclass
class Person:
    """Somebody with a home of their own, outside of the checkout. programs: what they have on their PATH besides."""

    home: Path
    programs: tuple[Path, ...] = ()
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return build.clean(self.home, self.home / ".local" / "bin", *self.programs)

    def types(self, command: str) -> str:
        """What a command prints. Raises Failed."""
        return build.run(["bash", "-c", command], self.home, self.environment)

    def starts(self, command: str) -> tuple[str, Path]:
        """A command that goes on, at a free port; the link that it prints and the file with all that it printed."""
        log = self.home / f"{len(self._running)}.log"
        words = f"exec {command} --port {services.free_port()}"
        with log.open("wb") as file:
            process = subprocess.Popen(
                ["bash", "-c", words], cwd=self.home, env=self.environment, stdout=file, stderr=file
            )
        self._running.append(process)

        def link() -> re.Match[str] | None:
            return re.search(r"http://\S+/sign-in/link/\S+", log.read_text())

        services.wait_until(lambda: link() is not None or process.poll() is not None, f"{command} prints a link", 240)
        found = link()
        assert found, log.read_text()
        return found[0], log

    def leaves(self) -> None:
        for process in self._running:
            services.end(process)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build.wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    """With uv."""
    made = Person(tmp_path_factory.mktemp("home"), (build.uv_program().parent,))
    yield made
    made.leaves()
