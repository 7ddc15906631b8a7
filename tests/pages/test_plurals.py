"""Amounts of one: no "1 units", no "1 nodes"."""

from __future__ import annotations

import pytest
from django.utils import translation

from inventory.models import Allocation
from inventory.queries.totals import Known, Totals
from pages.charts.bars import amount_of
from pages.charts.cardmap import _pool_words
from tests.factories import GIB


@pytest.mark.parametrize(("quantity", "english", "chinese"), [(1, "1 unit", "1 单位"), (3, "3 units", "3 单位")])
def test_units_of_a_resource(quantity: int, english: str, chinese: str) -> None:
    held = Allocation(quantity=quantity, mode="memory")
    assert amount_of(held) == english
    with translation.override("zh-hans"):
        assert amount_of(held) == chinese


@pytest.mark.parametrize(("unknown", "words"), [(0, ""), (1, ", unknown on 1 node"), (2, ", unknown on 2 nodes")])
def test_nodes_of_a_pool_that_do_not_know(unknown: int, words: str) -> None:
    held, free = Known(2 * GIB, unknown), Known(6 * GIB, unknown)
    pool = Totals(memory_metered=Known(8 * GIB, 0), memory_allocated=held, memory_free=free)
    assert _pool_words(pool) == f"6 GiB free of 8 GiB{words}"
