"""Which claims are mirrored, and what their rows and those of pods say of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from inventory.mirror.claims import claim_row, of_pod
from kube.claims import ResourceClaim
from kube.objects import Pod
from stacks.engine.base import Context

NOW = Context(now=0.0)


def row(device_class: str, *, results: list[dict[str, str]] | None = None, **metadata: str) -> dict[str, Any] | None:
    exactly = {"deviceClassName": device_class, "selectors": [{"cel": {"expression": "true"}}]}
    thing: dict[str, Any] = {
        "metadata": {"name": "c", "namespace": "default", "uid": "1", **metadata},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
    }
    if results is not None:
        thing["status"] = {"allocation": {"devices": {"results": results}}}
    return claim_row(msgspec.convert(thing, ResourceClaim), NOW)


@pytest.mark.parametrize(
    "name", ["gpu.nvidia.com", "mig.nvidia.com", "mig-1g-12gb.gpu.nvidia.com", "large", "gpu.amd.com"]
)
def test_a_claim_that_waits_is_kept_by_any_class_that_may_be_of_cards(name: str) -> None:
    """An administrator calls a class as he likes."""
    found = row(name)
    assert found is not None
    assert (found["allocated"], found["deleting"], found["node_name"]) == (False, False, "")
    assert msgspec.json.decode(found["asks"])[0][:3] == ["gpu", name, 1]


@pytest.mark.parametrize(
    "name", ["compute-domain-daemon.nvidia.com", "rdma.example.com", "sriov-nic.example.com", "fpga.example.com"]
)
def test_one_of_a_class_of_other_devices_is_not(name: str) -> None:
    assert row(name) is None


def test_once_it_is_allocated_the_driver_says_what_it_is() -> None:
    card = {"driver": "gpu.nvidia.com", "pool": "n1", "device": "gpu-0", "request": "gpu"}
    assert row("large", results=[{**card, "driver": "dra.net"}]) is None
    found = row("rdma.example.com", results=[card], deletionTimestamp="2026-11-22T12:00:00Z")
    assert found is not None
    assert (found["allocated"], found["deleting"], found["node_name"]) == (True, True, "n1")
    # The conditions have their own column; what stacks read has none.
    assert "selectors" not in found["facts"]


@pytest.mark.parametrize(
    ("spec", "status", "wanted"),
    [
        ({}, {}, ""),
        ({"resourceClaims": []}, None, ""),
        ({"resourceClaims": [{"name": "g", "resourceClaimName": "c"}]}, None, '[["g","c",""]]'),
        ({"resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}]}, {}, '[["g","","t"]]'),
        (
            {"resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}]},
            {"resourceClaimStatuses": [{"name": "g", "resourceClaimName": "p-g-x"}, {"name": "h"}]},
            '[["g","p-g-x","t"]]',
        ),
        ({"resourceClaims": [{"name": "a\0b" + "x" * 400}]}, {}, f'[["{("ab" + "x" * 400)[:253]}","",""]]'),
    ],
)
def test_a_pod_names_its_claims(spec: dict[str, Any], status: dict[str, Any] | None, wanted: str) -> None:
    assert of_pod(msgspec.convert({"metadata": {}, "spec": spec, "status": status}, Pod)) == wanted
