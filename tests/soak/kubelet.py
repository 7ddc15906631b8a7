"""The kubelet of tests/cluster_runs for a cluster whose API server is sometimes away, and containers that take some seconds."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.cluster_runs.kubelet import Kubelet, Script
from tests.controlplane.admin import Admin, Refused
from tests.processes import ROOT

TICK_S = 0.5
#: What the container of a suite prints, passed. (Those of tests.validations cannot be imported before Django is set up.)
VECTORADD = b"""[Vector addition of 50000 elements]
Copy input data from the host memory to the CUDA device
CUDA kernel launch with 196 blocks of 256 threads
Copy output data from the CUDA device to the host memory
Test PASSED
Done
"""
#: What it prints when the card computes wrong, and how it ends.
FAILED = Script(VECTORADD.replace(b"Test PASSED\nDone\n", b"Result verification failed at element 0!\n"), exit_code=1)
#: Suite → its log; recorded ones.
LOGS = {
    "cuda-vectoradd": VECTORADD,
    "cuda-nbody": (ROOT / "tests" / "validations" / "suites" / "golden" / "cuda-nbody" / "single.log").read_bytes(),
}
#: The label of a pod that names its suite.
LABEL = "gpudash.io/suite"
#: How long a container runs: up to this, by its pod's name.
LONGEST_S = 8


class PatientKubelet(Kubelet):
    """Every pod of the namespace prints what its suite prints when it passes, after a while."""

    def __init__(self, admin: Admin, folder: Path, namespace: str) -> None:
        self._seen: dict[str, float] = {}
        self._suites: dict[str, str] = {}
        super().__init__(admin, folder, namespace, Script(VECTORADD))

    def script_of(self, pod_name: str) -> Script | None:
        known = super().script_of(pod_name)
        return known if known in (None, FAILED) else Script(LOGS.get(self._suites.get(pod_name, ""), b""))

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
        self._suites[pod["metadata"]["name"]] = (pod["metadata"].get("labels") or {}).get(LABEL, "")
        if pod["status"].get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp"):
            name = pod["metadata"]["name"]
            since = self._seen.setdefault(name, time.monotonic())
            if time.monotonic() - since < sum(name.encode()) % LONGEST_S:
                return
        super()._step(pod)
