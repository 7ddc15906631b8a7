"""Generated examples are the same on every run, and nothing of them is kept beside the code."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "gpudash-hypothesis")
settings.register_profile("suites", derandomize=True, database=None, deadline=None)
settings.load_profile("suites")
