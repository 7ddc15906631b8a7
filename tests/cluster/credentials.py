"""Users of the control plane who are not its administrator: tokens, and what RBAC grants them."""

from __future__ import annotations

from pathlib import Path

from tests.controlplane.admin import Admin, Refused, write_kubeconfig
from tests.controlplane.controlplane import ControlPlane
from tests.controlplane.objects import Json

_RBAC = "/apis/rbac.authorization.k8s.io/v1"


def role(name: str, **verbs_by_resource: list[str]) -> Json:
    """A ClusterRole of core resources ("daemonsets" is of apps)."""
    rules = [
        {"apiGroups": ["apps" if resource == "daemonsets" else ""], "resources": [resource], "verbs": verbs}
        for resource, verbs in verbs_by_resource.items()
    ]
    return {"metadata": {"name": name}, "rules": rules}


def grant(admin: Admin, role: Json, user: str) -> None:
    """Make the ClusterRole and bind it to the user; what is there already stays."""
    name = role["metadata"]["name"]
    subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": "ClusterRole", "name": name, "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"metadata": {"name": f"{name}-{user}"}, "subjects": [subject], "roleRef": reference}
    for path, thing in (("clusterroles", role), ("clusterrolebindings", binding)):
        try:
            admin.call("POST", f"{_RBAC}/{path}", thing)
        except Refused as refused:
            if refused.status != 409:
                raise


def grant_in_namespace(admin: Admin, role: Json, user: str) -> None:
    """Make the Role in its namespace and bind it to the user."""
    name, namespace = role["metadata"]["name"], role["metadata"]["namespace"]
    subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": "Role", "name": name, "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"metadata": {"name": f"{name}-{user}"}, "subjects": [subject], "roleRef": reference}
    for path, thing in (("roles", role), ("rolebindings", binding)):
        admin.call("POST", f"{_RBAC}/namespaces/{namespace}/{path}", thing)


def token_file_config(folder: Path, plane: ControlPlane, token: str) -> tuple[Path, Path]:
    """(kubeconfig, token file): credentials that rotate by writing the file anew, as a kubelet does for a pod."""
    token_file = folder / "token"
    token_file.write_text(token)
    return write_kubeconfig(
        folder / "kubeconfig-token-file", plane.kubeconfig, {"tokenFile": str(token_file)}
    ), token_file
