"""A cluster by form, in `standalone` in front of a real API server: added, watched, its token replaced, removed."""

from __future__ import annotations

import base64
import http.cookiejar
import json
import re
import stat
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from inventory.models import Cluster, Watch
from inventory.models.cluster import WatchState
from tests.cluster.agreement import in_step
from tests.cluster.credentials import grant, role
from tests.cluster.fleet import Fleet
from tests.cluster.test_credentials import READ, shipped_role
from tests.controlplane.admin import Admin
from tests.controlplane.controlplane import ControlPlane
from tests.processes import Processes
from tests.services import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]
NEW = "/administration/clusters/new"
BOUNDARY = "boundary-of-the-form"


class Administrator:
    """Whoever opened the link that was printed, with a browser that sends forms."""

    def __init__(self, processes: Processes) -> None:
        link = _printed(processes, r"http://\S+/sign-in/link/\S+")
        self.root = link.partition("/sign-in/")[0]
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self.send(link.removeprefix(self.root))

    def page(self, path: str) -> str:
        text: str = self._opener.open(self.root + path, timeout=60).read().decode()
        return text

    def send(self, path: str, file: bytes = b"", status: int = 200, **fields: str) -> str:
        """The page after a form."""
        hidden = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.page(path))
        assert hidden
        body = _multipart(fields | {"csrfmiddlewaretoken": hidden[1]}, file)
        headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Referer": self.root + path}
        asked = urllib.request.Request(self.root + path, body, headers)
        try:
            answer = self._opener.open(asked, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        text: str = answer.read().decode()
        assert answer.status == status, text[-3000:]
        return text


def _multipart(fields: Mapping[str, str], file: bytes) -> bytes:
    parts = [f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode() for name, value in fields.items()]
    if file:
        parts.append(b'Content-Disposition: form-data; name="file"; filename="config"\r\n\r\n' + file)
    return b"".join(b"--%s\r\n%s\r\n" % (BOUNDARY.encode(), part) for part in parts) + f"--{BOUNDARY}--\r\n".encode()


def _printed(processes: Processes, pattern: str) -> str:
    found: list[str] = []

    def there() -> bool:
        log = processes.log("standalone")
        found.extend(re.findall(pattern, log.read_text()) if log.exists() else [])
        return bool(found)

    wait_until(there, f"it prints {pattern}", 60)
    return found[0]


def flattened(plane: ControlPlane, token: str) -> dict[str, Any]:
    """The administrator's kubeconfig as `kubectl config view --raw --flatten` writes it, of the owner of this token."""
    config: dict[str, Any] = json.loads(Path(plane.kubeconfig).read_text())
    cluster = config["clusters"][0]["cluster"]
    authority = Path(cluster.pop("certificate-authority")).read_bytes()
    cluster["certificate-authority-data"] = base64.b64encode(authority).decode()
    config["users"][0]["user"] = {"token": token}
    return config


def file_of(config: Any) -> bytes:
    return json.dumps(config).encode()


def test_a_cluster_is_added_watched_rotated_and_removed_by_form(
    fleet: Fleet, admin: Admin, plane: ControlPlane, processes: Processes, tmp_path: Path
) -> None:
    old, new, weak = (plane.add_token(user, []) for user in ("form", "form", "weak"))
    plane.restart("apiserver")
    grant(admin, shipped_role(), "form")
    grant(admin, role("pods-only", pods=READ), "weak")
    fleet.build()
    home = tmp_path / "home"
    home.mkdir()
    processes.manage("standalone", "--port", "0", HOME=str(home), KUBECONFIG="", GPUDASH_KUBECONFIG="")
    assert "Add a cluster on the page Clusters" in _printed(processes, "No kubeconfig found.*")
    somebody = Administrator(processes)

    unflattened = json.loads(Path(plane.kubeconfig).read_text())
    assert "names a file" in somebody.send(NEW, file_of(unflattened), 400, name="lab")
    text = somebody.send(NEW, file_of(flattened(plane, "no-such-token")), 400, name="lab")
    assert "The API server does not accept the credentials (401 Unauthorized)." in text
    text = somebody.send(NEW, file_of(flattened(plane, weak)), 400, name="lab")
    assert "The credentials have no permission to list nodes, watch nodes." in text
    strange = flattened(plane, old)
    strange["clusters"][0]["cluster"].pop("certificate-authority-data")
    text = somebody.send(NEW, file_of(strange), 400, name="lab")
    assert "cannot reach" in text
    assert "TLS: " in text
    assert not Cluster.objects.exists()
    stored = tmp_path / "kubeconfigs"
    assert list(stored.iterdir()) == []

    assert "Watchers start within seconds." in somebody.send(NEW, file_of(flattened(plane, old)), name="lab")
    cluster = Cluster.objects.get()
    assert stat.S_IMODE((stored / "lab.yaml").stat().st_mode) == 0o600
    in_step(admin, cluster)
    text = somebody.send(NEW, file_of(flattened(plane, new)), 400, name="again")
    assert "This is the cluster lab (same UID of kube-system)." in text

    plane.drop_token(old)
    plane.restart("apiserver")
    refused = Watch.objects.filter(cluster=cluster, state=WatchState.REFUSED, reason__contains="401")
    wait_until(refused.exists, "the revoked token is refused", 60)
    somebody.send("/clusters/lab/kubeconfig", file_of(flattened(plane, new)))
    fleet.run("gib", "meanwhile", "gib-0", {6: 2})
    in_step(admin, cluster)

    assert "Removed cluster lab." in somebody.send("/clusters/lab/remove")
    assert not Cluster.objects.exists()
    assert list(stored.iterdir()) == []
    logs = "".join(log.read_text() for log in tmp_path.glob("*.log*"))
    assert "POST /administration/clusters/new" in logs
    assert not [secret for secret in (old, new, weak) if secret in logs]
    assert "Traceback" not in logs
