"""Who uses the installation: people who sign in, and tokens of programs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.processes import ROOT
from tests.services import end
from tests.soak.bed import Bed
from tests.soak.requests import Asked

PASSWORD = "correct horse battery staple"
PEOPLE = PROGRAMS = 10


def people() -> list[str]:
    """Names of viewers who can sign in."""
    from django.contrib.auth.hashers import make_password
    from django.contrib.auth.models import User

    from accounts.roles import Role, set_role

    hashed = make_password(PASSWORD)
    names = [f"person-{number}" for number in range(PEOPLE)]
    for name in names:
        set_role(User.objects.create(username=name, password=hashed), Role.VIEWER)
    return names


def token(name: str, operator: bool = False) -> str:
    """The text of a token of a new user."""
    from django.contrib.auth.models import User
    from django.utils import timezone

    from accounts.models import ApiToken
    from accounts.roles import Role, set_role

    role = Role.OPERATOR if operator else Role.VIEWER
    user = User.objects.create_user(name)
    set_role(user, role)
    return ApiToken.issue(user, "soak", role, timezone.now() + timedelta(days=30))[1]


class Clients:
    """The process of the clients."""

    def __init__(self, bed: Bed, file: Path, seed: int, nodes: list[str]) -> None:
        self.file = file
        self._given: dict[str, Any] = {
            "site": bed.site,
            "names": people(),
            "password": PASSWORD,
            "tokens": [token(f"program-{number}") for number in range(PROGRAMS)],
            "nodes": nodes,
            "seed": seed,
        }
        self._log = bed.folder / "clients.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.soak.clients", str(self.file)]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=log, stderr=log)
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(self._given).encode())
        self._process.stdin.close()

    def stop(self) -> str:
        """Why it did not go well, "" when it did."""
        if self._process is None:
            return "never started"
        self._process.send_signal(signal.SIGTERM)
        end(self._process, 120.0)
        said = self._log.read_text(errors="replace")
        return f"code {self._process.returncode}: {said[-1000:]}" if said or self._process.returncode else ""

    def asked(self, others: Sequence[Asked]) -> list[Asked]:
        """All requests, those of others too, which the file gets as well."""
        with self.file.open("a") as file:
            file.writelines(json.dumps(one) + "\n" for one in others)
        return [Asked(*json.loads(line)) for line in self.file.read_text().splitlines()]
