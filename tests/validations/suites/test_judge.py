"""Exit codes, reasons and texts become one verdict: what says no weighs more than what could not be asked."""

from __future__ import annotations

import pytest

from validations.suites.engine.adapters import is_software, vgpu
from validations.suites.engine.base import Outcome, Reading
from validations.suites.engine.exits import describe
from validations.suites.engine.figures import count, duration, name, number
from validations.suites.engine.judge import MOST_REASONS, judge
from validations.suites.engine.log import Lines
from validations.suites.engine.verdict import Result

ONE_LINE = Lines(["it ran"], [1])


def _judge(reading: Reading, **outcome: object) -> Result:
    return judge("s", 1, ONE_LINE, reading, Outcome(**outcome))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (-2005270523, "-2005270523 = 0x887A0005 DXGI_ERROR_DEVICE_REMOVED (the device was removed)"),
        (3221225786, "3221225786 = 0xC000013A STATUS_CONTROL_C_EXIT (stopped by Ctrl-C or shutdown)"),
        (-1073741510, "-1073741510 = 0xC000013A STATUS_CONTROL_C_EXIT (stopped by Ctrl-C or shutdown)"),
        (-2147467259, "-2147467259 = 0x80004005"),
        (1, "1"),
    ],
)
def test_an_exit_code_of_windows_is_shown_as_hresult_with_its_name(code: int, text: str) -> None:
    assert describe(code) == text


@pytest.mark.parametrize(
    ("code", "verdict", "reason"),
    [
        (0, "passed", None),
        (1, "errored", "exit-code"),
        (126, "errored", "image"),
        (127, "errored", "image"),
        (137, "errored", "killed"),
        (139, "errored", "exit-code"),
        (143, "errored", "killed"),
        (-2005270524, "failed", "no-adapter"),
        (-2005270522, "failed", "device-removed"),
        (-2147023728, "failed", "no-adapter"),
        (-2147024809, "errored", "bad-arguments"),
        (-1073741515, "errored", "image"),
        (-1073741510, "errored", "killed"),
    ],
)
def test_an_exit_code_alone_overrules_the_proof(code: int, verdict: str, reason: str | None) -> None:
    result = _judge(Reading(proof=1), exit_code=code)
    assert result.verdict == verdict
    assert [one.code for one in result.reasons] == ([reason] if reason else [])


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("OOMKilled", "killed"),
        ("DeadlineExceeded", "timeout"),
        ("Evicted", "evicted"),
        ("StartError", "image"),
        ("Odd", "exit-code"),
    ],
)
def test_a_reason_of_kubernetes_is_never_a_pass(reason: str, code: str) -> None:
    result = _judge(Reading(proof=1), exit_code=0, reason=reason)
    assert (result.verdict, result.reasons[0].code) == ("errored", code)


def test_a_no_of_the_hardware_weighs_more_than_a_kill() -> None:
    reading = Reading()
    reading.failed("software-adapter", "WARP", 1)
    result = _judge(reading, reason="DeadlineExceeded")
    assert result.verdict == "failed"
    assert [one.code for one in result.reasons] == ["software-adapter", "timeout"]


def test_no_proof_is_never_a_pass() -> None:
    assert _judge(Reading(), exit_code=0).verdict == "errored"
    assert _judge(Reading(), text_alone=True).reasons[0].code == "no-verdict"


def test_a_proof_without_an_exit_code_passes_only_where_there_is_none_to_be_had() -> None:
    assert _judge(Reading(proof=1)).verdict == "errored"
    alone = _judge(Reading(proof=1), text_alone=True)
    assert alone.verdict == "passed"
    assert [one.code for one in alone.reasons] == ["exit-code-unknown"]


def test_a_warning_beside_a_proof_is_a_warning() -> None:
    reading = Reading(proof=1)
    reading.warning("cpu-fallback", "some", 1)
    assert _judge(reading, exit_code=0).verdict == "warning"


def test_reasons_that_are_not_listed_are_counted() -> None:
    reading = Reading()
    for line in range(MOST_REASONS + 5):
        reading.failed("x", "y", line)
    reasons = _judge(reading, exit_code=0).reasons
    assert len(reasons) == MOST_REASONS + 1
    assert reasons[-1].text.startswith("5 more")


@pytest.mark.parametrize(
    "adapter",
    [
        "Microsoft Basic Render Driver", "microsoft basic display adapter",
        "Microsoft Hyper-V Video", "Microsoft Remote Display Adapter",
        "llvmpipe (LLVM 15.0.7, 256 bits)", "SwiftShader Device (Subzero)", "Microsoft Bas",
    ],
)  # fmt: skip
def test_software_adapters_are_known_by_name(adapter: str) -> None:
    assert is_software(adapter)


@pytest.mark.parametrize(
    "adapter",
    ["NVIDIA GRID T4-8Q", "Tesla T4", "AMD Radeon Pro V520 MxGPU", "Intel(R) UHD Graphics 770", "Warpdrive 9"],
)
def test_hardware_is_not_taken_for_software(adapter: str) -> None:
    assert not is_software(adapter)


def test_a_vgpu_name_says_its_slice() -> None:
    assert vgpu("NVIDIA GRID T4-8Q") == ("T4-8Q", "T4", 8)
    assert vgpu("GRID V100D-32Q") == ("V100D-32Q", "V100D", 32)
    assert vgpu("NVIDIA A10-6Q") == ("A10-6Q", "A10", 6)
    assert vgpu("Tesla T4") is None
    assert vgpu("NVIDIA A10-6Q and more") is None


def test_only_finite_plain_numbers_are_numbers() -> None:
    assert [number(text) for text in ("1.23e+06", "-0.0117188", "3.94571e-05", ".5", "7.")] == [
        1.23e6,
        -0.0117188,
        3.94571e-05,
        0.5,
        7.0,
    ]
    for text in ("-nan(ind)", "nan", "inf", "-inf", "1e400", "", "0x10", "1_000", "١", "1 2", "9" * 5000):
        assert number(text) is None, text
    assert duration("0") is None
    assert duration("-1") is None
    assert count("9" * 17) is None
    assert count("12") == 12
    assert name("  a\x00\x1b[b" + "c" * 500).startswith("a[b")
    assert len(name("c" * 500)) == 200
