"""A new installation has an audit log that holds, by its migrations alone: no fixture of tests has a part in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.processes import Processes


@pytest.mark.sweep  # five processes of its own
def test_the_audit_log_of_a_new_installation_holds(tmp_path: Path) -> None:
    processes = Processes(tmp_path, f"sqlite:///{tmp_path / 'new.sqlite3'}")
    processes.call("migrate", "--verbosity", "0")
    assert processes.call("audit", "verify").startswith("0 entries, intact.")
    processes.call_with_input(
        "a-long-password-of-ada\n", "user", "create", "ada", "--role", "admin", "--password-stdin"
    )
    count, _, said = processes.call("audit", "verify").partition(" ")
    assert int(count) > 0
    assert said.startswith("entries, intact.")
