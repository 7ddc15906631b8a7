"""Credential plugins as real scripts, and the user of a kubeconfig that names one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

V1 = "client.authentication.k8s.io/v1"


def plugin(folder: Path, text: str) -> str:
    """An exec plugin: a script that this interpreter runs. Each run adds a byte to `runs` in the folder. Returns its path."""
    file = folder / "plugin.py"
    new = folder / "plugin.new"
    count = f"open({str(folder / 'runs')!r}, 'a').write('x')"
    new.write_text(f"#!{sys.executable} -IS\nimport json, os, sys, time\n{count}\n{text}\n")
    new.chmod(0o755)
    new.rename(file)  # a script that is open for writing cannot be run
    return str(file)


def runs(folder: Path) -> int:
    """How often the plugin of this folder was run."""
    file = folder / "runs"
    return file.stat().st_size if file.exists() else 0


def exec_user(command: str, **section: Any) -> dict[str, object]:
    return {"exec": {"apiVersion": V1, "command": command, "interactiveMode": "Never", **section}}


def credential(**status: str) -> str:
    body = {"apiVersion": V1, "kind": "ExecCredential", "status": status}
    return f"print(json.dumps({body!r}))"
