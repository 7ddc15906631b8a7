"""Twenty clients at once, in a process of their own: half of them people with a session, half programs with a token.

    python -m tests.soak.clients FILE   # a JSON object on standard input: site, names, password, tokens, nodes, seed

Each request becomes a line of FILE (a JSON array, the fields of `Asked`). Ends with SIGTERM.
"""

from __future__ import annotations

import faulthandler
import json
import signal
import sys
import threading
from pathlib import Path
from random import Random
from typing import IO, Any

from tests.soak.requests import TIMEOUT_S, Asked, Client, Site

#: Between two requests of one client, seconds.
PAUSE_S = (1.5, 4.0)
PAGES = (
    "",
    "nodes",
    "cards",
    "allocations",
    "allocations/pending",
    "allocations/idle",
    "namespaces",
    "namespaces/chargeback",
    "fit?cards=2&memory=20",
    "map",
    "findings",
    "clusters",
    "clusters/near",
    "clusters/far",
)
MORE_PAGES = (
    "validations",
    "validations/campaigns",
    "validations/suites",
    "search?q=train",
    "history?window=1h",
    "allocations?at=1h",
    "cards?from=24h",
    "nodes?q=gib",
    "nodes?columns=name,pool,model",
    "account",
    "docs/access",
    "views?of=nodes",
    "palette?q=gpu",
)
REST = ("summary", "clusters", "nodes", "cards", "allocations", "pods", "findings", "runs", "campaigns", "suites")
MORE_REST = (
    "nodes?format=csv",
    "cards?state=free&ordering=-memory_free_bytes",
    "pods?pending=true",
    "clusters/far",
    "clusters/far/history",
)


class Writer:
    """Lines of one file, from many threads."""

    def __init__(self, file: IO[str]) -> None:
        self._file, self._lock = file, threading.Lock()

    def __call__(self, asked: Asked) -> None:
        line = json.dumps(asked)
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()


class Person:
    """Signed in; opens pages, and leaves one open that asks for its live part again and again."""

    def __init__(self, client: Client, name: str, password: str, chance: Random, nodes: list[str]) -> None:
        self.client, self.name, self.password, self.chance, self.nodes = client, name, password, chance, nodes
        self.signed_in = False
        self._open, self._fingerprint = "", ""

    def step(self) -> None:
        if not self.signed_in:
            self.signed_in = self.client.sign_in(self.name, self.password)
        elif self._fingerprint and self.chance.random() < 0.6:
            self._refresh()
        else:
            self._look()

    def _look(self) -> None:
        some = self.chance.choice((*PAGES, *PAGES, *MORE_PAGES, f"nodes/near/{self.chance.choice(self.nodes)}"))
        answer = self.client.ask(f"page {_kind(some)}", f"/{some}")
        self._open, self._fingerprint = some, ""
        if answer is not None and answer.status == 200:
            _, found, rest = answer.body.partition(b'data-fingerprint="')
            self._fingerprint = rest.partition(b'"')[0].decode() if found else ""

    def _refresh(self) -> None:
        headers = {"HX-Request": "true", "X-Fingerprint": self._fingerprint}
        answer = self.client.ask(f"live {_kind(self._open)}", f"/{self._open}", headers)
        if answer is not None and answer.status in (200, 204):
            self._fingerprint = answer.headers.get("X-Fingerprint", self._fingerprint)


class Program:
    """With a token: REST, and now and then the metrics."""

    def __init__(self, client: Client, chance: Random) -> None:
        self.client, self.chance = client, chance

    def step(self) -> None:
        if self.chance.random() < 0.1:
            self.client.ask("metrics", "/metrics")
        elif self.chance.random() < 0.05:
            self.client.ask("healthz", "/healthz")
        else:
            some = self.chance.choice((*REST, *MORE_REST))
            self.client.ask(f"rest {_kind(some)}", f"/api/v1/{some}")


def _kind(target: str) -> str:
    """A name that many addresses share."""
    path, _, query = target.partition("?")
    parts = path.split("/")
    name = "/".join([*parts[:1], "…"] if parts[0] == "nodes" and len(parts) > 1 else parts) or "overview"
    return f"{name}?{query.partition('=')[0]}" if query else name


def main() -> None:
    given: dict[str, Any] = json.load(sys.stdin)
    site = Site(*given["site"])
    stopped = threading.Event()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # before the threads, which inherit it
    with Path(sys.argv[1]).open("w") as file:
        write = Writer(file)
        everybody: list[Person | Program] = []
        for number, name in enumerate(given["names"]):
            chance = Random(given["seed"] + number)
            everybody.append(Person(Client(site, write), name, given["password"], chance, given["nodes"]))
        for number, token in enumerate(given["tokens"]):
            everybody.append(Program(Client(site, write, token), Random(given["seed"] + 1000 + number)))
        threads = [threading.Thread(target=_live, args=(one, stopped)) for one in everybody]
        for thread in threads:
            thread.start()
        signal.sigwait({signal.SIGTERM})
        stopped.set()
        # Longer than any request may take; who is still at work then is told on standard error.
        faulthandler.dump_traceback_later(TIMEOUT_S + 10, exit=True)
        for thread in threads:
            thread.join()


def _live(one: Person | Program, stopped: threading.Event) -> None:
    chance = Random(id(one))
    while not stopped.wait(chance.uniform(*PAUSE_S)):
        one.step()


if __name__ == "__main__":
    main()
