"""Where numbers are known from, in Chinese: of every recorded case, and of what never was."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.utils import translation

from pages.words.sources import source_in_words
from stacks.engine.node_report import node_report
from tests.stacks import golden_case

#: Names begin and end so; a name of one word stands where a name belongs, and is taken out by `put`.
_WORD = re.compile(r"[A-Za-z][A-Za-z-]+")


def sources_of_cases() -> Iterator[str]:
    for name in golden_case.names():
        report = node_report(*golden_case.load(name))
        yield report.unit_source
        for one in report.cards:
            yield from (one.card.memory_source, one.card.model_source)


def test_every_recorded_source_is_worded_but_for_its_names() -> None:
    found = {source for source in sources_of_cases() if source}
    assert len(found) > 50
    with translation.override("zh-hans"):
        shown = {source: source_in_words(source, lambda name: "§" if _is_a_name(name) else name) for source in found}
    left = {source: words for source, text in shown.items() if (words := set(_WORD.findall(text)) - _KNOWN)}
    assert left == {}


_KNOWN = {"MIG", "profile", "vGPU", "Device", "DaemonSet", "MiB", "GiB"}


def _is_a_name(text: str) -> bool:
    """Of a resource, label or option: without blanks; of a card or ConfigMap: with capitals, digits or signs in each word."""
    return " " not in text or all(re.search(r"[A-Z0-9/.-]", word) for word in text.split())


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("label nvidia.com/gpu.memory", "标签 nvidia.com/gpu.memory"),
        (
            "node total ÷ cards; unit by annotation gpudash.io/memory-unit",
            "节点总量 ÷ 卡；单位来自 注解 gpudash.io/memory-unit",
        ),
        ("something new", "something new"),
        ("label <b>%s</b>", "标签 <b>%s</b>"),
        ("", ""),
    ],
)
def test_a_source_in_chinese_and_in_english(source: str, shown: str) -> None:
    assert source_in_words(source) == source
    with translation.override("zh-hans"):
        assert source_in_words(source) == shown
