"""The page of a real nvidia_gpu_exporter, built from its module, over a recorded nvidia-smi: what its format must read there."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from exporters import Context, Report, page_names, read_page, recognise
from tests.go_program import Withheld
from tests.services import Missing, or_skip
from tests.smi_exporter import SETTING, exporter, program

pytestmark = [pytest.mark.sweep, pytest.mark.timeout(600)]
MIB = 1 << 20
FIRST, SECOND = "5d1c3b7e-0a44-4c1e-9f0b-6b1f0a9d2c01", "5d1c3b7e-0a44-4c1e-9f0b-6b1f0a9d2c02"


@pytest.fixture(scope="module")
def page() -> Iterator[bytes]:
    try:
        with exporter("nvidia-smi.json") as url, urllib.request.urlopen(url, timeout=20) as answer:
            yield answer.read()
    except Withheld as withheld:
        # A proxy of modules that does not serve it is no fault of this project: not in CI either.
        pytest.skip(str(withheld))
    except Missing as missing:
        or_skip(missing)


@pytest.fixture(scope="module")
def report(page: bytes) -> Report:
    names = page_names(page)
    (found,) = recognise(names, page=True)
    assert (found.format.name, found.sure) == ("nvidia-gpu-exporter", True)
    reader = found.reader(Context(now=1_780_000_000.0, node="gpu-1"))
    reader.add(read_page(page, found.names(names), reader.told, sets=reader.sets))
    return reader.report()


def test_each_field_is_read_in_its_unit(report: Report) -> None:
    values = {one.uuid: {name: value.value for name, value in one.values.items()} for one in report.readings}
    assert values[FIRST] == {
        "memory_total": 81559 * MIB,
        "memory_reserved": 569 * MIB,
        "memory_used": 58500 * MIB,
        "memory_free": 22490 * MIB,
        "utilization": 0.97,
        "temperature": 64,
        "memory_temperature": 71,
        "power": 433.78,
        "power_limit": 700,
        "sm_clock": 1980e6,
        "memory_clock": 2619e6,
        "ecc_corrected_volatile": 3,
        "ecc_uncorrected_volatile": 0,
        "row_remap_pending": 0,
    }
    # What the tool does not know has no row: it is not 0.
    assert "memory_temperature" not in values[SECOND]
    assert "ecc_uncorrected_volatile" not in values[SECOND]
    assert values[SECOND]["memory_used"] == 4 * MIB
    assert values[SECOND]["row_remap_pending"] == 1


def test_cards_are_named_by_uuid_slot_and_model(report: Report) -> None:
    named = [(one.node, one.uuid, one.index, one.pci_bus_id, one.model, one.holders) for one in report.readings]
    assert sorted(named) == [
        ("gpu-1", FIRST, 0, "0000:1a:00.0", "NVIDIA H100 80GB HBM3", ()),
        ("gpu-1", SECOND, 1, "0000:2a:00.0", "NVIDIA H100 80GB HBM3", ()),
    ]


def test_why_clocks_are_lowered_is_read(report: Report) -> None:
    active = {one.uuid: {item.reason for item in one.throttles if item.active} for one in report.readings}
    assert active == {FIRST: {"power_cap"}, SECOND: {"gpu_idle"}}


def test_nothing_of_the_page_is_doubted(report: Report) -> None:
    assert (report.unknown, report.problems) == (0, ())


def test_a_tool_that_fails_is_told_and_not_measured(tmp_path: Path) -> None:
    try:
        with exporter("no-such-recording.json") as url, urllib.request.urlopen(url, timeout=20) as answer:
            body = answer.read()
    except Withheld as withheld:
        pytest.skip(str(withheld))
    except Missing as missing:
        or_skip(missing)
    assert b"nvidia_smi_last_collect_success 0" in body
    names = page_names(body)
    (found,) = recognise(names, "nvidia-gpu-exporter", page=True)
    reader = found.reader(Context(now=1_780_000_000.0, node="gpu-1"))
    reader.add(read_page(body, found.names(names), reader.told, sets=reader.sets))
    assert reader.report().readings == ()


def test_a_program_that_is_named_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SETTING, str(tmp_path / "built"))
    assert program() == tmp_path / "built"


def test_without_go_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(Missing, match="no Go here"):
        program()
