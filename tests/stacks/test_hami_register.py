"""HAMi's register of cards: how often it is read."""

from __future__ import annotations

from stacks.engine.node_report import node_report
from stacks.hami.records import register
from tests.stacks.golden_case import load


def test_a_report_reads_each_register_of_its_node_once() -> None:
    case = load("hami-kunlun-and-nvidia")
    register.cache_clear()
    node_report(case.node, case.pods, case.context)
    texts = [name for name in case.node.metadata.annotations or {} if "register" in name]
    assert 0 < register.cache_info().misses <= len(texts)
