"""Record the answers that the tests of the Headlamp plugin use, from a running demo:

    gpudash demo --port 8000
    python -m tests.integrations.record http://127.0.0.1:8000 TOKEN

Nodes and pods are chosen by what they show: each state of validation, a first cause, shared cards, a pending pod.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

RECORDED = Path(__file__).parents[2] / "integrations" / "headlamp" / "tests" / "recorded" / "answers.json"
CLUSTER = "demo"
#: As src/gpudash.ts asks.
MOST_ALLOCATIONS = 50
_MOST_CARDS = 8


class Demo:
    def __init__(self, address: str, token: str) -> None:
        self._address, self._token = address, token
        self.answers: dict[str, Any] = {}

    def ask(self, path: str) -> Any:
        request = Request(f"{self._address}/api/v1/{path}", headers={"Authorization": f"Bearer {self._token}"})
        with urlopen(request, timeout=30) as response:
            return json.load(response)

    def record(self, path: str) -> Any:
        self.answers[path] = found = self.ask(path)
        return found


def nodes(demo: Demo) -> Iterator[str]:
    """Names of few nodes that together show every state of validation, a first cause, and shared cards."""
    missing = {"validated", "failed", "never", "cause", "shares", "finding"}
    for row in demo.ask("nodes?page_size=1000")["results"]:
        if not 0 < (row["cards_total"] or 0) <= _MOST_CARDS:
            continue
        node = demo.ask(f"nodes/{CLUSTER}/{row['name']}")
        shown = {one["state"] for one in node["validations"]} | {one["mode"] for one in node["cards"]}
        shown |= {"cause"} if node["first_cause"] else set()
        shown |= {"finding"} if node["findings"] else set()
        if shown & missing:
            missing -= shown
            yield row["name"]
    print("not found:", ", ".join(sorted(missing)) or "none")


def pods(demo: Demo) -> Iterator[tuple[str, str]]:
    pending = demo.ask(f"pods?{urlencode({'cluster': CLUSTER, 'pending': 'true', 'page_size': 1})}")["results"]
    yield from ((one["namespace"], one["name"]) for one in pending)
    for mode in ("whole", "memory", "shares"):
        held = demo.ask(f"allocations?{urlencode({'cluster': CLUSTER, 'mode': mode, 'page_size': 1})}")["results"]
        yield from ((one["namespace"], one["pod"]) for one in held)


def main(address: str, token: str) -> None:
    demo = Demo(address, token)
    for name in nodes(demo):
        demo.record(f"nodes/{CLUSTER}/{name}")
    for namespace, name in pods(demo):
        query = {"cluster": CLUSTER, "namespace": namespace, "pod": name}
        [pod] = demo.record(f"pods?{urlencode(query)}")["results"]
        if not pod["pending"]:
            demo.record(f"allocations?{urlencode(query | {'page_size': MOST_ALLOCATIONS})}")
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text(json.dumps(demo.answers, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(demo.answers)} answers in {RECORDED}")


if __name__ == "__main__":
    main(*sys.argv[1:])
