"""The scripted API server of the tests with a kubelet that is played: each Job runs at once, passes after JOB_S, and is timed.

What a run takes beyond its Job is then all gpudash's own.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque

from tests.validations.fakecluster import FakeCluster, Obj
from tests.validations.recorded import PASSED

JOB_S = 1.0
#: The error of a Job's duration is at most this.
TICK_S = 0.02


class PlayedCluster(FakeCluster):
    """`took`: seconds from a Job's creation to its end, by name. The vectorAdd log comes in two pieces."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.took: dict[str, float] = {}
        self._running: deque[tuple[float, str]] = deque()
        self._seen = 0
        self._stop = threading.Event()
        self._kubelet = threading.Thread(target=self._play, name="kubelet", daemon=True)

    def __enter__(self) -> PlayedCluster:
        super().__enter__()
        # Head and body are two writes: with Nagle's algorithm each answer would wait 40 ms for an acknowledgement.
        setattr(self._http.RequestHandlerClass, "disable_nagle_algorithm", True)  # noqa: B010 (mypy knows no class there)
        self._kubelet.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._kubelet.join(5)
        super().__exit__(*exc)

    def _play(self) -> None:
        while not self._stop.wait(TICK_S):
            with self.lock:
                now = time.monotonic()
                for name in self.created[self._seen :]:
                    self._start(name, now)
                while self._running and now - self._running[0][0] >= JOB_S:
                    started, name = self._running.popleft()
                    self._pass(name, now - started)

    def _start(self, name: str, now: float) -> None:
        self._seen += 1
        if name not in self.jobs:
            return  # deleted before it ran
        self.logs[name] = PASSED[: len(PASSED) // 2]
        self.pod(name, node=_node(self.jobs[name]), running=True)
        self._running.append((now, name))

    def _pass(self, name: str, seconds: float) -> None:
        if name not in self.jobs:
            return
        self.took[name] = seconds
        self.logs[name] = PASSED
        self.pod(name, node=_node(self.jobs[name]), exit_code=0, phase="Succeeded")
        self.condition(name, "Complete", "CompletionsReached")


def _node(job: Obj) -> str:
    """The node that the pod's affinity names."""
    affinity = job["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return str(terms[0]["matchExpressions"][0]["values"][0])


def kinds(calls: list[str]) -> Counter[str]:
    """Requests by what they ask for: "list jobs", "get log", "create job" …"""
    return Counter(_kind(*call.split(" ", 1)) for call in calls)


def _kind(method: str, path: str) -> str:
    parts = path.strip("/").split("/")
    rest = parts[parts.index("namespaces") + 2 :] if "namespaces" in parts else parts[-1:]
    if rest[-1] == "log":
        return "read log"
    if len(rest) == 1 and method == "GET":
        return f"list {rest[0]}"
    verb = {"GET": "get", "POST": "create", "PUT": "update", "DELETE": "delete"}.get(method, method)
    return f"{verb} {rest[0].removesuffix('s')}"
