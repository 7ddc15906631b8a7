"""Prometheus' own tool, as a check of what we export and ship."""

from __future__ import annotations

import shutil
import subprocess

from tests import services
from tests.services import Missing


def promtool(*words: str, given: str | None = None) -> str:
    """What it prints. given: its standard input. It must succeed; without it the test is skipped, but not in CI."""
    if shutil.which("promtool") is None:
        services.or_skip(Missing("no promtool here; Debian: apt-get install prometheus"))
    done = subprocess.run(["promtool", *words], input=given, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
