"""The suites that were promised are there, by ids that stay; registering them needs neither Django nor a client."""

from __future__ import annotations

import subprocess
import sys

from validations.suites import find, registry

IDS = [
    "cuda-vectoradd", "winml-tinyyolov2", "directx-device-discovery", "directx-directml", "directx-opencl-enum",
    "directx-vulkaninfo", "directx-ffmpeg", "cuda-devicequery", "cuda-montecarlo", "cuda-nbody", "nvidia-smi", "dcgm-diag",
    "nccl-allreduce",
]  # fmt: skip


def test_all_promised_suites_are_there_in_order() -> None:
    assert list(registry()) == sorted(registry())
    assert set(IDS) <= set(registry())
    assert find("cuda-vectoradd") is registry()["cuda-vectoradd"]
    assert find("no-such") is None


def test_the_suites_import_neither_django_nor_a_client() -> None:
    code = (
        "import sys; from validations.suites import registry; registry();"
        "print([m for m in sys.modules if m.split('.')[0] in ('django', 'kubernetes', 'celery', 'requests', 'socket')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
