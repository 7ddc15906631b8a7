#!/usr/bin/env python3
"""A real Kubernetes control plane on the loopback, for tests and benchmarks.

etcd, kube-apiserver, kube-scheduler, kube-controller-manager and kubectl are built from their Go modules
(`kubernetes/go.mod`, `etcd/go.mod` beside this file) into a cache, once (about 5 minutes on two cores), and
started without kubelets: nodes are API objects, and a test plays the kubelet's part through the API.

    controlplane.py build                      build what the cache lacks; prints the folder of the binaries
    controlplane.py up DIR [--bare] [--etcd-only]
                                               start in DIR; prints the path of an admin kubeconfig
    controlplane.py token DIR NAME [GROUP …]   add a user with a bearer token (before `up`, or restart); prints it
    controlplane.py restart DIR PART           stop and start one part: etcd, apiserver, scheduler, controllers
    controlplane.py down DIR                   stop all that `up` started

--bare leaves out the scheduler and the controllers (a Job then makes no pod). --etcd-only starts etcd alone, so that
objects can be written straight into it before the API server's caches fill: it stores JSON (see `--storage-media-type`
below), key `/registry/pods/NAMESPACE/NAME`, `/registry/minions/NAME`.
Everything listens on 127.0.0.1, ports chosen free. Errors: a part that does not become ready raises, with its log's end.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KUBERNETES = "v1.36.3"
BINARIES = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl")
READY_S = 90
CONTROLLERS = (
    "job-controller,ttl-after-finished-controller,garbage-collector-controller,namespace-controller,"
    "serviceaccount-controller,serviceaccount-token-controller,pod-garbage-collector-controller,resourceclaim-controller"
)


def cache() -> Path:
    """The folder of the built binaries, one per version."""
    root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return root / "controlplane" / KUBERNETES


def build() -> Path:
    """Build the binaries that the cache lacks. Needs `go`; returns the folder."""
    out = cache()
    missing = [name for name in BINARIES if not (out / name).exists()]
    if not missing:
        return out
    out.mkdir(parents=True, exist_ok=True)
    stamp = " ".join(
        f"-X {package}.{key}={value}"
        for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
        for key, value in (("gitVersion", KUBERNETES), ("gitMajor", "1"), ("gitMinor", KUBERNETES.split(".")[1]))
    )
    for name in missing:
        module, target = (HERE / "etcd", ".") if name == "etcd" else (HERE / "kubernetes", f"k8s.io/kubernetes/cmd/{name}")
        print(f"building {name}", file=sys.stderr)
        subprocess.run(
            ["go", "build", "-trimpath", "-ldflags", f"-s -w {stamp}", "-o", str(out / f"{name}.part"), target],
            cwd=module, check=True, env={**os.environ, "GOFLAGS": "-mod=mod"},
        )
        (out / f"{name}.part").rename(out / name)
    return out


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class ControlPlane:
    """The processes of one control plane, remembered in DIR/state.json. ready_s: how long a part may take to become ready."""

    def __init__(self, folder: Path, ready_s: float = READY_S) -> None:
        self.ready_s = ready_s
        self.dir = folder
        self.file = folder / "state.json"
        self.state: dict[str, Any] = json.loads(self.file.read_text()) if self.file.exists() else {"pids": {}, "ports": {}}

    @property
    def kubeconfig(self) -> Path:
        return self.dir / "kubeconfig"

    def save(self) -> None:
        self.file.write_text(json.dumps(self.state))

    def port(self, name: str) -> int:
        return int(self.state["ports"].setdefault(name, free_port()))

    def pid(self, part: str) -> int:
        return int(self.state["pids"][part])

    def add_token(self, user: str, groups: list[str]) -> str:
        self.dir.mkdir(parents=True, exist_ok=True)
        token = secrets.token_urlsafe(24)
        quoted = ",".join(groups)
        with (self.dir / "tokens.csv").open("a") as tokens:
            tokens.write(f'{token},{user},{user},"{quoted}"\n')
        return token

    def drop_token(self, token: str) -> None:
        """Revoke it; the API server reads the file at its start only, so restart it."""
        tokens = self.dir / "tokens.csv"
        tokens.write_text("".join(line for line in tokens.read_text().splitlines(True) if not line.startswith(f"{token},")))

    def restart(self, part: str) -> None:
        self.stop(part)
        self.start(part)
        self.wait_for(part)

    def serve(self, *apis: str, gates: str = "") -> None:
        """Restart the API server with these APIs on or off, as `--runtime-config` has them ("GROUP/VERSION=false"), and with these
        feature gates ("Name=true"); with none, as it is by default."""
        self.state["apis"], self.state["gates"] = list(apis), gates
        self.save()
        self.restart("apiserver")

    def etcd(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """One call of etcd's JSON gateway."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port('etcd')}/v3/{path}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return dict(json.load(answer))

    def replace_storage(self, other: Path | None = None) -> None:
        """API server and etcd anew on the same ports: empty, another cluster; or with a copy that `copy_storage` made."""
        self.stop("apiserver")
        self.stop("etcd")
        shutil.rmtree(self.dir / "etcd")
        if other is not None:
            shutil.copytree(other, self.dir / "etcd")
        for part in ("etcd", "apiserver"):
            self.start(part)
            self.wait_for(part)

    def copy_storage(self, other: Path) -> None:
        """Copy what etcd stores; both are stopped for it and started again."""
        self.stop("apiserver")
        self.stop("etcd")
        shutil.copytree(self.dir / "etcd", other)
        for part in ("etcd", "apiserver"):
            self.start(part)
            self.wait_for(part)

    def compact(self) -> int:
        """Forget all history up to now, as etcd does every five minutes; returns the revision."""
        revision = int(self.etcd("kv/range", {"key": "AA==", "limit": 1})["header"]["revision"])
        self.etcd("kv/compaction", {"revision": revision, "physical": True})
        return revision

    def start(self, part: str) -> None:
        with (self.dir / f"{part}.log").open("ab") as log:
            process = subprocess.Popen(
                self.command(part), stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        self.state["pids"][part] = process.pid
        self.save()

    def stop(self, part: str) -> None:
        pid = self.state["pids"].pop(part, None)
        if pid is None:
            return
        self.save()
        for sig, patience_s in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
            deadline = time.monotonic() + patience_s
            while self._alive(pid) and time.monotonic() < deadline:
                os.kill(pid, sig)
                time.sleep(0.1)

    @staticmethod
    def _alive(pid: int) -> bool:
        """A zombie counts as dead: the process that started it may not be the one that stops it."""
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return False
        return state != "Z"

    def command(self, part: str) -> list[str]:
        bins, keys = cache(), self.dir / "sa.key"
        client = f"http://127.0.0.1:{self.port('etcd')}"
        if part == "etcd":
            return [
                str(bins / "etcd"), "--data-dir", str(self.dir / "etcd"), "--listen-client-urls", client,
                "--advertise-client-urls", client, "--listen-peer-urls", f"http://127.0.0.1:{self.port('peer')}",
                "--unsafe-no-fsync", "--quota-backend-bytes", str(8 << 30), "--max-txn-ops", "1024", "--log-level", "error",
            ]
        if part == "apiserver":
            return [
                str(bins / "kube-apiserver"), "--etcd-servers", client, "--secure-port", str(self.port("apiserver")),
                "--bind-address", "127.0.0.1", "--cert-dir", str(self.dir / "certs"),
                "--service-account-key-file", str(keys), "--service-account-signing-key-file", str(keys),
                "--service-account-issuer", "https://kubernetes.default.svc", "--service-cluster-ip-range", "10.0.0.0/24",
                "--token-auth-file", str(self.dir / "tokens.csv"), "--authorization-mode", "RBAC",
                "--storage-media-type", "application/json", "--kubelet-preferred-address-types", "InternalIP",
                "--disable-admission-plugins", "ServiceAccount", "--profiling=false",
                "--allow-privileged=true",  # as kubeadm starts it; without it no pod of the host is admitted
                *(["--runtime-config", ",".join(apis)] if (apis := self.state.get("apis")) else []),
                *(["--feature-gates", gates] if (gates := self.state.get("gates")) else []),
            ]
        if part == "scheduler":
            return [
                str(bins / "kube-scheduler"), "--kubeconfig", str(self.kubeconfig), "--leader-elect=false",
                "--authentication-kubeconfig", str(self.kubeconfig), "--authorization-kubeconfig", str(self.kubeconfig),
                "--secure-port", str(self.port("scheduler")), "--bind-address", "127.0.0.1",
            ]
        return [
            str(bins / "kube-controller-manager"), "--kubeconfig", str(self.kubeconfig), "--leader-elect=false",
            "--service-account-private-key-file", str(keys), "--controllers", CONTROLLERS,
            "--root-ca-file", str(self.dir / "certs" / "apiserver.crt"),
            "--secure-port", str(self.port("controllers")), "--bind-address", "127.0.0.1",
        ]

    def wait(self, part: str, url: str) -> None:
        context = ssl._create_unverified_context()
        token = (self.dir / "tokens.csv").read_text().split(",", 1)[0]
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
        deadline = time.monotonic() + self.ready_s
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(request, timeout=5, context=context) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.1)
        tail = (self.dir / f"{part}.log").read_text(errors="replace")[-2000:]
        raise RuntimeError(f"{part} was not ready in {self.ready_s:.0f} s:\n{tail}")

    def wait_for(self, part: str) -> None:
        if part == "etcd":
            self.wait(part, f"http://127.0.0.1:{self.port('etcd')}/health")
        elif part == "apiserver":
            self.wait(part, f"https://127.0.0.1:{self.port('apiserver')}/readyz")

    def write_kubeconfig(self) -> None:
        token = (self.dir / "tokens.csv").read_text().split(",", 1)[0]
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {
                "server": f"https://127.0.0.1:{self.port('apiserver')}",
                "certificate-authority": str(self.dir / "certs" / "apiserver.crt")}}],
            "users": [{"name": "admin", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        }, indent=1))
        self.kubeconfig.chmod(0o600)

    def up(self, parts: tuple[str, ...]) -> Path:
        build()
        self.dir.mkdir(parents=True, exist_ok=True)
        tokens = self.dir / "tokens.csv"
        if "system:masters" not in (tokens.read_text() if tokens.exists() else ""):
            old = tokens.read_text() if tokens.exists() else ""
            tokens.write_text(f'{secrets.token_urlsafe(24)},admin,admin,"system:masters"\n{old}')
        if not (self.dir / "sa.key").exists():
            subprocess.run(["openssl", "genrsa", "-out", str(self.dir / "sa.key"), "2048"], check=True, capture_output=True)
        self.write_kubeconfig()
        for part in parts:
            if self._alive(self.state["pids"].get(part, 0)):
                continue
            self.start(part)
            self.wait_for(part)
        return self.kubeconfig

    def down(self) -> None:
        for part in ("controllers", "scheduler", "apiserver", "etcd"):
            self.stop(part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("build")
    up = verbs.add_parser("up")
    up.add_argument("dir", type=Path)
    up.add_argument("--bare", action="store_true")
    up.add_argument("--etcd-only", action="store_true")
    token = verbs.add_parser("token")
    token.add_argument("dir", type=Path)
    token.add_argument("user")
    token.add_argument("groups", nargs="*")
    restart = verbs.add_parser("restart")
    restart.add_argument("dir", type=Path)
    restart.add_argument("part")
    down = verbs.add_parser("down")
    down.add_argument("dir", type=Path)
    given = parser.parse_args()
    if given.verb == "build":
        print(build())
        return
    plane = ControlPlane(given.dir.resolve())
    if given.verb == "up":
        parts = ("etcd",) if given.etcd_only else ("etcd", "apiserver")
        print(plane.up(parts if given.bare or given.etcd_only else (*parts, "scheduler", "controllers")))
    elif given.verb == "token":
        print(plane.add_token(given.user, given.groups))
    elif given.verb == "restart":
        plane.restart(given.part)
    else:
        plane.down()


if __name__ == "__main__":
    main()
