"""Visitors of the benchmark `shared`: each a thread with a connection and a session of its own, asking as fast as it is answered.

They behave as browsers and programs do: text is taken compressed, a live part is asked for with the fingerprint of the last one.
"""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

#: (name, path, weight). "{n}" is a number that hardly comes twice: what nobody else has asked for.
MIX = (
    ("overview", "/", 3),
    ("cards", "/cards", 3),
    ("nodes", "/nodes", 3),
    ("allocations", "/allocations", 3),
    ("overview, part", "/", 6),
    ("cards, part", "/cards", 6),
    ("nodes, part", "/nodes", 6),
    ("allocations, part", "/allocations", 6),
    ("rest summary", "/api/v1/summary", 1),
    ("rest nodes", "/api/v1/nodes", 2),
    ("rest cards", "/api/v1/cards", 2),
    ("rest allocations", "/api/v1/allocations", 2),
    ("healthz", "/healthz", 3),
    ("cards of a node", "/cards?node=gpu-{n}", 1),
    ("rest cards of a node", "/api/v1/cards?node=gpu-{n}", 1),
)
SAID_S = 60.0


@dataclass
class Visitor:
    """One of them. seconds: of each answer by name, of those that began after `counted_from` (of the monotonic clock)."""

    number: int
    port: int
    session: str
    nodes: int
    counted_from: float
    until: float
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    bad: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    received: int = 0

    def run(self) -> None:
        chance = random.Random(self.number)
        fingerprints: dict[str, str] = {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SAID_S)
        while time.monotonic() < self.until:
            name, path, _ = chance.choices(MIX, [weight for _, _, weight in MIX])[0]
            path = path.format(n=f"{chance.randrange(self.nodes):05d}")
            headers = {"Cookie": f"gpudash_session={self.session}", "Accept-Encoding": "gzip"}
            if name.endswith("part"):
                headers |= {"HX-Request": "true", "X-Fingerprint": fingerprints.get(path, "")}
            started = time.monotonic()
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
            took = time.monotonic() - started
            fingerprints[path] = answer.headers.get("X-Fingerprint", "") or fingerprints.get(path, "")
            if started >= self.counted_from:
                self._count(name, took, answer.status, len(body))

    def _count(self, name: str, took: float, status: int, received: int) -> None:
        self.seconds[name].append(took)
        self.received += received
        if status not in (200, 204):
            self.bad[f"{name}: {status}"] += 1


def visit(port: int, sessions: Sequence[str], nodes: int, warm_s: float, seconds: float) -> list[Visitor]:
    """All at once: some seconds that are not counted, then those that are."""
    counted_from = time.monotonic() + warm_s
    visitors = [
        Visitor(number, port, session, nodes, counted_from, counted_from + seconds)
        for number, session in enumerate(sessions)
    ]
    threads = [threading.Thread(target=visitor.run) for visitor in visitors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return visitors
