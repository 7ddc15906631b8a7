"""The settings module, as a test sets the environment."""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.gpudash.variables import Load
from tests.processes import ROOT


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """The settings module as it would be with these variables (GPUDASH_ left away), in a data folder of its own."""

    def run(**variables: str) -> dict[str, Any]:
        for name in [name for name in os.environ if name.startswith("GPUDASH_")]:
            monkeypatch.delenv(name)
        for name, value in (
            {"DATA_DIR": str(tmp_path / "data"), "STATIC_ROOT": str(tmp_path / "static")} | variables
        ).items():
            monkeypatch.setenv(f"GPUDASH_{name}", value)
        return runpy.run_path(str(ROOT / "gpudash" / "settings.py"))

    return run
