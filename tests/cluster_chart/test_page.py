"""What docs/kubernetes.md has readers write works: its values, its overlay, and what it says of accounts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cluster_chart.apply import Applier
from tests.controlplane import controlplane
from tests.docs.reading import ROOT, blocks, console_lines, table_rows
from tests.helm import rendered

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]

PAGE = ROOT / "docs" / "kubernetes.md"
DIGEST = "a" * 64


@pytest.fixture(scope="module")
def written() -> list[str]:
    """The page's YAML: the values, how people sign in, then the overlay."""
    found = [block.replace("<of your image>", DIGEST) for block in blocks(PAGE, "yaml")]
    assert len(found) == 3
    return found


def test_its_values_are_taken(applier: Applier, written: list[str], tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text(written[0])
    made = rendered("--values", tmp_path / "values.yaml")
    for one in made:
        applier.apply(one)
    images = {
        one["spec"]["template"]["spec"]["containers"][0]["image"]
        for one in made
        if one["kind"] in ("Deployment", "Job")
    }
    assert images == {f"registry.example.com/gpudash@sha256:{DIGEST}"}


def test_how_people_sign_in_is_taken(applier: Applier, written: list[str], tmp_path: Path) -> None:
    values = [tmp_path / "values.yaml", tmp_path / "sign-in.yaml"]
    for path, text in zip(values, written, strict=False):
        path.write_text(text)
    made = rendered("--values", values[0], "--values", values[1])
    for one in made:
        applier.apply(one)
    (web,) = [one for one in made if (one["kind"], one["metadata"]["name"]) == ("Deployment", "gpudash-web")]
    given = {row["name"]: row.get("value") for row in web["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert given["GPUDASH_GROUP_ROLES"] == "gpu-admins=admin; team-a=viewer:here/team-a"
    assert given["GPUDASH_LOCAL_ACCOUNTS"] == "false"


def test_its_overlay_is_taken(applier: Applier, written: list[str], tmp_path: Path) -> None:
    """The overlay stands beside a checkout of gpudash."""
    (tmp_path / "gpudash").symlink_to(ROOT)
    (tmp_path / "kustomization.yaml").write_text(written[2])
    kubectl = [controlplane.cache() / "kubectl", "kustomize", "--load-restrictor=LoadRestrictionsNone", tmp_path]
    done = subprocess.run(kubectl, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = list(yaml.safe_load_all(done.stdout))
    for one in made:
        applier.apply(one)
    (settings,) = [one["data"] for one in made if one["metadata"]["name"] == "gpudash-settings"]
    assert settings["GPUDASH_DATABASE_URL"].startswith(
        "postgresql://gpudash@postgres.example.com:5432/gpudash?sslmode="
    )
    assert settings["GPUDASH_ENV"] == "production", "what the overlay does not say stays"
    (web,) = [one for one in made if (one["kind"], one["metadata"]["name"]) == ("Deployment", "gpudash-web")]
    (container,) = web["spec"]["template"]["spec"]["containers"]
    assert container["image"] == f"registry.example.com/gpudash@sha256:{DIGEST}"
    assert container["envFrom"] == [{"configMapRef": {"name": "gpudash-settings"}}]


def test_what_its_commands_name_is_there() -> None:
    made = {
        (one["kind"], one["metadata"]["name"]) for one in rendered("--values", ROOT / "deploy/kustomize/values.yaml")
    }
    lines = list(console_lines(PAGE))
    called = {
        word.removeprefix("deploy/") for line in lines for word in line.split() if word.startswith("deploy/gpudash-")
    }
    assert called == {"gpudash-web", "gpudash-watch", "gpudash-launch"}
    assert {("Deployment", name) for name in called} <= made
    accounts = [row[1] for row in table_rows(PAGE) if row[1].startswith("`gpudash-")]
    named = {name for cell in accounts for name in re.findall("`(gpudash-[a-z]+)`", cell)}
    assert {("ServiceAccount", name) for name in named} == {one for one in made if one[0] == "ServiceAccount"}
