"""tools/setup.sh installs the uv of tools/uv.txt, the one place of its version, and no file whose hash is not there."""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from pathlib import Path

from tests.processes import ROOT

PINNED = ROOT / "tools" / "uv.txt"


def test_one_version_with_hashes_stands_in_one_place() -> None:
    text = PINNED.read_text(encoding="utf-8")
    assert len(re.findall(r"^[^#\s-].*$", text, re.MULTILINE)) == 1
    assert re.search(r"^uv==[0-9.]+ \\$", text, re.MULTILINE)
    # Wheels of Linux alone are eight: three with musl, and the older ARM and x86 among them.
    assert len(set(re.findall(r"--hash=sha256:[0-9a-f]{64}", text))) >= 8
    for other in (ROOT / "Makefile", ROOT / "tools" / "setup.sh"):
        assert not re.search(r"\buv\b.*\d+\.\d+\.\d+", other.read_text(encoding="utf-8"), re.IGNORECASE)


def test_another_file_of_that_version_is_refused(tmp_path: Path) -> None:
    """The script itself, in a folder of its own, where the package index serves a wheel that somebody else made."""
    (tmp_path / "tools").mkdir()
    for name in ("setup.sh", "uv.txt"):
        (tmp_path / "tools" / name).write_text((ROOT / "tools" / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "tools" / "setup.sh").chmod(0o755)
    (version,) = re.findall(r"^uv==([0-9.]+)", PINNED.read_text(encoding="utf-8"), re.MULTILINE)
    forged(tmp_path / "index", version)
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "index"),
        "PIP_CONFIG_FILE": os.devnull,
    }
    # As it was started when the Makefile had the version.
    done = subprocess.run(
        ["bash", "tools/setup.sh", version], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / ".tools" / "bin" / "uv").exists()


def forged(folder: Path, version: str) -> None:
    """A wheel of uv, as pip takes it, with a program of its own."""
    folder.mkdir()
    info = f"uv-{version}.dist-info"
    with zipfile.ZipFile(folder / f"uv-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"uv-{version}.data/scripts/uv", "#!/bin/sh\ntouch ran\nexit 9\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: uv\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
