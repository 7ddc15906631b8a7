"""What is in the wheel: all of the product that git knows, what its pages load from others, and nothing that lies in the folder."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.processes import ROOT
from tests.wheel import build
from tools.browser_packages import FILES

#: Folders and files that are for those who change gpudash.
NOT_IN_IT = (
    *(".ci/", "tests/", "bench/", "tools/", "integrations/"),
    *(".dockerignore", ".gitignore", ".pre-commit-config.yaml", "Makefile", "pyproject.toml", "requirements-dev.lock"),
    *("docker-compose.yml", "deploy/Dockerfile", "docs/openapi.yaml"),
)


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as packed:
        return set(packed.namelist())


def product() -> set[str]:
    listed = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    known = subprocess.run(["git", "-C", str(ROOT), *listed], check=True, capture_output=True, text=True).stdout
    found = {name for name in known.split("\0") if name and (ROOT / name).is_file() and not (ROOT / name).is_symlink()}
    return {name for name in found if not name.startswith(NOT_IN_IT) and not name.endswith(".po")}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    return names(build.wheel(tmp_path_factory.mktemp("wheel")))


def test_the_product_is_in_it_and_nothing_else(packed: set[str]) -> None:
    vendored = {f"static/vendor/{name}/{Path(file).name}" for name, files in FILES.items() for file in files}
    wanted = {f"{build.FOLDER}/{name}" for name in product() | vendored}
    assert {name for name in packed if ".dist-info/" not in name} == wanted


def test_site_packages_get_one_folder(packed: set[str]) -> None:
    assert {name.partition("/")[0] for name in packed if ".dist-info/" not in name} == {build.FOLDER}


def test_what_lies_in_the_folder_does_not_get_into_it(tmp_path: Path) -> None:
    """Without git, as in the image's build: no list of what to ignore."""
    source = tmp_path / "source"
    for name in (
        "pyproject.toml",
        "README.md",
        "manage.py",
        "gpudash/urls.py",
        "static/vendor/x/x.js",
        "deploy/nginx.conf",
    ):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes() if (ROOT / name).is_file() else b"")
    for name in (
        ".env",
        "gpudash/.env",
        "var/secret-key",
        "prod.kubeconfig",
        "deploy/tls.key",
        "docs/notes.txt",
        "static/a.key",
    ):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("SECRET")
    found = {name for name in names(build.wheel(tmp_path / "made", source)) if ".dist-info/" not in name}
    kept = ("README.md", "manage.py", "gpudash/urls.py", "static/vendor/x/x.js", "deploy/nginx.conf")
    assert found == {f"{build.FOLDER}/{name}" for name in kept}
