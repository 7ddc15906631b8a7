"""Visitors of the benchmark `shared`: each a thread with a connection and a session of its own, asking as fast as it is answered.

They behave as browsers and programs do: text is taken compressed, a live part is asked for with the fingerprint of the last one.
"""

from __future__ import annotations

import http.client
import random
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.answers import HTML, JSON, REST_LIST, TEXT, Answers, Right

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
#: What a right answer has, by name: a link to what is shown, which an empty page has not.
RIGHT = {
    "overview": Right(HTML, b'href="/cards/'),
    "cards": Right(HTML, b'href="/cards/'),
    "nodes": Right(HTML, b'href="/nodes/'),
    "allocations": Right(HTML, b'href="/nodes/'),
    "cards of a node": Right(HTML, b'href="/cards/'),
    "rest summary": Right(JSON, b'"totals":{"nodes":'),
    **dict.fromkeys(("rest nodes", "rest cards", "rest allocations", "rest cards of a node"), REST_LIST),
    "healthz": Right(TEXT, b"ok"),
}
SAID_S = 60.0
#: After a connection that broke, before the next: a server that is away is not asked without end.
BROKEN_S = 0.1


@dataclass
class Visitor:
    """One of them. probes: the port that is asked for /healthz, 0 for that of the pages.

    seconds: of each right answer by name, of those that began after `counted_from` (of the monotonic clock)."""

    number: int
    port: int
    session: str
    nodes: int
    counted_from: float
    until: float
    mix: Sequence[tuple[str, str, int]] = MIX
    probes: int = 0
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    answers: Answers = field(default_factory=Answers)
    received: int = 0

    def run(self) -> None:
        chance = random.Random(self.number)
        fingerprints: dict[str, str] = {}
        of_pages, of_probes = (
            http.client.HTTPConnection("127.0.0.1", port, timeout=SAID_S)
            for port in (self.port, self.probes or self.port)
        )
        while time.monotonic() < self.until:
            name, path, _ = chance.choices(self.mix, [weight for _, _, weight in self.mix])[0]
            connection = of_probes if name == "healthz" else of_pages
            path = path.format(n=f"{chance.randrange(self.nodes):05d}")
            headers = {"Cookie": f"gpudash_session={self.session}", "Accept-Encoding": "gzip"}
            if name.endswith("part"):
                headers |= {"HX-Request": "true", "X-Fingerprint": fingerprints.get(path, "")}
            started = time.monotonic()
            try:
                connection.request("GET", path, headers=headers)
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.answers.count(f"{name}: {type(error).__name__}")
                connection.close()
                time.sleep(BROKEN_S)
                continue
            took = time.monotonic() - started
            why_not = _why_not(name, answer, body, bool(headers.get("X-Fingerprint")))
            if not why_not:
                fingerprints[path] = answer.headers.get("X-Fingerprint", "") or fingerprints.get(path, "")
            if started >= self.counted_from:
                self.received += len(body)
                if self.answers.count(f"{name}: {why_not}" if why_not else ""):
                    self.seconds[name].append(took)
        of_pages.close()
        of_probes.close()


def _why_not(name: str, answer: http.client.HTTPResponse, body: bytes, known: bool) -> str:
    """What is wrong with an answer, "" for nothing. known: it was asked with a fingerprint, so that nothing new is right as well."""
    if known and name.endswith("part") and answer.status == 204:
        return "" if not body else "204 with a body"
    if answer.headers.get("Content-Encoding") == "gzip" and answer.status == 200:
        body = zlib.decompress(body, wbits=31)
    return RIGHT[name.removesuffix(", part")].why_not(answer.status, answer.headers.get("Content-Type", ""), body)


def visit(
    port: int,
    sessions: Sequence[str],
    nodes: int,
    warm_s: float,
    seconds: float,
    of_nodes: bool = True,
    probes: int = 0,
) -> list[Visitor]:
    """All at once: some seconds that are not counted, then those that are. of_nodes: nodes are those of `rows`, and asked by name."""
    counted_from = time.monotonic() + warm_s
    mix = tuple(one for one in MIX if of_nodes or "{n}" not in one[1])
    visitors = [
        Visitor(number, port, session, nodes, counted_from, counted_from + seconds, mix, probes)
        for number, session in enumerate(sessions)
    ]
    threads = [threading.Thread(target=visitor.run) for visitor in visitors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return visitors
