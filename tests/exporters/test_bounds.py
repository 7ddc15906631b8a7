"""Memory is of cards, not of samples; what is hostile is bounded."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable

import pytest

from exporters import FORMATS, Context, Sample
from tests.exporters.build import NOW

KNOWN = Context(now=NOW, nodes=frozenset(("n1",)))
DCGM = next(format for format in FORMATS if format.name == "dcgm-exporter")


def peak(samples: Iterable[Sample]) -> int:
    """Bytes that reading took at most, beyond what was there before."""
    tracemalloc.start()
    try:
        reader = DCGM.reader(KNOWN)
        reader.add(samples)
        reader.report()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def of_fifty_cards(number: int) -> Iterable[Sample]:
    for turn in range(number):
        labels = {"UUID": f"GPU-{turn % 50}", "node": "n1"}
        yield Sample("DCGM_FI_DEV_FB_USED", labels, 5.0, NOW - 50 + turn / number)


def hostile(number: int) -> Iterable[Sample]:
    """Rows of one card, each with another pod, link, code, reason and watch."""
    names = (
        "DCGM_FI_DEV_FB_USED",
        "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
        "DCGM_EXP_XID_ERRORS_COUNT",
        "DCGM_EXP_CLOCK_EVENTS_COUNT",
        "DCGM_EXP_GPU_HEALTH_STATUS",
    )
    for name in names:
        for turn in range(number):
            labels = {
                "UUID": "GPU-1",
                "namespace": "ml",
                "pod": f"p{turn}",
                "container": "x" * 200,
                "nvlink": str(turn),
                "xid": str(turn % 9000),
                "clock_event": f"e{turn}",
                "health_watch": f"w{turn}",
            }
            yield Sample(name, labels, 1.0, NOW)


def test_ten_times_the_rows_of_the_same_cards_take_no_more() -> None:
    few, many = peak(of_fifty_cards(500)), peak(of_fifty_cards(5_000))
    assert many < 1.5 * few


@pytest.mark.sweep
def test_entries_of_one_card_are_bounded() -> None:
    """What is left beyond them is the memo of pods, some 500 bytes for each, which is bounded as well."""
    few, many = peak(hostile(5_000)), peak(hostile(10_000))
    assert many - few < 5_000 * 500
    assert many < 6 << 20
