"""Service accounts of gpudash in the cluster, and tokens of theirs that are changed while they are in use.

A token is that of a Secret, in a file that a kubeconfig names; with the Secret it is revoked.
"""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path

from tests.controlplane import controlplane
from tests.controlplane.admin import Admin, Refused
from tests.controlplane.objects import Json
from tests.processes import ROOT
from tests.services import wait_until
from tests.soak.api import patiently

NAMESPACE = "gpudash"
#: The API server remembers a token that it has accepted for ten seconds; a Secret's token comes within one, once the server is there.
TOKEN_S = 150.0


def apply_roles(kubeconfig: Path) -> None:
    """As docs/team.md says: the shipped roles and policies of all its accounts."""
    kubectl = [str(controlplane.cache() / "kubectl"), "--kubeconfig", str(kubeconfig)]
    roles = ("watcher-role.yaml", "watcher-role-gpushare.yaml", "launcher-role.yaml", "quarantine-role.yaml")
    for name in ("validation-namespace.yaml", *roles, "quarantine-policy.yaml"):
        subprocess.run([*kubectl, "apply", "-f", str(ROOT / "deploy" / name)], check=True, capture_output=True)


class ServiceToken:
    """One use of a service account: a kubeconfig that names a token file, and the Secret whose token is in it now."""

    def __init__(self, admin: Admin, account: str, use: str, server: str, authority: str, folder: Path) -> None:
        """use: what tells it from other tokens of the account. server: address of the API. authority: path of its CA."""
        self.admin, self.account, self.use = admin, account, use
        self._number = 0
        self.token_file = folder / f"{account}-{use}.token"
        self.kubeconfig = folder / f"{account}-{use}.kubeconfig"
        self.kubeconfig.write_text(json.dumps(_kubeconfig(server, authority, self.token_file)))
        self._secret = self.issue()

    def issue(self) -> str:
        """Make a further Secret, and put its token into the file; its name."""
        name, token = self.make()
        self.put(token)
        return name

    def make(self) -> tuple[str, str]:
        """(name, token) of a further Secret."""
        self._number += 1
        name = f"{self.account}-{self.use}-{self._number}"
        annotations = {"kubernetes.io/service-account.name": self.account}
        secret = {"metadata": {"name": name, "annotations": annotations}, "type": "kubernetes.io/service-account-token"}
        patiently(lambda: self._post(secret))
        wait_until(lambda: bool(self._token(name)), f"the Secret {name} has a token", TOKEN_S)
        return name, self._token(name)

    def _post(self, secret: Json) -> None:
        try:
            self.admin.call("POST", f"/api/v1/namespaces/{NAMESPACE}/secrets", secret)
        except Refused as refused:
            if refused.status != 409:
                raise

    def _token(self, name: str) -> str:
        secret = patiently(lambda: self.admin.call("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets/{name}"))
        return base64.b64decode(secret.get("data", {}).get("token", "")).decode()

    def put(self, token: str) -> None:
        """At once, as a kubelet does it: no reader sees half a token."""
        written = self.token_file.with_suffix(".new")
        written.write_text(token)
        written.chmod(0o600)
        written.rename(self.token_file)

    def revoke(self, name: str) -> None:
        try:
            patiently(lambda: self.admin.call("DELETE", f"/api/v1/namespaces/{NAMESPACE}/secrets/{name}", {}))
        except Refused as refused:
            if refused.status != 404:
                raise

    def begin_change(self, revoke_first: bool) -> str:
        """A new token is made; revoke_first: the old one is dead before the new one is in the file. The token to `put`."""
        old, (self._secret, token) = self._secret, self.make()
        if not revoke_first:
            self.put(token)
        self.revoke(old)
        return token


def _kubeconfig(server: str, authority: str, token_file: Path) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "soak",
        "clusters": [{"name": "soak", "cluster": {"server": server, "certificate-authority": authority}}],
        "users": [{"name": "soak", "user": {"tokenFile": str(token_file)}}],
        "contexts": [{"name": "soak", "context": {"cluster": "soak", "user": "soak"}}],
    }
