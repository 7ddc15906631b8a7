"""Kubeconfigs that a page stored: private, whole or as before, gone with their cluster; a team's page stores none."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings

from fleetsim import Server
from gpudash.config.data_folder import keep_private
from inventory import clusters
from inventory import kubeconfig_files as files
from inventory.models import Cluster
from tests.inventory.commands.conftest import Run, api_server, clock, kubeconfig, run

__all__ = ["api_server", "clock", "kubeconfig", "run"]


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIR, settings.ONE_PROCESS = tmp_path / "data", True
    settings.DATA_DIR.mkdir(mode=0o700)
    return Path(settings.DATA_DIR / "kubeconfigs")


def put(name: str, text: bytes) -> Path:
    with files.offered(name, text) as offer, files.stored(offer, name) as path:
        return path


def test_a_page_stores_nothing_unless_one_process_is_everything(settings: Any) -> None:
    assert django_settings.ONE_PROCESS is False, "it is no setting of the environment"
    assert not files.may_store()
    settings.ONE_PROCESS = True
    assert files.may_store()
    settings.CREDENTIAL_FOLDERS = ["/etc/gpudash"]
    assert not files.may_store()


def test_no_variable_of_the_environment_is_read_for_it() -> None:
    source = Path("gpudash/settings.py").read_text()
    assert "ONE_PROCESS = False\n" in source
    assert source.count("ONE_PROCESS") == 1


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_file_is_its_owners_alone_whatever_the_umask(folder: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        path = put("lab", b"one")
    finally:
        os.umask(before)
    assert path == folder / "lab.yaml"
    assert [stat.S_IMODE(one.stat().st_mode) for one in (folder, path)] == [0o700, 0o600]


def test_another_one_takes_its_place_whole_and_a_failure_puts_it_back(folder: Path) -> None:
    put("lab", b"one")
    put("lab", b"two")
    with pytest.raises(RuntimeError), files.offered("lab", b"three") as offer, files.stored(offer, "lab"):
        raise RuntimeError
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == {"lab.yaml": b"two"}
    with pytest.raises(RuntimeError), files.offered("new", b"one") as offer, files.stored(offer, "new"):
        raise RuntimeError
    assert [one.name for one in folder.iterdir()] == ["lab.yaml"]


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", ".x", "x\n", "X", "x\0"])
def test_a_name_that_is_none_gets_no_file(folder: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not the name of a cluster"), files.offered(name, b"one"):
        pass
    assert not folder.exists()


def test_what_a_killed_process_left_is_swept_and_what_another_checks_now_is_not(folder: Path) -> None:
    put("lab", b"one")
    left, fresh = folder / ".lab.0123", folder / ".lab.4567"
    left.write_bytes(b"secret")
    fresh.write_bytes(b"secret")
    os.utime(left, (1, 1))
    put("lab", b"two")
    assert {one.name for one in folder.iterdir()} == {"lab.yaml", ".lab.4567"}


def test_a_folder_that_takes_no_file_is_named(folder: Path) -> None:
    folder.write_text("a file")
    with pytest.raises(files.CannotStore, match="kubeconfigs: cannot store the kubeconfig"), files.offered("x", b"1"):
        pass


def test_only_files_of_the_folder_are_discarded(folder: Path, tmp_path: Path) -> None:
    path, other = put("lab", b"one"), tmp_path / "mine"
    other.write_text("mine")
    for one in (str(other), "", str(folder / ".." / ".." / "mine"), str(path)):
        files.discard(one)
    assert other.exists()
    assert not path.exists()
    files.discard(str(path))


def test_a_copy_that_was_left_open_is_closed_at_the_start(folder: Path, settings: Any) -> None:
    path = put("lab", b"one")
    path.chmod(0o644)
    keep_private(settings.DATA_DIR, {"ENGINE": "django.db.backends.postgresql", "NAME": "x"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.fixture
def lab(db: None, folder: Path, kubeconfig: str) -> Cluster:
    """A cluster whose kubeconfig was uploaded."""
    return clusters.add("lab", str(put("lab", Path(kubeconfig).read_bytes())))


def committed(capture: Any, act: Callable[[], object]) -> None:
    with capture(execute=True):
        act()


def test_it_goes_with_its_cluster_also_by_the_command(
    lab: Cluster, run: Run, django_capture_on_commit_callbacks: Any
) -> None:
    committed(django_capture_on_commit_callbacks, lambda: run("cluster", "remove", "lab"))
    assert not Path(lab.kubeconfig).exists()


def test_it_goes_where_the_command_names_another_file(
    lab: Cluster, run: Run, kubeconfig: str, django_capture_on_commit_callbacks: Any
) -> None:
    again = lambda: run("cluster", "add", "lab", "--kubeconfig", kubeconfig)  # noqa: E731
    committed(django_capture_on_commit_callbacks, again)
    assert not Path(lab.kubeconfig).exists()
    assert Path(kubeconfig).exists()
    committed(django_capture_on_commit_callbacks, again)
    assert Path(kubeconfig).exists()


def test_it_stays_while_another_cluster_uses_it(
    lab: Cluster, run: Run, api_server: Server, django_capture_on_commit_callbacks: Any
) -> None:
    run("cluster", "add", "other", "--kubeconfig", lab.kubeconfig)
    committed(django_capture_on_commit_callbacks, lambda: run("cluster", "remove", "lab"))
    assert Path(lab.kubeconfig).exists()
    committed(django_capture_on_commit_callbacks, lambda: run("cluster", "remove", "other"))
    assert not Path(lab.kubeconfig).exists()
