"""nvidia_gpu_exporter as its authors build it: from its Go module at one version, kept between runs, beside a recorded nvidia-smi."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import go_program
from tests.services import end, free_port, scratch, wait_until

MODULE = "github.com/utkuozdemir/nvidia_gpu_exporter"
#: It wants Go 1.26.5 or later, which no Debian has yet.
VERSION = "v1.14.0"
#: Names a program that is built already, where the module cannot be had.
SETTING = "NVIDIA_GPU_EXPORTER"
RECORDED = Path(__file__).parent / "exporters"


def program() -> Path:
    """The built program. Raises Missing, and Withheld where it cannot be built."""
    return go_program.program(f"{MODULE}/cmd/nvidia_gpu_exporter", VERSION, SETTING)


@contextmanager
def exporter(recording: str) -> Iterator[str]:
    """The address of its page, of what nvidia-smi said in a recording. Raises Missing."""
    found, port = program(), free_port()
    command = [
        str(found),
        f"--web.listen-address=127.0.0.1:{port}",
        f"--nvidia-smi-command={sys.executable} {RECORDED / 'smi.py'}",
    ]
    with scratch("nvidia-gpu-exporter") as folder, (folder / "log").open("wb") as log:
        environment = {**os.environ, "RECORDING": str(RECORDED / "recorded" / recording)}
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}/metrics"
            wait_until(lambda: _answers(url), "nvidia_gpu_exporter answers", 30)
            yield url
        finally:
            end(process)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
