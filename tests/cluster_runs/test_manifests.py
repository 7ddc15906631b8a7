"""Every recorded manifest of every suite, as the real API server reads it: strictly, and without storing anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cluster_runs.conftest import NAMESPACE
from tests.controlplane.admin import Admin
from tests.processes import ROOT

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

GOLDEN = ROOT / "tests" / "validations" / "suites" / "golden" / "manifests"
MANIFESTS = sorted(GOLDEN.glob("*/*.json"))


def within(mine: Any, theirs: Any) -> bool:
    """Whether all that the manifest says is in the answer, unchanged; the server may add defaults."""
    if isinstance(mine, dict):
        return isinstance(theirs, dict) and all(within(value, theirs.get(name)) for name, value in mine.items())
    if isinstance(mine, list):
        alike = isinstance(theirs, list) and len(mine) == len(theirs)
        return alike and all(within(one, other) for one, other in zip(mine, theirs, strict=True))
    return bool(mine == theirs)


@pytest.mark.parametrize("recorded", MANIFESTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_api_server_takes_it_whole(admin: Admin, recorded: Path) -> None:
    manifest = json.loads(recorded.read_text())
    manifest["metadata"]["namespace"] = NAMESPACE
    path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs?dryRun=All&fieldValidation=Strict"
    answer = admin.call("POST", path, manifest)
    assert within(manifest["spec"], answer["spec"])
    assert within(manifest["metadata"]["labels"], answer["metadata"]["labels"])


def test_nothing_was_stored(admin: Admin) -> None:
    assert len(MANIFESTS) > 40
    assert admin.list(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs") == []
