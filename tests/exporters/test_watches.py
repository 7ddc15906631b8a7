"""Health watches of exporters: a value that no table has is kept as it came, and a number that stands for "not read" is not."""

from __future__ import annotations

import pytest

from exporters import FORMATS, Context, Sample
from tests.exporters.build import NOW

DCGM = {"UUID": "GPU-1", "gpu": "0", "Hostname": "n1"}
AMD = {"serial_number": "69", "gpu_id": "0", "hostname": "n1"}
ASCEND = {"vdie_id": "A-1", "id": "0", "node": "n1"}


def watches(exporter: str, *rows: tuple[str, dict[str, str], float]) -> list[tuple[str, str, str]]:
    (format,) = (one for one in FORMATS if one.name == exporter)
    samples = [Sample(name, labels, value, NOW) for name, labels, value in rows]
    (card,) = format.read(samples, Context(now=NOW, nodes=frozenset(("n1",)))).readings
    return [(one.name, one.state, one.code) for one in card.watches]


def health(watch: str, value: float, code: str = "") -> tuple[str, dict[str, str], float]:
    return "DCGM_EXP_GPU_HEALTH_STATUS", {**DCGM, "health_watch": watch, "health_error_code": code}, value


@pytest.mark.parametrize(
    ("exporter", "row", "expected"),
    [
        ("dcgm-exporter", health("MEM", 15, "DCGM_FR_NEW"), ("MEM", "not-told", "15")),
        ("dcgm-exporter", health("MEM", 10.5), ("MEM", "not-told", "10.5")),
        ("dcgm-exporter", ("DCGM_FI_DEV_FABRIC_HEALTH_SUMMARY", DCGM, 4), ("FABRIC", "not-told", "4")),
        ("amd-exporter", ("gpu_health", AMD, 2), ("GPU", "not-told", "2")),
        ("ascend-npu-exporter", ("npu_chip_info_health_status", ASCEND, 3), ("NPU", "not-told", "3")),
        ("ascend-npu-exporter", ("npu_chip_info_health_status", ASCEND, -1), ("NPU", "not-told", "")),
        ("ascend-npu-exporter", ("npu_chip_info_network_status", ASCEND, 4294967295), ("NETWORK", "not-told", "")),
    ],
)
def test_a_value_that_no_table_has_is_kept_as_it_came(
    exporter: str, row: tuple[str, dict[str, str], float], expected: tuple[str, str, str]
) -> None:
    assert watches(exporter, row) == [expected]


def test_a_pass_of_the_same_moment_does_not_hide_it_and_a_failure_does() -> None:
    unknown, passed, failed = health("MEM", 15), health("MEM", 0), health("MEM", 20, "DCGM_FR_X")
    for rows in ((unknown, passed), (passed, unknown)):
        assert watches("dcgm-exporter", *rows) == [("MEM", "not-told", "15")]
    for rows in ((unknown, failed), (failed, unknown)):
        assert watches("dcgm-exporter", *rows) == [("MEM", "fail", "DCGM_FR_X")]
