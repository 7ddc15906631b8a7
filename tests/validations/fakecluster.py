"""A scripted API server: Jobs, pods and logs as a test puts them there. No controllers: nothing happens by itself.

with FakeCluster() as fake:
    fake.pod(job_name, running=True); fake.log(job_name, b"…"); fake.fail("GET", "/log", 500)
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.http_server import Handler, Server

Obj = dict[str, Any]


@dataclass
class Fault:
    """An answer instead of the real one. times None: always. after: the request is carried out first, its answer is lost."""

    method: str
    path: str
    status: int
    message: str = "scripted"
    times: int | None = None
    after: bool = False
    body: bytes | None = None


@dataclass
class FakeCluster:
    """State of the cluster. `calls`: every request as "METHOD path", in order."""

    namespaces: set[str] = field(default_factory=lambda: {"gpudash-validations"})
    jobs: dict[str, Obj] = field(default_factory=dict)
    pods: dict[str, Obj] = field(default_factory=dict)
    logs: dict[str, bytes] = field(default_factory=dict)
    events: list[Obj] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    #: Items put into the lists as they are, to be strange.
    strange: dict[str, list[Any]] = field(default_factory=dict)
    page: int = 500
    #: Lock objects by name; each write makes a new resource version.
    leases: dict[str, Obj] = field(default_factory=dict)
    #: Nodes whose kubelet swallows what it is asked: no byte of a log comes until `awake` is set.
    asleep: set[str] = field(default_factory=set)
    #: Requests ("METHOD path") that match are answered only when `awake` is set.
    hangs: str = ""
    #: PriorityClasses by name; with that of policies.
    classes: dict[str, Obj] = field(
        default_factory=lambda: {
            "gpudash-policy": {"value": -1000, "preemptionPolicy": "Never", "globalDefault": False}
        }
    )
    #: Called when a log has been asked for.
    on_log: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        self.lock = threading.RLock()
        self._uids = 0
        self.awake = threading.Event()

    def __enter__(self) -> FakeCluster:
        handler = type("Handler", (_Handler,), {"fake": self})
        self._http = Server(handler)
        return self

    def __exit__(self, *_: object) -> None:
        self.awake.set()
        self._http.close()

    def kubeconfig(self, path: Path) -> Path:
        server = f"http://127.0.0.1:{self._http.port}"
        parts = {
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": {"token": "secret"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        }
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "x", **parts}))
        return path

    def uid(self) -> str:
        self._uids += 1
        return f"uid-{self._uids}"

    def fail(self, method: str, path: str, status: int, message: str = "scripted", **more: Any) -> Fault:
        """Answer requests whose method is this and whose path matches with a Status of this code (0: hang up)."""
        fault = Fault(method, path, status, message, **more)
        self.faults.append(fault)
        return fault

    def pod(self, job: str, **status: Any) -> Obj:
        """The pod of a Job, made or changed. Keys: see `_status`."""
        with self.lock:
            pod = self.pods.setdefault(job, self.made_of(job))
            _status(pod, **status)
            return pod

    def made_of(self, job: str) -> Obj:
        """A new pod of a Job, as its controller makes it."""
        made = self.jobs[job]
        template, uid = made["spec"]["template"], made["metadata"]["uid"]
        metadata: Obj = {"name": f"{job}-abcde", "uid": self.uid(), "namespace": "n"}
        metadata["labels"] = dict(template["metadata"].get("labels") or {})
        metadata["labels"] |= {"batch.kubernetes.io/controller-uid": uid, "controller-uid": uid, "job-name": job}
        metadata["annotations"] = dict(template["metadata"].get("annotations", {}))
        metadata["ownerReferences"] = [
            {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": uid, "controller": True}
        ]
        metadata["creationTimestamp"] = "2026-01-01T00:00:00Z"
        return {"metadata": metadata, "spec": json.loads(json.dumps(template["spec"]))}

    def members(self, job: str, nodes: Sequence[str], **status: Any) -> None:
        """The pods of an Indexed Job, one on each of these nodes in the order of their index. Their logs: as `job-index`."""
        for index, node in enumerate(nodes):
            name = f"{job}-{index}"
            if name not in self.pods:
                made = self.made_of(job)
                made["metadata"]["name"] = f"{name}-abcde"
                made["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] = str(index)
                made["spec"]["hostname"] = name
                field = {"fieldPath": "metadata.labels['batch.kubernetes.io/job-completion-index']"}
                variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": field}}
                made["spec"]["containers"][0]["env"].append(variable)
                self.pods[name] = made
            _status(self.pods[name], node=node, **status)

    def end(self, job: str, log: bytes = b"", exit_code: int = 0, **more: Any) -> None:
        """The container ends with this log; the Job follows."""
        with self.lock:
            self.logs[job] = log
            self.pod(job, node=more.pop("node", "") or _node_of(self.jobs[job]), exit_code=exit_code, **more)
            self.condition(
                job, "Failed" if exit_code else "Complete", "BackoffLimitExceeded" if exit_code else "Completed"
            )

    def condition(self, job: str, kind: str, reason: str, message: str = "") -> None:
        row = {"type": kind, "status": "True", "reason": reason, "message": message}
        self.jobs[job].setdefault("status", {})["conditions"] = [row]


def _node_of(job: Obj) -> str:
    """Where the scheduler would put the pod of the Job."""
    spec = job["spec"]["template"]["spec"]
    if "nodeName" in spec:
        return str(spec["nodeName"])
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return str(required["nodeSelectorTerms"][0]["matchExpressions"][0]["values"][0])


def _status(
    pod: Obj,
    node: str = "",
    running: bool = False,
    waiting: str = "",
    message: str = "",
    exit_code: int | None = None,
    reason: str = "",
    pod_reason: str = "",
    unschedulable: str = "",
    deleted_at: str = "",
    phase: str = "",
    signal: int | None = None,
) -> None:
    state: Obj = {}
    if running:
        state = {"running": {"startedAt": "2026-01-01T00:00:05Z"}}
    elif waiting:
        state = {"waiting": {"reason": waiting, "message": message}}
    elif exit_code is not None:
        why = reason or ("Error" if exit_code else "Completed")
        state = {
            "terminated": {"exitCode": exit_code, "reason": why, "signal": signal, "startedAt": "2026-01-01T00:00:05Z"}
        }
    status: Obj = {"phase": phase or ("Running" if running else "Pending"), "conditions": []}
    if pod_reason:
        status |= {"phase": "Failed", "reason": pod_reason, "message": message}
    if unschedulable:
        status["conditions"] = [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": unschedulable}
        ]
    if state:
        status["containerStatuses"] = [
            {"name": "suite", "imageID": "registry/image@sha256:" + "0" * 64, "state": state}
        ]
    pod["status"] = status
    if node:
        pod["spec"]["nodeName"] = node
    if deleted_at:
        pod["metadata"]["deletionTimestamp"] = deleted_at


class _Handler(Handler):
    protocol_version = "HTTP/1.1"
    #: Head and body are two writes: with Nagle's algorithm the second waits 40 ms for the first to be acknowledged.
    disable_nagle_algorithm = True
    fake: FakeCluster

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        self.fake.calls.append(f"{self.command} {url.path}")
        if self.fake.hangs and re.search(self.fake.hangs, f"{self.command} {url.path}"):
            self.fake.awake.wait(120)
        with self.fake.lock:
            fault = self._fault(url.path)
            if fault is None or fault.after:
                status, answer = self._answer(url.path, query, json.loads(body) if body else {})
            if fault is not None:
                status, answer = fault.status, fault.body or _refusal(fault.status, fault.message)
        if self._swallowed(url.path):
            self.fake.awake.wait(120)
        if status == 0:
            self.close_connection = True
            self.connection.close()
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PUT = do_DELETE = _serve

    def _swallowed(self, path: str) -> bool:
        pod = self.fake.pods.get(path.split("/")[-2].removesuffix("-abcde")) if path.endswith("/log") else None
        return pod is not None and pod["spec"].get("nodeName") in self.fake.asleep

    def _fault(self, path: str) -> Fault | None:
        for fault in self.fake.faults:
            if fault.method == self.command and re.search(fault.path, path) and fault.times != 0:
                if fault.times is not None:
                    fault.times -= 1
                return fault
        return None

    def _answer(self, path: str, query: dict[str, str], body: Obj) -> tuple[int, bytes]:
        parts = path.strip("/").split("/")
        if parts[-2] == "priorityclasses" and parts[-1] in self.fake.classes:
            return 200, json.dumps(self.fake.classes[parts[-1]]).encode()
        if "namespaces" not in parts:
            return 404, _refusal(404, "the server could not find the requested resource")
        rest = parts[parts.index("namespaces") + 2 :]
        if rest[0] == "jobs":
            return self._job(parts[parts.index("namespaces") + 1], rest, query, body)
        if rest[0] == "leases":
            return self._lease(rest[1:], body)
        if rest[0] == "pods" and rest[-1] == "log":
            answer = self._log(rest[1], query)
            if self.fake.on_log is not None:
                self.fake.on_log()
            return answer
        items = list(self.fake.pods.values()) if rest[0] == "pods" else self.fake.events
        return 200, self._list("PodList" if rest[0] == "pods" else "EventList", items, query)

    def _job(self, namespace: str, rest: list[str], query: dict[str, str], body: Obj) -> tuple[int, bytes]:
        jobs = self.fake.jobs
        if self.command == "POST":
            name = body["metadata"]["name"]
            if namespace not in self.fake.namespaces:
                return 404, _refusal(404, f'namespaces "{namespace}" not found')
            if name in jobs:
                return 409, _refusal(409, f'jobs.batch "{name}" already exists')
            body["metadata"] |= {"uid": self.fake.uid(), "creationTimestamp": "2026-01-01T00:00:00Z"}
            jobs[name] = body
            self.fake.created.append(name)
            return 201, json.dumps(body).encode()
        if len(rest) == 1:
            return 200, self._list("JobList", list(jobs.values()), query)
        if rest[1] not in jobs:
            return 404, _refusal(404, f'jobs.batch "{rest[1]}" not found')
        if self.command == "DELETE":
            wanted = (body.get("preconditions") or {}).get("uid")
            if wanted not in (None, jobs[rest[1]]["metadata"]["uid"]):
                return 409, _refusal(409, "the UID in the precondition does not match")
            for things in (jobs, self.fake.pods, self.fake.logs):
                for name in [one for one in things if one.startswith(f"{rest[1]}-")]:
                    del things[name]
                things.pop(rest[1], None)
            return 200, json.dumps({"kind": "Status", "status": "Success"}).encode()
        return 200, json.dumps(jobs[rest[1]]).encode()

    def _lease(self, rest: list[str], body: Obj) -> tuple[int, bytes]:
        leases = self.fake.leases
        name = rest[0] if rest else body["metadata"]["name"]
        if self.command == "GET":
            return (200, json.dumps(leases[name]).encode()) if name in leases else (404, _refusal(404, "not found"))
        known = leases[name]["metadata"]["resourceVersion"] if name in leases else None
        if (self.command == "POST") is (known is not None) or body["metadata"].get("resourceVersion") != known:
            return 409, _refusal(409, "the object has been modified")
        body["metadata"]["resourceVersion"] = self.fake.uid()
        leases[name] = body
        return 201 if self.command == "POST" else 200, json.dumps(body).encode()

    def _list(self, kind: str, items: list[Obj], query: dict[str, str]) -> bytes:
        wanted = dict(part.split("=") for part in query.get("labelSelector", "").split(",") if part)
        chosen: list[Any] = [one for one in items if _matches(one, wanted)] + self.fake.strange.get(kind, [])
        start = int(query.get("continue", 0))
        metadata = {"continue": str(start + self.fake.page)} if start + self.fake.page < len(chosen) else {}
        return json.dumps(
            {"kind": kind, "metadata": metadata, "items": chosen[start : start + self.fake.page]}
        ).encode()

    def _log(self, pod: str, query: dict[str, str]) -> tuple[int, bytes]:
        job = pod.removesuffix("-abcde")
        if job not in self.fake.pods:
            return 404, _refusal(404, f'pods "{pod}" not found')
        rows = self.fake.pods[job].get("status", {}).get("containerStatuses") or [{"state": {"waiting": {}}}]
        if "waiting" in rows[0]["state"]:
            return 400, _refusal(400, f'container "suite" in pod "{pod}" is waiting to start: ContainerCreating')
        data = self.fake.logs.get(job, b"")
        return 200, data[: int(query["limitBytes"])] if "limitBytes" in query else data


def _matches(obj: Obj, wanted: dict[str, str]) -> bool:
    labels = (obj.get("metadata") or {}).get("labels") or {}
    return all(labels.get(name) == value for name, value in wanted.items())


def _refusal(status: int, message: str) -> bytes:
    reason = {404: "NotFound", 409: "AlreadyExists", 403: "Forbidden", 422: "Invalid"}.get(status, "InternalError")
    return json.dumps(
        {"kind": "Status", "status": "Failure", "reason": reason, "message": message, "code": status}
    ).encode()
