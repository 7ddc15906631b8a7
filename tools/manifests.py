"""What the chart and the Kustomize base take from elsewhere: `python -m tools.manifests` writes it anew (`make manifests`).

The chart gets copies of roles, alert rules and dashboard, since a chart reads no file outside of itself. The base is the chart,
rendered with `deploy/kustomize/values.yaml`, without what is Helm's own: one truth, two ways to install.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.helm import CHART, rendered
from tests.processes import ROOT
from tests.roles import shipped

KUSTOMIZE = ROOT / "deploy" / "kustomize"
BASE = KUSTOMIZE / "base"
COPIES = {
    CHART / "files" / "alerts.yaml": ROOT / "deploy" / "prometheus" / "alerts.yaml",
    CHART / "files" / "dashboard.json": ROOT / "deploy" / "grafana" / "gpudash.json",
    CHART / "files" / "validation-policy.yaml": ROOT / "deploy" / "validation-policy.yaml",
    CHART / "files" / "quarantine-policy.yaml": ROOT / "deploy" / "quarantine-policy.yaml",
    CHART / "files" / "validation-namespace.yaml": ROOT / "deploy" / "validation-namespace.yaml",
    CHART / "files" / "validation-groups.yaml": ROOT / "deploy" / "validation-groups.yaml",
}
#: Files of deploy/ whose roles the chart gives to its accounts.
ROLES = (
    "watcher-role",
    "watcher-role-ascend",
    "watcher-role-gpushare",
    "exporters-role",
    "launcher-role",
    "quarantine-role",
)
HEAD = "# Made from the chart by `make manifests`; change deploy/helm/gpudash.\n"
NAMESPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {
        "name": "gpudash",
        "labels": {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")},
    },
}


def copies() -> dict[Path, str]:
    """Files of the chart → what belongs there."""
    made = {path: source.read_text(encoding="utf-8") for path, source in COPIES.items()}
    return made | {CHART / "files" / "roles.yaml": _roles()}


def base() -> dict[Path, str]:
    """Files of the base → what belongs there, by the chart as it is. Raises Missing and NotRendered."""
    things: dict[str, list[Any]] = {"namespace": [NAMESPACE]}
    for thing in rendered("--values", KUSTOMIZE / "values.yaml"):
        component = thing["metadata"].get("labels", {}).get("app.kubernetes.io/component", "validations")
        things.setdefault(_room(thing, component), []).append(_plain(thing))
    made = {
        BASE / f"{room}.yaml": HEAD + yaml.safe_dump_all(found, sort_keys=False, width=130)
        for room, found in things.items()
    }
    listed = {"resources": sorted(f"{room}.yaml" for room in things)}
    kind = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    return made | {BASE / "kustomization.yaml": HEAD + yaml.safe_dump(kind | listed, sort_keys=False)}


def _roles() -> str:
    """Name of a role → its rules."""
    found = {role["metadata"]["name"]: role["rules"] for file in ROLES for role in shipped(f"{file}.yaml")}
    return "# Made of deploy/*-role.yaml by `make manifests`.\n" + yaml.safe_dump(found, sort_keys=False, width=130)


def _room(thing: Any, component: str) -> str:
    return "network" if thing["kind"] == "NetworkPolicy" and component != "validations" else component


def _plain(thing: Any) -> Any:
    """Without the labels and annotations that only Helm reads."""
    for metadata in _metadata(thing):
        labels = metadata.get("labels", {})
        labels.pop("helm.sh/chart", None)
        labels.pop("app.kubernetes.io/managed-by", None)
    return thing


def _metadata(thing: Any) -> Iterator[dict[str, Any]]:
    yield thing["metadata"]
    if "template" in thing.get("spec", {}):
        yield thing["spec"]["template"]["metadata"]


def main() -> None:
    _write(copies())
    made = base()
    for path in set(BASE.glob("*.yaml")) - set(made):
        path.unlink()
    _write(made)


def _write(files: dict[Path, str]) -> None:
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
