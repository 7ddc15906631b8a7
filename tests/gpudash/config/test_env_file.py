"""The settings of an installation reach the commands that its administrator types; who may not read them is told so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpudash.config import env_file
from gpudash.config.env import BadSetting
from tests.processes import ROOT

SECRET = "s3cr3t-v4lue"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test loads is gone after it."""
    for name in [name for name in os.environ if name.startswith("GPUDASH_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(os, "environ", dict(os.environ))


def written(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that stands where an installation's does."""
    path = tmp_path / "gpudash.env"
    path.write_text(text)
    monkeypatch.setattr(env_file, "DEFAULT", str(path))
    return path


def test_every_form_that_systemd_and_a_shell_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# a comment\n; another\n\nGPUDASH_A=plain\nGPUDASH_B=\"with 'single' and #\"\nGPUDASH_C='a\\b\"c$d'\n"
    written(tmp_path, text + "GPUDASH_D=\nGPUDASH_E=a=b/c#d@e\nGPUDASH_F=two words\n", monkeypatch)
    env_file.load("GPUDASH_ENV_FILE")
    found = [os.environ[f"GPUDASH_{name}"] for name in "ABCDEF"]
    assert found == ["plain", "with 'single' and #", 'a\\b"c$d', "", "a=b/c#d@e", "two words"]


def test_what_the_environment_says_already_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "GPUDASH_A=file\nGPUDASH_B=file\n", monkeypatch)
    os.environ["GPUDASH_A"] = "own"
    env_file.load("GPUDASH_ENV_FILE")
    assert (os.environ["GPUDASH_A"], os.environ["GPUDASH_B"]) == ("own", "file")


def test_who_has_chosen_an_environment_does_not_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "GPUDASH_A=file\n", monkeypatch)
    os.environ["GPUDASH_ENV"] = "local"
    env_file.load("GPUDASH_ENV_FILE")
    assert "GPUDASH_A" not in os.environ
    os.environ["GPUDASH_ENV_FILE"] = str(path)
    env_file.load("GPUDASH_ENV_FILE")
    assert os.environ["GPUDASH_A"] == "file"


def test_an_empty_setting_turns_it_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "GPUDASH_A=file\n", monkeypatch)
    os.environ["GPUDASH_ENV_FILE"] = ""
    env_file.load("GPUDASH_ENV_FILE")
    assert "GPUDASH_A" not in os.environ


@pytest.mark.parametrize(
    "line", [f"export A={SECRET}", f"A={SECRET}'", f'A="{SECRET}" x', f"A=a\\{SECRET}", f'"A"={SECRET}', SECRET]
)
def test_a_line_that_could_be_read_in_two_ways_is_refused(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, f"GPUDASH_A=1\n{line}\n", monkeypatch)
    with pytest.raises(BadSetting) as caught:
        env_file.load("GPUDASH_ENV_FILE")
    assert f"GPUDASH_ENV_FILE: {path}, line 2: must be NAME=value" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_command_of_a_user_who_may_not_read_it_stops_instead_of_using_another_database(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    folder = tmp_path / "etc"
    folder.mkdir(mode=0o700)
    (folder / "gpudash.env").write_text("GPUDASH_ENV=production\n")
    code = (
        f"import os; from gpudash.config import env_file; os.setgid(65534); os.setuid(65534); "
        f"env_file.DEFAULT = {str(folder / 'gpudash.env')!r}; env_file.load('GPUDASH_ENV_FILE')"
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GPUDASH_")}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=clean, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Run the command as the user of the installation" in done.stderr
