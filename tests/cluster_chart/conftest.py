"""A real API server, with the namespaces that the chart is installed into and the kinds of the Prometheus operator."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests import services
from tests.cluster_chart.apply import Applier
from tests.controlplane import controlplane
from tests.controlplane.admin import Admin, Refused
from tests.controlplane.controlplane import ControlPlane
from tests.go_program import Withheld, program
from tests.helm import NAMESPACE, PACKAGE, SETTING, VERSION
from tests.services import Missing

#: Kinds of others, as far as the API server has to know them.
OPERATOR = {"ServiceMonitor": "servicemonitors", "PrometheusRule": "prometheusrules"}


@pytest.fixture(scope="session", autouse=True)
def _helm() -> None:
    try:
        program(PACKAGE, VERSION, SETTING)
    except Withheld as withheld:
        services.or_skip(withheld)


@pytest.fixture(scope="session")
def plane() -> Iterator[ControlPlane]:
    built = all((controlplane.cache() / name).exists() for name in controlplane.BINARIES)
    if not built and shutil.which("go") is None:
        services.or_skip(Missing("no control plane here and no Go to build it (tests/controlplane/README.md)"))
    with services.scratch("chart") as folder:
        running = ControlPlane(folder)
        try:
            running.up(("etcd", "apiserver"))
            yield running
        finally:
            running.down()


@pytest.fixture(scope="session")
def admin(plane: ControlPlane) -> Admin:
    """The namespace of the chart takes no pod that is not `restricted`."""
    made = Admin(plane.kubeconfig)
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    made.call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE, "labels": labels}})
    for name in ("kube-system", "gpudash-validations", "gpu-operator"):
        made.ensure_namespace(name)
    for kind, plural in OPERATOR.items():
        made.create(_crd(kind, plural))
    services.wait_until(lambda: _served(made) >= set(OPERATOR.values()), "the kinds of the operator are served")
    return made


def _served(admin: Admin) -> set[str]:
    """The group is listed before it is answered for."""
    try:
        return {one["name"] for one in admin.call("GET", "/apis/monitoring.coreos.com/v1")["resources"]}
    except Refused as refused:
        if refused.status in (404, 503):
            return set()
        raise


def _crd(kind: str, plural: str) -> dict[str, object]:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}
    spec = {"group": "monitoring.coreos.com", "scope": "Namespaced", "names": names, "versions": [version]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.monitoring.coreos.com"},
        "spec": spec,
    }


@pytest.fixture(scope="session")
def applier(admin: Admin) -> Applier:
    return Applier(admin)
