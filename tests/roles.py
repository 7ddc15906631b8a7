"""The roles that gpudash ships (deploy/*.yaml), as the cluster gets them."""

from __future__ import annotations

from typing import Any

import yaml

from tests.processes import ROOT


def shipped(name: str) -> list[dict[str, Any]]:
    """The Roles and ClusterRoles of a file, in its order. name: "watcher-role.yaml" or "launcher-role.yaml"."""
    things = yaml.safe_load_all((ROOT / "deploy" / name).read_text(encoding="utf-8"))
    return [thing for thing in things if thing["kind"] in ("Role", "ClusterRole")]
