"""What the tests of an installation ask of it from outside: pages and REST over the proxy, services, the cluster's objects."""

from __future__ import annotations

import json
import re
import time
from typing import Any

from tests.controlplane.admin import Admin
from tests.services import wait_until
from tests.team.host import Host

SITE = "https://gpudash.example.com"
CURL = "curl --silent --show-error --cacert /etc/gpudash/tls/gpudash.crt --max-time 20"
PASSWORD = "correct horse 7 battery"
#: With each character that breaks a URL.
DATABASE_PASSWORD = "p@ss/w#rd?%41"
UNITS = ("gpudash-web", "gpudash-watch", "gpudash-launch", "gpudash-tasks", "gpudash-usage", "gpudash-schedule")
NODES = ("gpu-1", "gpu-2")
_LISTED = re.compile(r"^  (\w+): (.*)$", re.MULTILINE)


def certificate(host: Host) -> None:
    """A certificate of the host's own for its name."""
    host.run("install -d -m 0755 /etc/gpudash/tls")
    name = "-subj /CN=gpudash.example.com -addext subjectAltName=DNS:gpudash.example.com"
    files = "-keyout /etc/gpudash/tls/gpudash.key -out /etc/gpudash/tls/gpudash.crt"
    host.run(f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 {name} {files}")


def web_answers(host: Host, patience_s: float = 60.0) -> None:
    """Wait until the web process answers a probe."""
    probe = "curl --silent --max-time 2 http://127.0.0.1:8000/healthz"
    wait_until(lambda: host.run(probe, check=False) == "ok\n", "web answers", patience_s, 0.5)


class Browser:
    """Keeps cookies in a file on the host, as a browser keeps them."""

    def __init__(self, host: Host, site: str = SITE) -> None:
        self.host, self.site, self._jar = host, site, f"/root/cookies-{time.monotonic_ns()}"

    def get(self, path: str) -> tuple[int, str]:
        """Status and body; redirects are followed, five at most."""
        return self._ask(f"--location --max-redirs 5 {self.site}{path}")

    def sign_in(self, name: str, password: str) -> int:
        _, form = self.get("/sign-in")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)
        assert token, form[:500]
        fields = {"csrfmiddlewaretoken": token[1], "username": name, "password": password}
        data = " ".join(f"--data-urlencode '{field}={value}'" for field, value in fields.items())
        return self._ask(f"--referer {self.site}/sign-in {data} {self.site}/sign-in")[0]

    def _ask(self, words: str) -> tuple[int, str]:
        said = self.host.run(
            f"{CURL} --cookie {self._jar} --cookie-jar {self._jar} --write-out '\\n%{{http_code}}' {words}"
        )
        body, _, status = said.rpartition("\n")
        return int(status), body


def rest(host: Host, token: str, path: str, body: dict[str, Any] | None = None, site: str = SITE) -> Any:
    """The JSON answer of REST over the proxy."""
    data = f"--json '{json.dumps(body)}'" if body is not None else ""
    said = host.run(f"{CURL} --header 'Authorization: Bearer {token}' {data} '{site}/api/v1/{path}'")
    return json.loads(said)


def states(host: Host, cluster: str = "lab") -> dict[str, str]:
    """Kind → what `cluster list` says of its watcher, for one cluster."""
    said = host.run("gpudash cluster list")
    block = next(
        (part for part in re.split(r"^(?=\S)", said, flags=re.MULTILINE) if part.startswith(f"{cluster} ")), ""
    )
    return dict(_LISTED.findall(block))


def in_step(host: Host, cluster: str = "lab") -> bool:
    found = states(host, cluster)
    return all(found.get(kind, "").startswith("in sync") for kind in ("cards", "nodes", "pods"))


def all_in_sync(host: Host, patience_s: float = 180.0) -> None:
    """Wait until the list says so. Each look starts a process, which takes seconds on a busy machine."""
    try:
        wait_until(lambda: in_step(host), "all watchers are in sync", patience_s, 1)
    except AssertionError as late:
        raise AssertionError(f"{late}\n{host.run('gpudash cluster list')}") from None


def held(host: Host, token: str) -> set[tuple[str, str, str]]:
    """(node, namespace, pod) of all that holds a GPU, as REST tells it."""
    rows = rest(host, token, "allocations?page_size=1000")["results"]
    return {(row["node"], row["namespace"], row["pod"]) for row in rows}


def holding(admin: Admin) -> set[tuple[str, str, str]]:
    """The same, as the cluster tells it."""
    return {
        (pod["spec"]["nodeName"], pod["metadata"]["namespace"], pod["metadata"]["name"])
        for pod in admin.list("/api/v1/pods")
        if pod["spec"].get("nodeName") and pod["status"].get("phase") not in ("Succeeded", "Failed")
    }


def agrees(host: Host, token: str, admin: Admin, patience_s: float = 30.0) -> float:
    """Seconds until gpudash tells the same holders and nodes as the cluster."""

    def same() -> bool:
        nodes = {row["name"] for row in rest(host, token, "nodes?page_size=1000")["results"]}
        there = {node["metadata"]["name"] for node in admin.list("/api/v1/nodes")}
        return nodes == there and held(host, token) == holding(admin)

    return wait_until(same, "gpudash tells what the cluster holds", patience_s, 0.5)


def active(host: Host, unit: str) -> bool:
    return host.run(f"systemctl is-active {unit}", check=False).strip() == "active"


def main_pid(host: Host, unit: str) -> int:
    """0 while there is none."""
    return int(host.run(f"systemctl show --value --property=MainPID {unit}").strip() or 0)
