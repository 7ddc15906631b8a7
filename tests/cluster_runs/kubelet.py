"""A kubelet for the tests of runs: it plays every pod that the scheduler has bound, and serves their logs over TLS.

It walks a pod through its states as a real one would report them, by the script that the pod's node names in SCRIPTS, and lets
pods go that are being deleted. What a container "prints" is a recorded log.
"""

from __future__ import annotations

import ssl
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.controlplane.admin import MERGE, Admin, Refused
from tests.http_server import Handler, Server

Obj = dict[str, Any]
TICK_S = 0.1
_INDEX = "batch.kubernetes.io/job-completion-index"
_V1, _V2 = "ALIYUN_COM_GPU_MEM", "scheduler.framework.gpushare.allocation"


@dataclass(frozen=True)
class Script:
    """What a container on this node does. log_status: instead of the log. waiting: it never starts. hangs: it never ends.

    swallows: who asks for its log gets no byte, and no end either.

    others: what the pods of an Indexed Job do that do not have the index 0; None: the same. In a log {job} is the name of the Job.

    card: what gpushare's device plugin gives out whatever is written on the pod; None: what is written there.
    """

    log: bytes = b""
    exit_code: int = 0
    waiting: str = ""
    hangs: bool = False
    evicted: bool = False
    log_status: int = 200
    swallows: bool = False
    card: int | None = None
    others: Script | None = None


@dataclass
class Kubelet:
    """Plays until `close`. scripts: node name → script; `default` for the others."""

    admin: Admin
    folder: Path
    namespace: str
    default: Script
    scripts: dict[str, Script] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._stopped = threading.Event()
        self._nodes: dict[str, str] = {}
        handler = type("Handler", (_Logs,), {"kubelet": self})
        self._http = Server(handler, _tls(self.folder))
        threading.Thread(target=self._play, daemon=True).start()

    @property
    def port(self) -> int:
        return self._http.port

    def close(self) -> None:
        self._stopped.set()
        self._http.close()

    def script_of(self, pod_name: str) -> Script | None:
        node = self._nodes.get(pod_name)
        return None if node is None else self.scripts.get(node, self.default)

    def _play(self) -> None:
        while not self._stopped.wait(TICK_S):
            try:
                pods = self.admin.list(f"/api/v1/namespaces/{self.namespace}/pods")
            except (Refused, OSError):
                continue
            for pod in pods:
                try:
                    self._step(pod)
                except Refused as refused:
                    if refused.status not in (404, 409):
                        raise

    def _allocate(self, pod: Obj, script: Script) -> None:
        """gpushare's device plugin, as the kubelet asks it: it finds its pod by the request and marks it as assigned."""
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        taken = assumed(self.admin.list(path), pod) if _units(pod) else None
        if taken is None:
            return
        annotations = {f"{_V1}_ASSIGNED": "true", f"{_V1}_ASSUME_TIME": str(time.time_ns())}
        if script.card is not None:
            annotations |= {f"{_V1}_IDX": str(script.card), _V2: f'{{"0":{{"{script.card}":{_units(pod)}}}}}'}
        self.admin.call(
            "PATCH", f"{path}/{taken['metadata']['name']}", {"metadata": {"annotations": annotations}}, MERGE
        )

    def _step(self, pod: Obj) -> None:
        name, node = pod["metadata"]["name"], pod["spec"].get("nodeName")
        path = f"/api/v1/namespaces/{self.namespace}/pods/{name}"
        if node is None:
            return
        self._nodes[name] = node
        if pod["metadata"].get("deletionTimestamp"):
            if pod["status"].get("phase") not in ("Succeeded", "Failed"):
                # Its containers are ended first, and that is reported: until then a Job with rules on failures waits.
                self.admin.call("PATCH", f"{path}/status", {"status": _status("Failed", _KILLED)}, MERGE)
            self.admin.call("DELETE", path, {"gracePeriodSeconds": 0})
            return
        script = self.scripts.get(node, self.default)
        if script.others is not None and _written(pod).get(_INDEX, "0") != "0":
            script = script.others
        status = _next(pod, script)
        if status is not None and not pod["status"].get("containerStatuses"):
            self._allocate(pod, script)
        if status is not None:
            self.admin.call("PATCH", f"{path}/status", {"status": status}, MERGE)


def assumed(pods: list[Obj], pod: Obj) -> Obj | None:
    """The pod that gpushare's plugin takes for the one that it is asked for: assumed, not assigned, as large; the oldest."""
    waiting = [
        other
        for other in pods
        if other["spec"].get("nodeName") == pod["spec"]["nodeName"]
        and other["status"].get("phase", "Pending") == "Pending"
        and _written(other).get(f"{_V1}_ASSIGNED") == "false"
        and _units(other) == _units(pod)
    ]
    return min(waiting, key=lambda other: int(_written(other)[f"{_V1}_ASSUME_TIME"]), default=None)


def _written(pod: Obj) -> dict[str, str]:
    return dict(pod["metadata"].get("annotations") or {})


def _units(pod: Obj) -> int:
    """What the pod asks of gpushare; 0 for nothing."""
    limits = [item.get("resources", {}).get("limits", {}) for item in pod["spec"]["containers"]]
    return sum(int(one.get("aliyun.com/gpu-mem", 0)) for one in limits)


def _next(pod: Obj, script: Script) -> Obj | None:
    """The next status of a pod, None when it stays as it is."""
    rows = (pod.get("status") or {}).get("containerStatuses") or [{"state": {}}]
    state = next(iter(rows[0]["state"]), "")
    if pod["status"].get("phase") in ("Succeeded", "Failed"):
        return None
    if state == "":
        return _status("Pending", {"waiting": {"reason": script.waiting or "ContainerCreating", "message": "scripted"}})
    if state == "waiting":
        return None if script.waiting else _status("Running", {"running": {"startedAt": "2026-01-01T00:00:05Z"}})
    if script.hangs:
        return None
    code = 137 if script.evicted else script.exit_code
    ended = {"exitCode": code, "reason": "Error" if code else "Completed", "startedAt": "2026-01-01T00:00:05Z"}
    status = _status("Failed" if code else "Succeeded", {"terminated": ended})
    return status | ({"reason": "Evicted", "message": "The node was low on memory."} if script.evicted else {})


_KILLED = {"terminated": {"exitCode": 137, "reason": "Error", "startedAt": "2026-01-01T00:00:05Z"}}


def _status(phase: str, state: Obj) -> Obj:
    row = {"name": "suite", "image": "i", "imageID": "registry/i@sha256:" + "1" * 64, "ready": False, "restartCount": 0}
    return {"phase": phase, "containerStatuses": [row | {"state": state}]}


class _Logs(Handler):
    """GET /containerLogs/{namespace}/{pod}/{container}, as the API server asks."""

    protocol_version = "HTTP/1.1"
    kubelet: Kubelet

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        script = self.kubelet.script_of(path.split("/")[3]) if path.startswith("/containerLogs/") else None
        if script is not None and script.swallows:
            self.kubelet._stopped.wait(600)
        status = 404 if script is None else script.log_status
        name = path.split("/")[3] if script is not None else ""
        body = (
            script.log.replace(b"{job}", name.rsplit("-", 2)[0].encode())
            if script is not None and status == 200
            else b"scripted"
        )
        for part in query.split("&"):
            name, _, value = part.partition("=")
            if name == "limitBytes":
                body = body[: int(value)]
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _tls(folder: Path) -> ssl.SSLContext:
    """A context with a throw-away certificate; the API server does not check that of a kubelet here."""
    key, certificate = folder / "kubelet.key", folder / "kubelet.crt"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=kubelet"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context
