"""docs/install-pipx.md and docs/install-offline.md, word by word: the wheel is installed outside of the checkout, and works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpudash import __version__
from tests.processes import ROOT
from tests.services import wait_until
from tests.team import page
from tests.visitor import Visitor
from tests.wheel import build
from tests.wheel.conftest import Person

pytestmark = [pytest.mark.team, pytest.mark.timeout(900)]

PIPX, AIR_GAP = ROOT / "docs" / "install-pipx.md", ROOT / "docs" / "install-offline.md"


def follow(person: Person, steps: list[page.Step]) -> None:
    for step in steps:
        printed = person.types(step.command)
        assert step.agrees(printed), f"$ {step.command}\nThe page shows:\n{step.shown}\nIt printed:\n{printed}"


def test_uv_installs_it(person: Person, wheel: Path) -> None:
    follow(person, page.steps("With uv", PIPX, the_wheel=str(wheel)))
    site = person.types("ls ~/.local/share/uv/tools/gpudash/lib/python3*/site-packages").split()
    ours = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()} | {"templates", "static", "docs"}
    assert not ours & set(site), "names of ours that others may have"


@pytest.fixture(scope="module")
def demo(person: Person) -> tuple[Visitor, Path]:
    """Running, and what it printed."""
    started, _ = page.steps("Start", PIPX)
    link, log = person.starts(started.command)
    assert started.agrees(log.read_text().replace(link.partition("/sign-in")[0], "http://127.0.0.1:8000"))
    visitor = Visitor(link)
    wait_until(lambda: "dgx-h100-01" in visitor.get("/nodes"), "the fleet is synced", 120, 1)
    return visitor, log


def test_the_demo_has_pages_styles_scripts_documents_and_languages(demo: tuple[Visitor, Path]) -> None:
    visitor, _ = demo
    assert __version__ in visitor.page("/")
    for file in ("css/frame.css", "vendor/idiomorph/idiomorph.min.js", "vendor/swagger-ui-dist/swagger-ui-bundle.js"):
        assert len(visitor.get(f"/static/{file}")) > 1000
    assert "NVIDIA" in visitor.page("/docs/numbers")
    assert "节点" in visitor.page("/nodes", "zh-hans")


def test_a_run_passes_and_another_fails_with_its_reason(person: Person, demo: tuple[Visitor, Path]) -> None:
    passed = person.types("gpudash validate cuda-vectoradd --node dgx-h100-01 --wait")
    assert "passed" in passed
    with pytest.raises(build.Failed, match="failed"):
        person.types("gpudash validate cuda-vectoradd --node gpu-v100-02 --wait")


def test_kubectl_gpudash_asks_it(person: Person, demo: tuple[Visitor, Path]) -> None:
    """By the name that kubectl looks for, and as kubectl calls it."""
    asked = f"GPUDASH_SERVER={demo[0].root} GPUDASH_TOKEN=$(gpudash token create local) kubectl-gpudash"
    assert "dgx-h100-01" in person.types(f"{asked} free")
    assert " GPU nodes fit now" in person.types(f"{asked} fit 2x20Gi")


def test_its_data_are_in_the_persons_folder_and_nowhere_else(person: Person, demo: tuple[Visitor, Path]) -> None:
    kept = person.home / ".local" / "share" / "gpudash"
    assert {"gpudash.sqlite3", "secret-key"} <= {path.name for path in kept.iterdir()}
    assert kept.stat().st_mode & 0o077 == 0
    assert {path.name for path in person.home.iterdir()} <= {".local", ".cache", ".config", "0.log"}


def test_standalone_watches_a_cluster(person: Person, demo: tuple[Visitor, Path]) -> None:
    """The demo's, which is served as a cluster is."""
    config = person.home / ".kube" / "config"
    config.parent.mkdir()
    config.write_bytes((person.home / ".local" / "share" / "gpudash" / "demo-kubeconfig").read_bytes())
    _, step = page.steps("Start", PIPX)
    alone = f"env GPUDASH_DATA_DIR={person.home / 'alone'}"
    _, log = person.starts(f"{alone} {step.command}")
    assert "Watching http" in log.read_text()
    wait_until(lambda: "nodes: in sync" in person.types(f"{alone} gpudash cluster list"), "it is in sync", 120, 2)


def test_the_upgrade_says_what_changes_and_keeps_data(person: Person, wheel: Path) -> None:
    person.leaves()
    follow(person, page.steps("Upgrade", PIPX, the_new_wheel=str(wheel)))
    assert "dgx-h100-01" in person.types("gpudash inspect dgx-h100-01")


def test_pipx_installs_it(tmp_path: Path, wheel: Path) -> None:
    person = Person(tmp_path, (build.environment_with(tmp_path / "pipx", "pipx"),))
    follow(person, page.steps("With pipx", PIPX, the_wheel=str(wheel)))


def test_it_is_installed_without_a_network(tmp_path: Path, wheel: Path) -> None:
    """`make wheel` has run. The second machine has no registry."""
    person = Person(tmp_path, (Path(sys.executable).parent,))
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / wheel.name).write_bytes(wheel.read_bytes())
    (tmp_path / "requirements.lock").write_bytes((ROOT / "requirements.lock").read_bytes())
    made, *fetch = page.steps("Fetch", AIR_GAP, a_folder_for_pip=str(tmp_path / "pip"))
    assert made.command == "make wheel"
    follow(person, fetch)
    steps = page.steps("Install on a host", AIR_GAP)
    here = [page.Step(step.command.replace("/opt/gpudash", str(tmp_path / "opt")), step.shown) for step in steps]
    offline = "unshare --net --map-root-user" if _may_unshare() else "env"
    follow(person, [page.Step(f"{offline} {step.command}", step.shown) for step in here])


def _may_unshare() -> bool:
    return subprocess.run(["unshare", "--net", "--map-root-user", "true"], capture_output=True).returncode == 0
