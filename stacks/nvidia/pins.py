"""Which release of each component a release of the GPU Operator brings: the versions in its chart.

Source: NVIDIA/gpu-operator deployments/gpu-operator/values.yaml at each tag. A release that is not listed has no pin: then nothing is
called outdated.
"""

from __future__ import annotations

_COLUMNS = ("driver", "container-toolkit", "device-plugin", "gpu-feature-discovery", "dcgm-exporter", "mig-manager")
_TABLE = """
1.11.1  515.48.07   1.10.0  0.12.2  0.6.1   2.4.5-2.6.7  0.4.2
22.9.2  525.60.13   1.11.0  0.13.0  0.7.0   3.1.3-3.1.2  0.5.0
23.3.2  525.105.17  1.13.0  0.14.0  0.8.0   3.1.7-3.1.4  0.5.2
23.6.1  535.104.05  1.13.4  0.14.1  0.8.1   3.1.8-3.1.5  0.5.3
23.9.2  550.54.14   1.14.6  0.14.5  0.8.2   3.3.0-3.2.0  0.6.0
24.3.0  550.54.15   1.15.0  0.15.0  0.15.0  3.3.5-3.4.1  0.7.0
24.6.2  550.90.07   1.16.2  0.16.2  0.16.2  3.3.7-3.5.0  0.8.0
24.9.2  550.144.03  1.17.4  0.17.0  0.17.0  3.3.9-3.6.1  0.10.0
25.3.4  580.82.07   1.17.8  0.17.4  0.17.4  4.3.1-4.4.0  0.12.3
25.10.1 580.105.08  1.18.1  0.18.1  0.18.1  4.4.2-4.7.0  0.13.1
26.3.3  580.126.20  1.19.1  0.19.3  0.19.3  4.5.3-4.8.2  0.14.2
26.7.0  595.91.07   1.20.0  0.20.0  0.20.0  4.6.0-4.8.3  0.15.0
"""
_PINS = {row.split()[0]: dict(zip(_COLUMNS, row.split()[1:], strict=True)) for row in _TABLE.strip().splitlines()}


def of(component: str, release: str) -> str:
    """The version that this release of the operator brings; "" where it is not known, or it brings none."""
    return _PINS.get(release, {}).get(component, "")
