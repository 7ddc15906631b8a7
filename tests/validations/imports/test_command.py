"""`gpudash results import|list`, as automation calls it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from inventory.models import Cluster
from tests.factories import make_cluster, make_node
from tests.validations.imports.test_golden import ROOT
from validations.models import ImportedResult

FAIL = str(ROOT / "dcgm-3.3.9-r2-memory-fail.json")


def run(*words: str) -> str:
    out = io.StringIO()
    call_command("results", *words, stdout=out)
    return out.getvalue()


@pytest.fixture
def prod(db: None) -> Cluster:
    cluster = make_cluster("prod")
    make_node(cluster, "gpu-1", "hami", 2)
    return cluster


def test_a_dry_run_needs_no_database() -> None:
    told = json.loads(run("import", "dcgmi-diag", FAIL, "--node", "gpu-1", "--dry-run", "-o", "json"))
    assert list(told) == ["format", "tool_version", "verdict", "complete", "nodes", "cards", "measurements"]
    assert told["cards"][1] == {
        "node": "gpu-1",
        "index": 1,
        "uuid": None,
        "serial": "1654322006512",
        "verdict": "failed",
        "test": "GPU Memory",
        "error_id": 4,
        "error_severity": 2,
        "may_isolate": True,
    }


def test_superbench_takes_its_rules_and_baseline_beside_it() -> None:
    stem = str(ROOT / "superbench-results-summary")
    beside = ("--rules", f"{stem}.rules.yaml", "--baseline", f"{stem}.baseline.json")
    text = run("import", "superbench-results", f"{stem}.jsonl", *beside, "--dry-run")
    assert text.startswith(
        "superbench-results: reported failed, incomplete\n  gpu-a01  passed\n  gpu-a02  failed: mem-bw"
    )
    assert "  gpu-a03  errored: mem-bw/return_code 124 (killed by timeout)" in text
    assert "  gpu-a01 mem-bw/H2D_Mem_BW:0 = 55.2" in text


def test_an_import_is_kept_once_and_listed(prod: Cluster) -> None:
    text = run("import", "dcgmi-diag", FAIL, "--node", "gpu-1")
    [row] = ImportedResult.objects.all()
    assert text.splitlines()[-1] == f"{row.pk}: 1 nodes, 2 cards"
    assert "gpu-1 card 1 1654322006512  failed  GPU Memory  error 4 severity 2  may be isolated" in text
    assert "was imported before" in run("import", "dcgmi-diag", FAIL, "--node", "gpu-1")
    assert (row.authenticated_by, bool(row.sent_by_name)) == ("command", True)
    assert f"{row.pk}  " in run("list")
    [told] = json.loads(run("list", "--cluster", "prod", "-o", "json"))
    assert (told["id"], told["level"], told["verdict"], told["complete"]) == (row.pk, "reported", "failed", True)
    assert run("list", "--cluster", "none") == ""


def test_a_file_comes_from_standard_input_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(Path(FAIL).read_bytes())))
    assert "reported failed" in run("import", "dcgmi-diag", "-", "--dry-run")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("none", FAIL), "format: Must be one of: dcgmi-diag, superbench-results"),
        (("junit", FAIL), "Line 1: not XML"),
        (("dcgmi-diag", "/no/such/file"), "cannot read (No such file or directory)"),
        (("dcgmi-diag", FAIL, "--rules", FAIL), "--rules: Does not belong to the format dcgmi-diag."),
    ],
)
def test_what_is_wrong_is_named(words: tuple[Any, ...], text: str) -> None:
    with pytest.raises(CommandError) as error:
        run("import", *words, "--dry-run")
    assert text in str(error.value)
    assert error.value.returncode == 2


def test_a_cluster_that_is_not_there_is_named(prod: Cluster) -> None:
    with pytest.raises(CommandError, match=r"--cluster: No cluster .other.\. Clusters: prod\."):
        run("import", "dcgmi-diag", FAIL, "--cluster", "other")


@pytest.mark.parametrize("limit", ["0", "-1", "10001"])
def test_a_limit_out_of_bounds_is_named(prod: Cluster, limit: str) -> None:
    with pytest.raises(CommandError, match="--limit: must be an integer from 1 to 10000") as error:
        run("list", f"--limit={limit}")
    assert error.value.returncode == 2
