"""The GPU resource of Kubernetes before 1.8, which old nodes still offer: the last to be asked for."""

from __future__ import annotations

from validations.suites.engine.family import Family

FAMILIES = (
    Family(name="nvidia-alpha", os="linux", apis=("cuda",), rank=6, resources=("alpha.kubernetes.io/nvidia-gpu",)),
)
