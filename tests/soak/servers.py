"""The servers beside gpudash: a control plane that writes down which Jobs were made, Redis that can be restarted, and nginx."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.controlplane.controlplane import ControlPlane
from tests.processes import ROOT
from tests.services import Missing, end, free_port, wait_until

HOST = "gpudash.example.com"
_AUDITED = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "RequestResponse", "verbs": ["create"], "resources": [{"group": "batch", "resources": ["jobs"]}]},
        {"level": "None"},
    ],
}


class AuditedPlane(ControlPlane):
    """Its API server writes down each Job that is made: a list that is read now and then would miss some."""

    @property
    def audit(self) -> Path:
        return self.dir / "audit.log"

    def command(self, part: str) -> list[str]:
        command = super().command(part)
        if part != "apiserver":
            return command
        policy = self.dir / "audit-policy.json"
        policy.write_text(json.dumps(_AUDITED))
        return [*command, f"--audit-policy-file={policy}", f"--audit-log-path={self.audit}"]

    def jobs_made(self) -> list[tuple[str, str]]:
        """(name, uid) of each Job that was made, in order."""
        return list(made_in(self.audit.read_text().splitlines())) if self.audit.exists() else []


def made_in(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The Jobs that an audit log says were made: answered with 201, and not a dry run."""
    for line in lines:
        event: dict[str, Any] = json.loads(line)
        if event.get("responseStatus", {}).get("code") == 201 and "dryRun" not in event.get("requestURI", ""):
            metadata = event.get("responseObject", {}).get("metadata", {})
            yield metadata.get("name", "?"), metadata.get("uid", "?")


class Redis:
    """A server without persistence: what it held is lost with a restart, the worst that a broker may do. Raises Missing."""

    def __init__(self, folder: Path) -> None:
        self.program = shutil.which("redis-server")
        if self.program is None:
            raise Missing("no Redis here (redis-server); Debian: apt-get install redis-server")
        self.folder, self.port = folder, free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        command = [str(self.program), *options, "--dir", str(self.folder)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: answers(self.port), "Redis listens")

    def stop(self) -> None:
        if self._process is not None:
            end(self._process)


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def falls_silent(port: int, patience_s: float = 5.0) -> bool:
    """Whether nobody answers there any more: the sockets of a killed process may outlive its first thread by a moment."""
    deadline = time.monotonic() + patience_s
    while answers(port):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


class Nginx:
    """nginx with `deploy/nginx.conf`, on a free port, before these ports of web processes. Raises Missing."""

    def __init__(self, folder: Path, upstreams: list[int]) -> None:
        self.program = shutil.which("nginx")
        if self.program is None:
            raise Missing("no nginx here; Debian: apt-get install nginx")
        self.folder, self.port = folder, free_port()
        folder.mkdir()
        _certificate(folder)
        (folder / "nginx.conf").write_text(self._configuration(upstreams))
        self._process: subprocess.Popen[bytes] | None = None

    def _configuration(self, upstreams: list[int]) -> str:
        site = here((ROOT / "deploy" / "nginx.conf").read_text(), self.port, self.folder, upstreams)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        paths = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in kinds)
        return (
            f"daemon off;\npid {self.folder}/pid;\nerror_log {self.folder}/error.log warn;\n"
            f"events {{}}\nhttp {{\naccess_log off;\n{paths}{site}\n}}\n"
        )

    @property
    def certificate(self) -> Path:
        return self.folder / "gpudash.crt"

    def start(self) -> None:
        command = [str(self.program), "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]
        with (self.folder / "output.log").open("wb") as output:
            self._process = subprocess.Popen(command, stdout=output, stderr=output)
        wait_until(lambda: answers(self.port), f"nginx listens; see {self.folder}/output.log")

    def stop(self) -> None:
        if self._process is not None:
            end(self._process)


def here(text: str, port: int, folder: Path, upstreams: list[int]) -> str:
    """The shipped configuration for this machine: a port that is free, its certificate, and two web processes."""
    text = re.sub(r"upstream \w+ \{.*?\}", "", text, flags=re.DOTALL)
    text, plain = re.subn(r"server \{\s+listen 80;.*?\n\}", "", text, flags=re.DOTALL)
    text = re.sub(r"\s+listen \[::\]:443 ssl;", "", text)
    text, listens = re.subn(r"listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;", text)
    text = text.replace("/etc/gpudash/tls", str(folder))
    text, proxied = re.subn(r"proxy_pass http://[^;]+;", "proxy_pass http://soak;", text)
    if not (plain and listens and proxied):
        raise ValueError("deploy/nginx.conf is not as the soak knows it")
    members = "".join(f"server 127.0.0.1:{upstream};\n" for upstream in upstreams)
    return f"upstream soak {{\n{members}}}\n{text}"


def _certificate(folder: Path) -> None:
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "9", "-subj", f"/CN={HOST}"]
    command += ["-addext", f"subjectAltName=DNS:{HOST}"]
    paths = ["-keyout", str(folder / "gpudash.key"), "-out", str(folder / "gpudash.crt")]
    subprocess.run([*command, *paths], check=True, capture_output=True)
