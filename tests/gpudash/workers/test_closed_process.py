"""A process of the same user does not look into a worker; what a message to a worker can say."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from gpudash.celery import app
from tests.processes import ROOT

#: Root may look into everything: then both processes are those of a user who has no more rights than any other.
NOBODY: dict[str, Any] = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
LOOK = "import os, sys; os.readlink(f'/proc/{sys.argv[1]}/root'); open(f'/proc/{sys.argv[1]}/environ', 'rb').read()"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


def looked_into(code: str) -> bool:
    """Whether another process of its user sees files and environment of a process that has run this code."""
    source = (ROOT / "gpudash" / "workers" / "closed_process.py").read_text(encoding="utf-8")
    program = f"{source}\n{code}\nprint('ready', flush=True)\nimport time; time.sleep(60)"
    # With `-I -c` and no file of the checkout: that user may not read it.
    worker = subprocess.Popen([python(), "-I", "-c", program], stdout=subprocess.PIPE, cwd="/", **NOBODY)
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"ready\n"
        look = subprocess.run(
            [python(), "-I", "-c", LOOK, str(worker.pid)],
            capture_output=True,
            cwd="/",
            timeout=30,
            check=False,
            **NOBODY,
        )
        assert look.returncode == 0 or b"PermissionError" in look.stderr, look.stderr
        return look.returncode == 0
    finally:
        worker.kill()
        worker.communicate()


def python() -> str:
    """An interpreter that any user may start."""
    system = Path("/usr/bin/python3")
    return str(system) if NOBODY and system.exists() else sys.executable


def test_another_process_of_the_user_looks_into_a_worker_only_when_it_is_not_closed() -> None:
    assert looked_into("")
    assert not looked_into("assert close_to_others()")


def test_messages_are_json_and_no_command_to_a_worker_is_taken() -> None:
    assert list(app.conf.accept_content) == ["json"]
    assert app.conf.task_serializer == "json"
    assert app.conf.worker_enable_remote_control is False


def test_a_message_can_name_a_task_and_an_id_and_nothing_else() -> None:
    app.loader.import_default_modules()
    ours = {name: task for name, task in app.tasks.items() if not name.startswith("celery.")}
    assert len(ours) > 15
    for name, task in ours.items():
        hints = get_type_hints(task.run)
        wanted = [parameter for parameter in inspect.signature(task.run).parameters if parameter != "self"]
        for parameter in wanted:
            assert hints[parameter] in (int, str), f"{name}({parameter})"
            assert parameter.endswith(("_id", "kind")), f"{name}({parameter})"
