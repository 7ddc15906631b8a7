"""Conditions of claims: judged where they can be, and never wrongly."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.dra.selectors import Device, matches

GIB = 2**30
H100 = Device(
    "gpu.nvidia.com",
    {"productName": "NVIDIA H100 80GB HBM3", "uuid": "GPU-1", "index": 3, "driverVersion": "570.148.8", "mig": False},
    {"memory": 80 * GIB},
)
_MEMORY = "device.capacity['gpu.nvidia.com'].memory"
_NAME = 'device.attributes["gpu.nvidia.com"].productName'


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        (f"{_MEMORY}.compareTo(quantity('90Gi')) >= 0", False),
        (f"{_MEMORY}.compareTo(quantity('80Gi')) >= 0", True),
        (f"{_MEMORY}.compareTo(quantity('80Gi')) == 0", True),
        (f"{_MEMORY}.isGreaterThan(quantity('40Gi'))", True),
        (f"{_MEMORY}.isLessThan(quantity('40Gi'))", False),
        (f"{_MEMORY} == quantity('80Gi')", True),
        (f"{_NAME} == 'NVIDIA H100 80GB HBM3'", True),
        (f"{_NAME} != 'NVIDIA H100 80GB HBM3'", False),
        (f"{_NAME}.lowerAscii().contains('h100')", True),
        (f"{_NAME}.startsWith('Tesla')", False),
        (f"{_NAME}.endsWith('HBM3') && {_MEMORY}.isGreaterThan(quantity('90Gi'))", False),
        (f"{_NAME} in ['Tesla T4', 'NVIDIA H100 80GB HBM3']", True),
        (f"{_NAME} in ['Tesla T4']", False),
        ("device.driver == 'gpu.nvidia.com'", True),
        ("device.driver == 'gpu.amd.com' || device.attributes['gpu.nvidia.com'].index > 2", True),
        ("!(device.driver == 'gpu.amd.com')", True),
        ("device.attributes['gpu.nvidia.com'].driverVersion.compareTo(semver('570.0.0')) >= 0", True),
        ("device.attributes['gpu.nvidia.com'].driverVersion.isLessThan(semver('560.0.0'))", False),
        ("!device.attributes['gpu.nvidia.com'].mig", True),
        ("device.attributes['gpu.nvidia.com'].index == 3", True),
        ("true", True),
        # What settles it settles it, whatever else is not known.
        (f"device.attributes['x'].colour == 'red' && {_NAME} == 'T4'", False),
        (f"device.attributes['x'].colour == 'red' || {_NAME}.contains('H100')", True),
    ],
)
def test_what_is_known_is_judged(expression: str, answer: bool) -> None:
    assert matches(expression, H100) is answer


@pytest.mark.parametrize(
    "expression",
    [
        "device.attributes['x'].colour == 'red'",
        f"device.attributes['x'].colour == 'red' && {_NAME}.contains('H100')",
        f"device.attributes['x'].colour == 'red' || {_NAME} == 'T4'",
        "!(device.attributes['x'].colour == 'red')",
        "device.capacity['x'].cores.compareTo(quantity('1')) >= 0",
        f"{_MEMORY}.compareTo(quantity('much')) >= 0",
        f"{_MEMORY} >= 80",
        f"{_NAME} == 80",
        f"{_NAME}.matches('^.*H100.*$')",
        "device.attributes['gpu.nvidia.com'].driverVersion.compareTo(semver('570')) >= 0",
        "has(device.attributes['x'].colour)",
        "device.attributes['a', 'b'].x == 'y'",
        "device.allowMultipleAllocations",
        "device.attributes['other.example.com'].index == 3",
        "device.attributes[index].index == 3",
        f"{_MEMORY}.compareTo(quantity('80Gi'))",
        f"{_NAME} == 'a\\'b'",
        f"{_NAME} == 'H100…",
        f"({_NAME} == 'T4'",
        f"{_NAME} == 'T4')",
        "device",
        "device.",
        "[].all(x, true)",
        "1 + 1 == 2",
        "",
        "(" * 500,
        "!" * 1900,
        "x" * 5000,
    ],
)
def test_what_cannot_be_judged_has_no_answer(expression: str) -> None:
    assert matches(expression, H100) is None


_PARTS = [_MEMORY, _NAME, "&&", "||", "!", "(", ")", "==", "'T4'", ".", "in", "[", "]", "quantity('1Gi')", "1", ","]


@given(st.text(max_size=60) | st.lists(st.sampled_from(_PARTS), max_size=20).map(" ".join))
def test_no_text_raises(text: str) -> None:
    assert matches(text, H100) in (True, False, None)


def test_hostile_texts_cost_nothing() -> None:
    began = time.thread_time()
    for text in ("'" + "\\" * 1999, "((((" * 480, "!" * 1999, "a." * 999, "1" * 1999, " " * 1999, "[1," * 600):
        assert matches(text, H100) is None
    assert time.thread_time() - began < 0.5
