"""Helm, built from its Go module at one version, and what it makes of the chart."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.controlplane.controlplane import KUBERNETES
from tests.go_program import program
from tests.processes import ROOT

PACKAGE, VERSION = "helm.sh/helm/v3/cmd/helm", "v3.22.0"
#: Names a program that is built already, where the module cannot be had.
SETTING = "HELM"
CHART = ROOT / "deploy" / "helm" / "gpudash"
#: What must be given, and everything on.
VALUES = {name: CHART / "ci" / f"{name}-values.yaml" for name in ("minimal", "full")}
NAMESPACE = "gpudash"


class NotRendered(Exception):
    """Helm refused; the text is what it said."""


def helm(*words: str | Path) -> str:
    """What it prints. Raises Missing and NotRendered."""
    command = [str(program(PACKAGE, VERSION, SETTING)), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise NotRendered(done.stderr.strip() + done.stdout.strip())
    return done.stdout


def rendered(*words: str | Path) -> list[dict[str, Any]]:
    """The manifests of a release `gpudash`, as the cluster would get them, hooks too. words: as of `helm template`."""
    where = ("--namespace", NAMESPACE, "--kube-version", KUBERNETES, "--include-crds")
    text = helm("template", "gpudash", CHART, *where, *words)
    return [thing for thing in yaml.safe_load_all(text) if thing]


def release(values: str, *words: str | Path) -> list[dict[str, Any]]:
    """With the values of a file of `ci/`: "minimal" or "full"."""
    return rendered("--values", VALUES[values], *words)
