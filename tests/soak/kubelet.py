"""The kubelet of tests/cluster_runs for a cluster whose API server is sometimes away, and containers that take some seconds."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.cluster_runs.kubelet import Kubelet, Script
from tests.controlplane.admin import Admin, Refused

TICK_S = 0.5
#: What the container prints: CUDA's vectorAdd, passed. (That of tests.validations cannot be imported before Django is set up.)
LOG = b"""[Vector addition of 50000 elements]
Copy input data from the host memory to the CUDA device
CUDA kernel launch with 196 blocks of 256 threads
Copy output data from the CUDA device to the host memory
Test PASSED
Done
"""
#: How long a container runs: up to this, by its pod's name.
LONGEST_S = 8


class PatientKubelet(Kubelet):
    """Every pod of the namespace prints a passed vectorAdd, after a while."""

    def __init__(self, admin: Admin, folder: Path, namespace: str) -> None:
        self._seen: dict[str, float] = {}
        super().__init__(admin, folder, namespace, Script(LOG))

    def _play(self) -> None:
        while not self._stopped.wait(TICK_S):
            try:
                pods = self.admin.list(f"/api/v1/namespaces/{self.namespace}/pods")
            except (Refused, OSError):
                continue
            for pod in pods:
                try:
                    self._step(pod)
                except (Refused, OSError):
                    continue  # another look comes soon

    def _step(self, pod: dict[str, Any]) -> None:
        if pod["status"].get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp"):
            name = pod["metadata"]["name"]
            since = self._seen.setdefault(name, time.monotonic())
            if time.monotonic() - since < sum(name.encode()) % LONGEST_S:
                return
        super()._step(pod)
