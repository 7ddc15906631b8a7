"""The version stands in one place, `gpudash.__version__`: package, chart, image tags, changelog and command follow it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from gpudash import __version__
from tests.processes import ROOT


def test_the_package_has_it() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


def test_the_chart_has_it_and_its_own_in_the_form_that_helm_takes() -> None:
    chart = yaml.safe_load((ROOT / "deploy" / "helm" / "gpudash" / "Chart.yaml").read_text())
    assert chart["appVersion"] == __version__
    assert chart["version"] == re.sub(r"rc(\d+)$", r"-rc\1", __version__)


def test_the_base_names_the_image_by_it() -> None:
    base: list[Path] = sorted((ROOT / "deploy" / "kustomize" / "base").glob("*.yaml"))
    named = {tag for path in base for tag in re.findall(r"image: gpudash:(\S+)", path.read_text())}
    assert named == {__version__}


def test_compose_names_the_image_by_it() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    named = {one["image"] for one in services.values() if "build" in one}
    assert named == {f"gpudash:{__version__}"}


def test_no_image_is_called_latest() -> None:
    files = [path for path in (ROOT / "deploy").rglob("*") if path.suffix in (".yaml", ".tpl")]
    found = [path for path in (*files, ROOT / "docker-compose.yml") if re.search(r":latest\b", path.read_text())]
    assert found == []


def test_the_changelog_begins_with_it() -> None:
    [first, *_] = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first == __version__


def test_the_command_prints_it() -> None:
    for word in ("--version", "version"):
        done = subprocess.run([sys.executable, "manage.py", word], cwd=ROOT, check=True, capture_output=True, text=True)
        assert done.stdout == f"gpudash {__version__}\n"
