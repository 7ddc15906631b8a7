"""The data folder and its files are their owner's alone: made so, and made so again where they are not."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from gpudash.config.data_folder import default_folder, keep_private
from tests.processes import Processes
from tests.services import wait_until


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def sqlite(file: Path) -> dict[str, Any]:
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(file)}


POSTGRES = {"ENGINE": "django.db.backends.postgresql", "NAME": "gpudash"}


@pytest.fixture
def loose() -> Any:
    """As on a machine that lets everybody read by default."""
    before = os.umask(0o000)
    yield
    os.umask(before)


@pytest.mark.sweep
@pytest.mark.usefixtures("loose")
def test_everything_is_private_from_the_first_moment(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    folder = tmp_path / "below" / "data"
    processes = Processes(tmp_path, "", GPUDASH_DATA_DIR=str(folder))
    try:
        processes.call("migrate", "--noinput")
        processes.manage("demo", "--port", "0", "--nodes", "1")
        wanted = ("secret-key", "*.sqlite3", "*-wal", "*-shm", "demo-kubeconfig")
        wait_until(lambda: all(any(folder.glob(name)) for name in wanted), "all files are there")
        modes = {path.name: mode(path) for path in folder.iterdir() if path.is_file()}
    finally:
        processes.stop()
    assert mode(folder) == 0o700
    assert set(modes.values()) == {0o600}
    assert "open to others" not in processes.tail()


@pytest.mark.usefixtures("loose")
def test_what_an_earlier_version_left_open_is_closed_with_a_warning(tmp_path: Path, caplog: Any) -> None:
    names = ("secret-key", "gpudash.sqlite3", "gpudash.sqlite3-wal", "celerybeat-schedule.dat", "demo-kubeconfig")
    for name in names:
        (tmp_path / name).write_text("x")
    elsewhere = tmp_path.with_name(tmp_path.name + "-other.db")
    elsewhere.write_text("x")
    tmp_path.chmod(0o755)
    with caplog.at_level(logging.WARNING):
        keep_private(tmp_path, sqlite(elsewhere))
    assert {mode(tmp_path / name) for name in names} | {mode(elsewhere)} == {0o600}
    assert mode(tmp_path) == 0o700
    assert all(f"{tmp_path / name} was readable by other users (-rw-rw-rw-)" in caplog.text for name in names)
    caplog.clear()
    keep_private(tmp_path, sqlite(elsewhere))
    assert caplog.text == ""


@pytest.mark.usefixtures("loose")
def test_files_of_others_static_files_and_links_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "staticfiles").mkdir(mode=0o755)
    target = tmp_path / "target"
    target.write_text("x")
    (tmp_path / "secret-key").symlink_to(target)
    keep_private(tmp_path, POSTGRES)
    assert mode(tmp_path / "staticfiles") == 0o755
    assert mode(target) == 0o666


@pytest.mark.parametrize("how", ["sticky", "something else in it"])
def test_a_folder_that_is_not_ours_is_only_warned_of(tmp_path: Path, caplog: Any, how: str) -> None:
    (tmp_path / ("secret-key" if how == "sticky" else "thesis.tex")).touch()
    tmp_path.chmod(0o1777 if how == "sticky" else 0o755)
    before = mode(tmp_path)
    keep_private(tmp_path, POSTGRES)
    assert mode(tmp_path) == before
    assert f"chmod 700 {tmp_path}" in caplog.text


def test_a_database_in_a_folder_that_is_missing_does_not_stop_the_start(tmp_path: Path) -> None:
    keep_private(tmp_path, sqlite(tmp_path / "no" / "such.sqlite3"))


def test_a_checkout_keeps_data_beside_its_code(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    assert default_folder(tmp_path) == tmp_path / "var"


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [
        ("", "~/.local/share/gpudash"),
        ("/srv/data", "/srv/data/gpudash"),
        ("relative", "~/.local/share/gpudash"),
    ],
)
def test_an_installed_wheel_keeps_data_in_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, wanted: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", chosen)
    assert default_folder(tmp_path) == Path(wanted)
