"""What the TensorWorks DirectX examples have in common: images, Windows build and options.

Source: the example Jobs of the TensorWorks device plugins, version 0.0.1 (later donated to Azure).
"""

from __future__ import annotations

from validations.suites.engine.base import Needs, Option, Values, Workload
from validations.suites.engine.options import common, image

#: Windows Server 2022; the plugins and their images run on no other build.
NEEDS = Needs(builds=("10.0.20348",))
#: A Windows container writes some GB of its own before its program does anything.
WINDOWS_DISK = "20Gi"
SERVER = "mcr.microsoft.com/windows/server:ltsc2022"
SERVER_CORE = "mcr.microsoft.com/windows/servercore:ltsc2022"


def example(name: str) -> str:
    """The image of a TensorWorks example."""
    return f"index.docker.io/tensorworks/example-{name}:0.0.1"


def options(default_image: str) -> tuple[Option, ...]:
    """Image and the common options. The images have several GB, so the deadline is long."""
    return (image(default_image), *common(deadline_s=7200, host_memory="1Gi"))


def workload(values: Values, command: tuple[str, ...] = (), args: tuple[str, ...] = ()) -> Workload:
    """The example as published."""
    return Workload(
        image=str(values["image"]),
        command=command,
        args=args,
        host_memory=str(values["host_memory"]),
        cpus=4,
        disk=WINDOWS_DISK,
    )
